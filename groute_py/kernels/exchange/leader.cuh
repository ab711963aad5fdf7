// The work of the leader block during the grid barrier. One warp does it; lane p serves peer p.
// * While other blocks are still arriving it polls this rank's mailbox (`leader_poll`).
// * When all have arrived it decides about the next step (`leader_plan_step`).
// * After it has released them it publishes counters, a ballot, a verdict (`leader_publish`). No block waits for that.
//
// Each round trip to L2 or to a peer costs time here. So the state of the run stays in shared memory, all words are
// requested at once, and words to peers are written in no particular order: reading one before another does no harm.
// But a credit is given only after the step that has read the entries.
#pragma once

#include "exchange/pacing.cuh"
#include "exchange/termination.cuh"
#include "layout/control.cuh"
#include "primitives/copy.cuh"

#define SPLIT_AT_ONCE ARCS  // splitting this many far entries is as much work as relaxing one near entry

// Publishes the results of `leader_plan_step`.
__device__ __forceinline__ void leader_publish(const Peers& peers, LeaderState& leader, const LocalStatus& status) {
    u32 p = lane();
    leader_publish_counts(peers, leader);
    leader_publish_bound(peers, leader, status.bound);
    leader_vote(peers, leader, status.floor);
    if (peers.me == 0) leader_detect_termination(peers, leader, status);
    // a host sets the flag in its own rank's mailbox only
    if (leader.mailbox.stop && p < peers.count) RemoteMailbox(peers, p).put(&Mailbox::stop, 1u);
    __syncwarp();
}

// Loads the state that the launch before, or `grid_initialize`, has left.
__device__ __forceinline__ void leader_restore(const Control* control, LeaderState& leader) {
    Copy<StepPlan> plan(&control->plan);
    Copy<Exchange>(&control->exchange).put(&leader.own);
    plan.put(&leader.plan);
}

// Decides about the next step; loops until the rank has work, all ranks are quiet, or the run is stopped. The mailbox
// has been polled before.
__device__ __forceinline__ void leader_plan_step(const Peers& peers, Exchange& exchange, LeaderState& leader,
                                                 const StepCounts& counts, const LocalStatus& status) {
    Exchange& own = leader.own;
    StepPlan& plan = leader.plan;
    leader_account_step(peers, exchange, leader, counts, status.threshold);
    __syncwarp();
    if (own.epoch % 2) {
        leader_publish_counts(peers, leader);
        leader_publish_epoch(peers, own.epoch + 1);
        __syncwarp();  // all are written before one is waited for
        leader_await_heavy_steps(peers, leader);
        leader_poll(peers, leader);
    }
    while (true) {
        leader_update_cursors(peers, leader);
        const u64 found = warp_arrivals(peers, plan), arrived = (u32)found + (found >> 32);
        const u64 work = status.listed + arrived + leader.ll_arrived;
        bool beyond = status.floor == INFINITE || is_beyond(peers, status.floor, leader.mailbox.limit);
        bool idle = !work && !status.pending && beyond && !leader.mailbox.quiet && !leader.mailbox.stop;
        __syncwarp();
        if (lane() == 0) {
            plan.arrived = (u32)min(arrived, 1ull << 31);
            plan.ll_arrived = leader.ll_arrived;
            plan.sent = (u32)found;
            plan.limit = leader.mailbox.limit;
            plan.from = leader.mailbox.from;
            plan.bound = leader.mailbox.bound;
            plan.near = status.near;
            plan.quiet = leader.mailbox.quiet;
            plan.stopped = leader.mailbox.stop;
            bool splits = !status.listed && !status.pending && !beyond;
            // peers do not wait for grid-wide steps with fewer entries, although these may have many arcs
            bool heavy = work + (splits ? status.far / SPLIT_AT_ONCE : 0) > gridDim.x * LOCAL_ENTRIES;
            own.epoch = own.epoch / 2 * 2 + (heavy ? 3 : 2);
        }
        __syncwarp();
        if (!idle) break;
        leader_publish(peers, leader, status);
        leader_poll(peers, leader);
    }
    if (own.epoch % 2) leader_publish_epoch(peers, own.epoch);
    if (lane() == 0) leader.began = clock64();
}
