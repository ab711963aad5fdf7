// The work of the leader block during the grid barrier. One warp does it; lane p serves peer p.
// * While other blocks are still arriving it polls this rank's mailbox (`hear`).
// * When all have arrived it decides about the next step (`conduct`).
// * After it has released them it publishes counters, a ballot, a verdict (`report`). So no block waits until peers can
//   see these words.
//
// Each round trip to L2 or to a peer costs time here. So the state of the run stays in shared memory, all words are
// requested at once, and words to peers are written in no particular order: reading one before another does no harm.
#pragma once

#include "exchange/pacing.cuh"
#include "exchange/termination.cuh"
#include "layout/control.cuh"
#include "primitives/copy.cuh"

#define SPLIT_AT_ONCE ARCS  // splitting this many far entries is as much work as relaxing one near entry

// Publishes the results of `conduct`.
__device__ __forceinline__ void report(const Peers& peers, Desk& desk, const Prospect& prospect) {
    u32 p = lane();
    tell_counts(peers, desk);
    tell_bound(peers, desk, prospect.bound);
    take_part(peers, desk, prospect.floor);
    if (peers.me == 0) judge(peers, desk, prospect);
    // a host sets the flag in its own rank's mailbox only
    if (desk.heard.stop && p < peers.count) store_volatile(&peers.mailbox[p]->stop, 1u);
    __syncwarp();
}

// Loads the state that the launch before, or `begin`, has left.
__device__ __forceinline__ void take_over(const Control* control, Desk& desk) {
    Copy<Orders> orders(&control->orders);
    Copy<Exchange>(&control->exchange).put(&desk.own);
    orders.put(&desk.orders);
}

// Decides about the next step; loops until the rank has work, all ranks are quiet, or the run is stopped. The mailbox
// has been polled before.
__device__ __forceinline__ void conduct(const Peers& peers, Exchange& exchange, Desk& desk, const Written& written,
                                        const Prospect& prospect) {
    Exchange& own = desk.own;
    Orders& orders = desk.orders;
    settle(peers, exchange, desk, written, prospect.threshold);
    __syncwarp();
    if (own.pace % 2) {
        tell_counts(peers, desk);
        tell_pace(peers, own.pace + 1);
        __syncwarp();  // all are told before one is waited for
        await_pace(peers, desk);
        hear(peers, desk);
    }
    while (true) {
        see_counts(peers, desk);
        const u64 found = arrivals(peers, orders), arrived = (u32)found + (found >> 32);
        const u64 work = prospect.listed + arrived + desk.express_come;
        bool beyond = prospect.floor == INFINITE || waits(peers, prospect.floor, desk.heard.limit);
        bool idle = !work && !prospect.pending && beyond && !desk.heard.quiet && !desk.heard.stop;
        __syncwarp();
        if (lane() == 0) {
            orders.arrived = (u32)min(arrived, 1ull << 31);
            orders.express = desk.express_come;
            orders.sent = (u32)found;
            orders.limit = desk.heard.limit;
            orders.from = desk.heard.from;
            orders.bound = desk.heard.bound;
            orders.near = prospect.near;
            orders.quiet = desk.heard.quiet;
            orders.stopped = desk.heard.stop;
            bool splits = !prospect.listed && !prospect.pending && !beyond;
            // peers do not wait for thick steps with fewer entries, although these may have many arcs
            bool heavy = work + (splits ? prospect.far / SPLIT_AT_ONCE : 0) > gridDim.x * THIN;
            own.pace = own.pace / 2 * 2 + (heavy ? 3 : 2);
        }
        __syncwarp();
        if (!idle) break;
        report(peers, desk, prospect);
        hear(peers, desk);
    }
    if (own.pace % 2) tell_pace(peers, own.pace);
    if (lane() == 0) desk.began = clock64();
}
