// The search upward from a source, by one block. Arcs upward lead to earlier levels, so each vertex that is found is
// relaxed once, when its level is reached, and its distance over arcs upward is final then.
#pragma once

#include "hierarchy/sums.cuh"
#include "layout/hierarchy.cuh"
#include "primitives/memory_order.cuh"
#include "primitives/warp.cuh"

// What a search has found: lists of places below the core and in it.
struct Found {
    u32* below;
    u32* core;
    u32 below_room;  // places of the list; that of the core has one for each of its vertices
    u32 below_count, core_count;
};

// Counts past the end of a list that is too short.
__device__ __forceinline__ void note(Found& found, u32 place, bool in_core) {
    if (in_core) {
        found.core[atomicAdd(&found.core_count, 1u)] = place;
        return;
    }
    const u32 number = atomicAdd(&found.below_count, 1u);
    if (number < found.below_room) found.below[number] = place;
}

// The level of a place: the last that begins at or before it.
__device__ __forceinline__ u32 level_of(const Hierarchy& h, u32 place) {
    u32 low = 0, high = h.level_count - 1;
    while (low < high) {
        const u32 middle = (low + high + 1) / 2;
        if (h.levels[middle] <= place)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// Relaxes the arcs upward of one vertex, by the lanes of a warp. `at(place)` is where a distance lies.
template <class At>
__device__ __forceinline__ void relax_upward(const Hierarchy& h, Found& found, u32 place, Distance cutoff, At at,
                                             u32& overflowed) {
    const Distance distance = load_l2(at(place));
    for (u32 i = h.offsets[place] + lane(); i < h.offsets[place + 1]; i += 32) {
        const Arc arc = h.up[i];
        const Distance sum = path_sum(distance, arc.weight, overflowed);
        if (sum == UNREACHED || sum > cutoff) continue;
        if (atomic_min(at(arc.head), sum) == UNREACHED) note(found, arc.head, arc.head < h.core_count);
    }
}

// All threads of a block call it, with `found` in shared memory. Distances are UNREACHED before, but for those of
// vertices that were found. None is found beyond the cutoff.
template <class At>
__device__ __forceinline__ void search_upward(const Hierarchy& h, Found& found, u32 place, Distance cutoff, At at,
                                              u32& overflowed) {
    if (threadIdx.x == 0) {
        *at(place) = 0;
        note(found, place, place < h.core_count);
    }
    __syncthreads();
    for (u32 level = level_of(h, place); level > 0; level--) {
        const u32 begin = h.levels[level], end = h.levels[level + 1];
        const u32 known = min(found.below_count, found.below_room);
        __syncthreads();  // all have read it
        // neighbours in the list, which were found together, go to different warps
        for (u32 base = threadIdx.x / 32; base < known; base += blockDim.x) {
            const u32 number = base + lane() * (blockDim.x / 32);
            const u32 mine = number < known ? load_volatile(&found.below[number]) : 0;
            u32 due = __ballot_sync(~0u, mine >= begin && mine < end);
            for (; due; due &= due - 1)
                relax_upward(h, found, __shfl_sync(~0u, mine, __ffs(due) - 1), cutoff, at, overflowed);
        }
        __syncthreads();
    }
}
