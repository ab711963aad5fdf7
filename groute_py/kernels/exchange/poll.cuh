// Polling this rank's mailbox, by the leader block.
#pragma once

#include "exchange/leader_state.cuh"
#include "exchange/ll_ring.cuh"
#include "primitives/warp.cuh"

// Reads this rank's mailbox, two words a lane. The counters are acquired, so the data that they publish is visible.
struct Mail {
    static constexpr u32 told = 4 * MAX_PEERS, words = sizeof(Heard) / 8;
    static_assert(told == 32 && words <= 64, "two words a lane, the first of the counts");
    u64 counts, votes;

    __device__ __forceinline__ explicit Mail(const Peers& peers) {
        const u64* from = (const u64*)peers.mailbox[peers.me];
        votes = told + lane() < words ? load_volatile(from + told + lane()) : 0;
        counts = load_acquire_system(from + lane());
    }

    __device__ __forceinline__ void put(Heard* to) const {
        ((u64*)to)[lane()] = counts;
        if (told + lane() < words) ((u64*)to)[told + lane()] = votes;
    }
};

__device__ __forceinline__ void hear(const Peers& peers, Desk& desk) {
    bool come = is_peer(peers, lane()) && has_come(peers, lane(), (u32)desk.express_at[lane()]);
    Mail(peers).put(&desk.heard);
    come = __any_sync(~0u, come);
    if (lane() == 0) {
        desk.express_come = come;
        // before the first verdict
        if (desk.heard.vote == 0) desk.heard.vote = 1;
        if (desk.heard.limit == 0) desk.heard.limit = peers.limit;
    }
    __syncwarp();
}

// All threads of a block call it.
__device__ __forceinline__ void clear(Mailbox* mailbox) {
    for (u32 i = threadIdx.x; i < sizeof(Mailbox) / 8; i += blockDim.x) ((u64*)mailbox)[i] = 0;
}
