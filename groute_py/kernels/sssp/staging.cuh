// Buffers in shared memory for entries on their way to the global lists: BlockLists for a block (block-local steps,
// whose next level the block relaxes itself), WarpLists for a warp (grid-wide steps, in which warps do not wait for
// each other).
#pragma once

#include "sssp/rows.cuh"
#include "sssp/step.cuh"

#define WARPS (BLOCK / 32)
#define HELD (32 * ARCS)  // entries that a warp buffers and writes in one piece
#define AHEAD 8           // row chunks that a warp looks up together
#define HEAVY 64          // a block leaves rows with more arcs to the grid
#define ROW (4 * LANES)   // LANES lanes leave rows with more arcs to their warp

// Candidates that the lanes of a warp have found. near[k], far[k] and remote[k] say where ready[k] belongs.
struct Candidates {
    Ready ready[ARCS];
    bool near[ARCS], far[ARCS], remote[ARCS];
};

// A list of a block in shared memory; an entry is read and written as a whole.
struct Staged {
    struct alignas(sizeof(Distance) + sizeof(Offset) == 8 ? 16 : 8) Slot {
        Distance distance;
        u32 vertex;
        u32 degree;
        Offset begin;
    };
    Slot slots[STAGED];
    u32 tails[STAGED];

    __device__ __forceinline__ Ready at(u32 place) const {
        const Slot slot = slots[place];
        return {slot.distance, slot.vertex, tails[place], slot.degree, slot.begin};
    }

    __device__ __forceinline__ void put(u32 place, const Ready& ready) {
        slots[place] = {ready.distance, ready.vertex, ready.degree, ready.begin};
        tails[place] = ready.tail;
    }
};

#define FAR 2     // index of the far list of a block; lists 0 and 1 are near, by level
#define LISTED 4  // index of its counter

struct Staging {
    union {
        Staged list[3];
        struct {
            Entry held[2][WARPS][HELD];
            u32 held_tail[2][WARPS][HELD];
        };
    };
    u32 count[LISTED + 1];  // of near, rotating by level: read, written, cleared, read before; and of far
    u32 has_long[4];        // rotating like near: whether some row is longer than ROW
    u32 near_base, far_base;
    StepLists now;       // of a block-local step; see grid_take_local_step
    u32 another_has[2];  // some block has reached the depth limit in this step; alternates by level: read, written
    u32 ll_arrived, continues;  // see LocalStep::block_poll_rings
};
