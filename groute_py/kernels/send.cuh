// Handing improvements of remote vertices to their owners; see peers.cuh. `place` is a vertex's number
// in the halo.
#pragma once

// What a rank's kernel works with.
struct Rank {
    const Share& share;
    const Work& work;
    const Peers& peers;
    Control* control;
    const Control& seen;  // in shared memory: the control block as it was when the turn began
    u32& wrote;           // in shared memory: the block has written to a peer
};

// Into a ring while it has room; else the dirty bit keeps the vertex for later.
__device__ __forceinline__ void write_to(const Rank& rank, u32 p, u64 index, u32 place,
                                         Distance distance) {
    if (index < rank.seen.exchange.room[p]) {
        Entry entry;
        entry.distance = distance;
        entry.vertex = __ldg(&rank.share.halo_home[place]);
        rank.peers.outbox[p][index & (rank.peers.capacity - 1)] = entry;
        rank.wrote = 1;
    } else {
        set_bit(rank.work.dirty_bits, place);
        rank.control->exchange.full = 1;
    }
}

// By one atomic a warp and owner; all 32 lanes call it.
__device__ __forceinline__ void send(const Rank& rank, bool wanted, u32 place, Distance distance) {
    u32 to = wanted ? owner(rank.share, place) : MAX_PEERS;
    for (u32 p = 0; p < rank.peers.count; p++) {
        u32 mask = __ballot_sync(~0u, to == p);
        if (!mask) continue;
        u64 first = 0;
        if ((int)lane() == __ffs(mask) - 1)
            first = atomicAdd(&rank.control->exchange.sent[p], (u64)__popc(mask));
        first = __shfl_sync(~0u, first, __ffs(mask) - 1);
        if (to == p) write_to(rank, p, first + rank_among(mask), place, distance);
    }
}

// The same for one lane.
__device__ __forceinline__ void send_one(const Rank& rank, u32 place, Distance distance) {
    u32 p = owner(rank.share, place);
    write_to(rank, p, atomicAdd(&rank.control->exchange.sent[p], 1ull), place, distance);
}
