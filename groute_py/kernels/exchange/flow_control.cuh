// What has been written to each peer and taken from it, and how the peers learn of it: one warp of the leader block,
// lane p for peer p.
#pragma once

#include "exchange/poll.cuh"
#include "exchange/remote.cuh"

// Whether credits must be returned: 1 / CREDIT_SHARE of a ring has been taken since the last time.
__device__ __forceinline__ bool is_due(u64 taken, u64 published, u32 capacity) {
    u32 ll_new = ((u32)taken - (u32)published) & ((1u << CREDIT_BITS) - 1);
    return ll_new >= LL_WORDS / CREDIT_SHARE ||
           (taken >> CREDIT_BITS) - (published >> CREDIT_BITS) >= max(capacity / CREDIT_SHARE, 1u);
}

// Lane p: publishes to peer p how far this rank has written and taken, after a fence for the writes of all blocks.
// Taken are the entries of ended steps, up to `begin`; blocks may be reading those from there to `end`. Credits alone
// are held back until they are due: the fence waits until all writes to peers have arrived.
__device__ __forceinline__ void leader_publish_counts(const Peers& peers, LeaderState& leader) {
    Exchange& own = leader.own;
    u32 p = lane();
    bool peer = is_peer(peers, p), pulls = own.dense_pulls != own.published_pulls;
    u64 taken = peer ? pack_credits(leader.plan.cursors[p].begin, (u32)leader.ll_taken[p]) : 0;
    bool wrote = peer && own.sent[p] != own.published_sent[p], took = peer && taken != own.published_taken[p];
    bool due = took && is_due(taken, own.published_taken[p], peers.capacity);
    if (!__any_sync(~0u, wrote || due || pulls)) return;
    put_fence();
    if (peer) {
        const RemoteMailbox theirs(peers, p);
        if (wrote) theirs.put(&Mailbox::published, own.sent[p]);
        if (took) theirs.put(&Mailbox::taken, taken);
        if (pulls) theirs.put(&Mailbox::dense_pulls, pack_dense_pull(own.dense_pulls, own.pull_below));
        own.published_sent[p] = own.sent[p];
        own.published_taken[p] = taken;
    }
    __syncwarp();
    if (p == 0) own.published_pulls = own.dense_pulls;
    __syncwarp();
}

// Lane p: publishes to peer p the pull bound that this rank has set, so that all ranks pull at the same bound.
__device__ __forceinline__ void leader_publish_bound(const Peers& peers, LeaderState& leader, double bound) {
    if (!PULLS || bound == INFINITE || bound == leader.own.published_bound) return;
    if (is_peer(peers, lane())) RemoteMailbox(peers, lane()).put(&Mailbox::bound, bound);
    __syncwarp();
    if (lane() == 0) leader.own.published_bound = bound;
    __syncwarp();
}

// Lane p: entries that blocks have counted for peer p, with or without room, and whether some had no room.
struct StepCounts {
    u64 sent, ll_sent;
    u32 pull_requested;

    __device__ __forceinline__ explicit StepCounts(const Exchange& exchange)
        : sent(load_volatile(&exchange.sent[lane() % MAX_PEERS])),
          ll_sent(load_volatile(&exchange.ll_sent[lane() % MAX_PEERS])),
          pull_requested(load_volatile(&exchange.pull_requested)) {}
};

// Lane p: accounts for the step that has ended. It has taken all entries of peer p up to `end`, and written at most as
// many as there was room for. If there was no room for some, it requests a dense pull up to its threshold.
__device__ __forceinline__ void leader_account_step(const Peers& peers, Exchange& exchange, LeaderState& leader,
                                                    const StepCounts& counts, double threshold) {
    Exchange& own = leader.own;
    u32 p = lane();
    if (p == 0 && counts.pull_requested) {
        own.dense_pulls++;
        own.pull_below = __double2float_ru(threshold);
        own.pull_requested = exchange.pull_requested = 0;
    }
    if (!is_peer(peers, p)) return;
    PeerCursors& cursors = leader.plan.cursors[p];
    own.sent[p] = min(counts.sent, cursors.room);
    own.ll_sent[p] = min(counts.ll_sent, cursors.ll_room);
    if (own.sent[p] != counts.sent) exchange.sent[p] = own.sent[p];
    if (own.ll_sent[p] != counts.ll_sent) exchange.ll_sent[p] = own.ll_sent[p];
    cursors.begin = cursors.end;
    cursors.pulls_done = cursors.pulls_requested;
}

// Lane p: takes over from the mailbox how far peer p has written and taken.
__device__ __forceinline__ void leader_update_cursors(const Peers& peers, LeaderState& leader) {
    u32 p = lane();
    if (!is_peer(peers, p)) return;
    PeerCursors& cursors = leader.plan.cursors[p];
    cursors.end = leader.mailbox.published[p];
    cursors.room = (leader.mailbox.taken[p] >> CREDIT_BITS) + peers.capacity;
    bool fits = peers.owned[peers.me] < LAP_BIT;
    cursors.ll_room = fits ? ll_room(leader.own.ll_sent[p], (u32)leader.mailbox.taken[p]) : 0;
    cursors.pulls_requested = (u32)(leader.mailbox.dense_pulls[p] >> 32);
    cursors.pull_below = __uint_as_float((u32)leader.mailbox.dense_pulls[p]);
}

// The sum over peers of the values of their lanes; all lanes call it.
__device__ __forceinline__ u64 warp_sum_over_peers(const Peers& peers, u64 mine) {
    if (!is_peer(peers, lane())) mine = 0;
    for (u32 apart = MAX_PEERS / 2; apart; apart /= 2) mine += __shfl_xor_sync(~0u, mine, apart);
    return __shfl_sync(~0u, mine, 0);
}

__device__ __forceinline__ bool has_dense_pull(const PeerCursors& cursors) {
    return cursors.pulls_requested != cursors.pulls_done;
}

// Arrivals for the next step: in the lower half the entries sent, in the upper half the distances to read in dense
// pulls. A pull of a peer that owns no vertices counts as one, because the peer waits until all have done it. All lanes
// call it.
__device__ __forceinline__ u64 warp_arrivals(const Peers& peers, const StepPlan& plan) {
    const u32 p = lane() % MAX_PEERS;
    const PeerCursors& cursors = plan.cursors[p];
    return warp_sum_over_peers(
        peers, cursors.end - cursors.begin + (has_dense_pull(cursors) ? (u64)max(peers.owned[p], 1u) << 32 : 0));
}
