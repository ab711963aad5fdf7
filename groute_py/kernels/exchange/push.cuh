// Pushing vertices that came into near to the peers that hold their out-arcs; see exchange/PROTOCOL.md.
#pragma once

#include "exchange/rank.cuh"
#include "exchange/remote.cuh"
#include "primitives/warp.cuh"

// A bit for each peer that holds out-arcs of an owned vertex; 0 for a mirror.
__device__ __forceinline__ u32 peers_of(const Rank& rank, u32 vertex) {
    if (!exchanges(rank.peers) || vertex >= rank.share.own) return 0;
    return load_volatile(&rank.share.leads[vertex]);
}

// The distance of a mirror as its owner has it now; LARGEST_DISTANCE if the vertex is not a mirror.
__device__ __forceinline__ Distance at_owner(const Rank& rank, u32 vertex) {
    const Peers& peers = rank.peers;
    if (!exchanges(peers) || vertex < rank.share.own) return LARGEST_DISTANCE;
    for (u32 p = 0; p < peers.count; p++) {
        u32 place = vertex - peers.mirrors[p];
        if (place < peers.owned[p]) return get_distance(peers, p, place);
    }
    return LARGEST_DISTANCE;
}

// Writes an entry to a peer's ring if there is room; otherwise requests a dense pull at the end of the step
// (`pull_requested`). One fence of the leader makes the writes of all blocks visible to peers, because fences are
// cumulative. Several threads may store the same 1 to `pull_requested`.
__device__ __forceinline__ void write_to(const Rank& rank, u32 peer, u64 index, const Entry& entry) {
    if (index < rank.seen.plan.cursors[peer].room)
        put_entry(rank.peers, peer, index, entry);
    else
        rank.control->exchange.pull_requested = 1;
}

// Reserves `count` places in a peer's inbox and returns the first; all 32 lanes call it.
__device__ __forceinline__ u64 warp_reserve(const Rank& rank, u32 peer, u32 count) {
    u64 first = 0;
    if (count && lane() == 0) first = atomicAdd(&rank.control->exchange.sent[peer], (u64)count);
    return __shfl_sync(~0u, first, 0);
}

// Pushes an entry to the peers whose bits are set in `to`, with one atomic a warp and peer; all 32 lanes call it.
__device__ __forceinline__ void warp_push(const Rank& rank, u32 to, const Entry& entry) {
    if (!__any_sync(~0u, to)) return;
    for (u32 p = 0; p < rank.peers.count; p++) {
        u32 mask = __ballot_sync(~0u, to >> p & 1);
        u64 first = warp_reserve(rank, p, __popc(mask));
        if (to >> p & 1) write_to(rank, p, first + rank_among(mask), entry);
    }
}

// The same for a single lane, through the low-latency ring while that has room.
__device__ __forceinline__ void push(const Rank& rank, u32 to, const Entry& entry) {
    Exchange& exchange = rank.control->exchange;
    for (; to; to &= to - 1) {
        u32 peer = __ffs(to) - 1;
        u64 number = RECORDS ? atomicAdd(&exchange.ll_sent[peer], 1ull) : 0;
        if (number < rank.seen.plan.cursors[peer].ll_room) {
            put_ll_word(rank.peers, peer, (u32)number, entry);
        } else {
            write_to(rank, peer, atomicAdd(&exchange.sent[peer], 1ull), entry);
        }
    }
}
