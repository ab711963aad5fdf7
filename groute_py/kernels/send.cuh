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
    Bookmarks& bookmarks;
};

// Where a halo vertex lives.
struct Home {
    u32 rank;
    u32 vertex;  // its number there
};

__device__ __forceinline__ Home home_of(const Share& share, u32 place) {
    return {owner(share, place), __ldg(&share.halo_home[place])};
}

// Into a ring while it has room; else the dirty bit keeps the vertex for later.
__device__ __forceinline__ void write_to(const Rank& rank, const Home& home, u64 index, u32 place,
                                         Distance distance) {
    if (index < rank.seen.exchange.room[home.rank]) {
        Entry entry = {};
        entry.distance = distance;
        entry.vertex = home.vertex | MARK;
        store_whole(&rank.peers.outbox[home.rank][index & (rank.peers.capacity - 1)], entry);
        rank.block.wrote = 1;
    } else {
        set_bit(rank.work.dirty_bits, place);
        rank.control->exchange.full = 1;
    }
}

// An improvement of a remote vertex, in a lane that may have none.
struct Letter {
    bool wanted;
    Distance distance;
    u32 place;
    Home home;
};

// The letters of all lanes, by one atomic a warp and owner; all 32 lanes call it.
template <int COUNT>
__device__ __forceinline__ void send(const Rank& rank, const Letter (&letters)[COUNT]) {
    for (u32 p = 0; p < rank.peers.count; p++) {
        u32 mask[COUNT], count = 0;
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            mask[k] = __ballot_sync(~0u, letters[k].wanted && letters[k].home.rank == p);
            count += __popc(mask[k]);
        }
        if (!count) continue;
        u64 first = 0;
        if (lane() == 0) first = atomicAdd(&rank.control->exchange.sent[p], (u64)count);
        first = __shfl_sync(~0u, first, 0);
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            const Letter& mine = letters[k];
            u64 index = first + rank_among(mask[k]);
            if (mask[k] >> lane() & 1) write_to(rank, mine.home, index, mine.place, mine.distance);
            first += __popc(mask[k]);
        }
    }
}

// The same for one lane.
__device__ __forceinline__ void send_one(const Rank& rank, u32 place, Distance distance) {
    Home home = home_of(rank.share, place);
    u64 index = atomicAdd(&rank.control->exchange.sent[home.rank], 1ull);
    write_to(rank, home, index, place, distance);
}
