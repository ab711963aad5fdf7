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
    Attendance& block;
};

// Where a halo vertex lives.
struct Home {
    u32 peer;    // its owner's number among the peers; too large where that is none of them
    u32 vertex;  // its number there
};

__device__ __forceinline__ Home home_of(const Rank& rank, u32 place) {
    return {owner(rank.share, place) - rank.peers.first, __ldg(&rank.share.halo_home[place])};
}

// Whether a halo vertex's owner is none of the peers.
__device__ __forceinline__ bool beyond_peers(const Rank& rank, u32 vertex) {
    const Share& share = rank.share;
    if (rank.peers.count == share.peers) return false;
    u32 place = vertex - share.own, first = rank.peers.first;
    return place < __ldg(&share.halo_starts[first]) ||
           place >= __ldg(&share.halo_starts[first + rank.peers.count]);
}

// This turn shows to all peers what it knows.
__device__ __forceinline__ void show(const Rank& rank) {
    rank.control->exchange.showing = 1;
    rank.block.wrote = 1;
}

// Into a ring while it has room.
__device__ __forceinline__ void write_to(const Rank& rank, const Home& home, u64 index, Distance distance) {
    if (index < rank.seen.exchange.room[home.peer]) {
        Entry entry;
        entry.distance = distance;
        entry.vertex = home.vertex;
        rank.peers.outbox[home.peer][index & (rank.peers.capacity - 1)] = entry;
        rank.block.wrote = 1;
    } else {
        show(rank);
    }
}

// By one atomic a warp and owner; all 32 lanes call it.
__device__ __forceinline__ void send(const Rank& rank, bool wanted, const Home& home, u32 place,
                                     Distance distance) {
    u32 to = wanted ? home.peer : MAX_PEERS;
    if (rank.peers.count < rank.share.peers) {
        bool beyond = wanted && to >= rank.peers.count;
        mark_dirty(rank.share, rank.work, rank.control, rank.share.own + place, beyond);
    }
    for (u32 p = 0; p < rank.peers.count; p++) {
        u32 mask = __ballot_sync(~0u, to == p);
        if (!mask) continue;
        u64 first = 0;
        if ((int)lane() == __ffs(mask) - 1)
            first = atomicAdd(&rank.control->exchange.sent[p], (u64)__popc(mask));
        first = __shfl_sync(~0u, first, __ffs(mask) - 1);
        if (to == p) write_to(rank, home, first + rank_among(mask), distance);
    }
}

// The same for one lane.
__device__ __forceinline__ void send_one(const Rank& rank, u32 place, Distance distance) {
    Home home = home_of(rank, place);
    if (home.peer >= rank.peers.count)
        return mark_dirty_one(rank.share, rank.work, rank.control, rank.share.own + place);
    u64 index = atomicAdd(&rank.control->exchange.sent[home.peer], 1ull);
    write_to(rank, home, index, distance);
}
