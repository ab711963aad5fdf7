// The lists and counters of one turn. They rotate by the turn's number, so that a block never reads
// a counter that a faster block may be writing: what a turn decides by was settled before the barrier
// it began with. All blocks look at it as a turn begins, each once: if every warp read every field for itself,
// the one place in L2 that holds them would be the bottleneck of thin turns.
#pragma once

// Copies what concerns a block to shared memory, the orders if there are peers; all threads call it.
__device__ __forceinline__ void look_at(const Control* control, Seen& seen, const Peers& peers) {
    const u32 orders = exchanges(peers) ? sizeof(Orders) - (MAX_PEERS - peers.count) * sizeof(Traffic) : 0;
    const u32 bytes = sizeof(Seen) - sizeof(Orders) + orders;
    const u32* from = (const u32*)(const Seen*)control;
    u32* to = (u32*)&seen;
    static_assert(sizeof(Seen) / 4 <= BLOCK, "a word a thread");
    if (threadIdx.x < bytes / 4) to[threadIdx.x] = __ldcg(&from[threadIdx.x]);
    __syncthreads();
}

struct Turn {
    u32 number;  // from 1
    List near_in;
    u32 near_in_count;
    u32* taken;  // how far warps have shared out near, ...
    const Item* items_in;
    u32 items_in_count;
    u32* items_taken;  // ... and items
    List near_out;
    Item* items_out;
    u32* items_out_count;  // of those for the next turn
    u32* cut_count;        // or of those that this turn takes itself
    List far;
};

// With so many entries in near, and items.
__device__ __forceinline__ Turn begin_turn(const Work& work, Control* control, u32 turn, u32 far_side, u32 near_count,
                                           u32 items_count) {
    u32 next = turn + 1;
    Turn now;
    now.number = next;
    now.near_in = near_list(work, control, turn);
    now.near_in_count = near_count;
    now.taken = &control->taken[turn % 3];
    now.items_in = work.items[turn % 2];
    now.items_in_count = items_count;
    now.items_taken = &control->items_taken[turn % 3];
    now.near_out = near_list(work, control, next);
    now.items_out = work.items[next % 2];
    now.items_out_count = &control->item_count[next % 3];
    now.cut_count = &control->cut_count[turn % 2];
    now.far = far_list(work, control, far_side);
    return now;
}

// Entries and items as a measure of work: few items are many arcs.
__device__ __forceinline__ u64 weight_of(u32 entries, u32 items) { return entries + PART / 4 * (u64)items; }

// The turn after next writes what this turn's predecessor read.
__device__ __forceinline__ void clear_ahead(Control* control, u32 turn, u32 far_side) {
    if (blockIdx.x || threadIdx.x) return;
    control->near_count[(turn + 2) % 3] = 0;
    control->taken[(turn + 2) % 3] = 0;
    control->items_taken[(turn + 2) % 3] = 0;
    control->item_count[(turn + 2) % 3] = 0;
    control->cut_count[(turn + 1) % 2] = 0;
    control->far_count[far_side ^ 1] = 0;
}

#define SHARES_OF_PARTS 4  // that a warp takes at least, if they are of more than the least number
#define SHARES_OF_NEAR 8   // likewise

// How many places of a list a warp takes at once: `shares` times at least, if that is more than the least number each time.
__device__ __forceinline__ u32 places_at_once(u32 count, u32 shares, u32 least, u32 most) {
    return min(max(count / (shares * grid_warps()), least), most);
}

// Hands out the places of a list to the warps of the grid, `each` at a time: `visit(first)`. Each warp has `rounds` in
// turn, then more as it is ready for them; which are its next is settled while it works on those before. `taken` counts
// from 0, for all warps.
template <class Visit>
__device__ __forceinline__ void hand_out(u32* taken, u32 count, u32 each, u32 rounds, Visit visit) {
    const int round = grid_warps() * each, in_turn = rounds * round;
    for (int next = (int)(grid_warp() * each) - in_turn; (u32)(next + in_turn) < count;) {  // counted from the first ticket
        int after = next + round;
        if (lane() == 0 && after >= 0) after = atomicAdd(taken, each);
        visit(next + in_turn);
        next = __shfl_sync(~0u, after, 0);
    }
}
