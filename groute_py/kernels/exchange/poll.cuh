// Polling this rank's mailbox, by the leader block.
#pragma once

#include "exchange/leader_state.cuh"
#include "exchange/ll_ring.cuh"
#include "primitives/warp.cuh"

// Reads this rank's mailbox, two words a lane. The counters are acquired, so the data that they publish is visible.
struct MailboxCopy {
    static constexpr u32 counters = 4 * MAX_PEERS, words = sizeof(MailboxHeader) / 8;
    static_assert(counters == 32 && words <= 64, "two words a lane, the first of the counts");
    u64 counts, votes;

    __device__ __forceinline__ explicit MailboxCopy(const Peers& peers) {
        const u64* from = (const u64*)peers.mailbox[peers.me];
        votes = counters + lane() < words ? load_volatile(from + counters + lane()) : 0;
        counts = load_acquire_system(from + lane());
    }

    __device__ __forceinline__ void put(MailboxHeader* to) const {
        ((u64*)to)[lane()] = counts;
        if (counters + lane() < words) ((u64*)to)[counters + lane()] = votes;
    }
};

__device__ __forceinline__ void leader_poll(const Peers& peers, LeaderState& leader) {
    bool arrived = is_peer(peers, lane()) && has_arrived(peers, lane(), (u32)leader.ll_taken[lane()]);
    MailboxCopy(peers).put(&leader.mailbox);
    arrived = __any_sync(~0u, arrived);
    if (lane() == 0) {
        leader.ll_arrived = arrived;
        // before the first verdict
        if (leader.mailbox.vote == 0) leader.mailbox.vote = 1;
        if (leader.mailbox.limit == 0) leader.mailbox.limit = peers.limit;
    }
    __syncwarp();
}

// All threads of a block call it.
__device__ __forceinline__ void block_clear(Mailbox* mailbox) {
    for (u32 i = threadIdx.x; i < sizeof(Mailbox) / 8; i += blockDim.x) ((u64*)mailbox)[i] = 0;
}
