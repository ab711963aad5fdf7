// The votes that end a run, and move the bucket that all ranks share; see groute_py/comm/termination.py for the proof.
#pragma once

#include "exchange/flow_control.cuh"
#include "sssp/buckets.cuh"

// States this rank's floor and counts in the open vote, once. All lanes call it.
__device__ __forceinline__ void leader_vote(const Peers& peers, LeaderState& leader, double floor) {
    const u64 vote = leader.mailbox.vote, parity = vote & 1;
    if (vote == leader.own.last_vote) return;
    const Exchange& own = leader.own;
    const u32 p = lane() % MAX_PEERS;
    const PeerCursors& cursors = leader.plan.cursors[p];
    const u64 sent = warp_sum_over_peers(peers, own.sent[p] + own.ll_sent[p] + own.dense_pulls);
    const u64 received = warp_sum_over_peers(peers, cursors.begin + leader.ll_taken[p] + cursors.pulls_done);
    if (lane()) return;
    put_ballot(peers, (u64)__double_as_longlong(floor) | parity << 63, 2 * sent + parity, 2 * received + parity);
    leader.own.last_vote = vote;
}

// The work that a rank has left, apart from arrivals.
struct LocalStatus {
    u32 near;          // entries in near
    u64 listed;        // work in near and in row chunks, in entries; see weight_of
    bool pending;      // the spill bitmap is not empty
    double floor;      // smallest distance left to work on
    double threshold;  // distances pushed to peers lie below it
    u32 far;           // entries of the far list, or vertices that are far
    bool much;         // far is large, and need not be pulled first
    double bound;      // pull bound, see sssp/pull_deferred.cuh; infinite if no arcs are deferred
    double reach;      // width of buckets after the bound; before it they have a quarter
};

// Rank 0: when all ballots are complete, writes the verdict to all ranks and opens the next vote. The bucket moves when
// nothing is left in it; a bucket that grows only when also no entry is in flight, because that may lie in it. Up to
// the pull bound of a rank buckets stay narrow. The words of a verdict may be read in any order: limits only rise, so a
// rank that reads the new vote with the old limit only waits longer.
__device__ __forceinline__ void leader_detect_termination(const Peers& peers, LeaderState& leader,
                                                          const LocalStatus& status) {
    u32 p = lane();
    bool voter = p < peers.count;
    u64 parity = leader.mailbox.vote & 1;
    Ballot ballot = leader.mailbox.ballot[voter ? p : 0];
    bool whole = ballot.floor >> 63 == parity && (ballot.sent & 1) == parity && (ballot.received & 1) == parity;
    if (!__all_sync(~0u, !voter || whole)) return;
    double floor = INFINITE;
    if (voter) floor = __longlong_as_double((i64)(ballot.floor & ~(1ull << 63)));
    u64 sent = voter ? ballot.sent / 2 : 0, received = voter ? ballot.received / 2 : 0;
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) {
        floor = min(floor, __shfl_xor_sync(~0u, floor, step));
        sent += __shfl_xor_sync(~0u, sent, step);
        received += __shfl_xor_sync(~0u, received, step);
    }
    bool idle = floor == INFINITE || floor > peers.bound;
    bool calm = idle && sent == received;
    bool quiet = calm && leader.own.calm == sent + 1;
    double width = leader.own.width, end = leader.mailbox.limit - peers.ahead;
    bool settled = sent == received || peers.ahead > 0, moves = floor != INFINITE && floor >= end && settled;
    if (moves) {
        const double peers_bound = leader.mailbox.bound,
                     bound = peers_bound > floor ? min(peers_bound, status.bound) : status.bound;
        const bool pulls = PULLS && bound != INFINITE, before = pulls && floor < bound;
        const BucketBegin begin = before  ? BucketBegin::before_bound
                                  : pulls ? BucketBegin::at_bound
                                          : BucketBegin::without_bound;
        width = next_width(width, peers.widest, status.reach, begin, status.much);
        end = max(floor + width, nextafter(floor, INFINITE));
        if (before) end = min(end, bound);
    }
    __syncwarp();
    if (p == 0) {
        leader.own.calm = calm ? sent + 1 : 0;
        leader.own.width = width;
    }
    if (!voter) return;
    const RemoteMailbox theirs(peers, p);
    if (moves) theirs.put(&Mailbox::from, floor);
    if (floor != INFINITE) theirs.put(&Mailbox::limit, min(end + peers.ahead, peers.bound));
    theirs.put(&Mailbox::quiet, (u32)quiet);
    theirs.put(&Mailbox::vote, leader.mailbox.vote + 1);
}
