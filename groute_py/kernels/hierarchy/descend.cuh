// From the core outward to all vertices, by all threads of a persistent grid, once the passes upward are over.
#pragma once

#include "hierarchy/core.cuh"
#include "hierarchy/outward.cuh"
#include "primitives/grid_barrier.cuh"

// Makes lengths by place, distances or keys, those of shortest paths. `entries` lists the vertices of the core that
// have a length, which is that of a path upward. Ends with a barrier.
template <class Length>
__device__ __forceinline__ void grid_descend(const Hierarchy& h, Length* lengths, const u32* entries, u32 count,
                                             Control* control, BarrierPhase& phase, u32& overflowed) {
    cross_core(
        h, entries, count, grid_thread(), grid_threads(), [&](u32 place) { return &lengths[place]; }, overflowed);
    grid_sync(control, phase);
    for (u32 level = 1; level < h.level_count; level++) {
        sweep_level(h, level, lengths, overflowed);
        grid_sync(control, phase);
    }
}
