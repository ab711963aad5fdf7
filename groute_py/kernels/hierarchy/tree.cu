// One tree out of a contraction hierarchy, in one launch of a persistent grid: a search upward by one block, the core,
// and a sweep over the levels from the core outward, of which the first, small ones are one block's as well. (PHAST:
// Delling, Goldberg, Nowatzyk and Werneck, 2013.)

#include "hierarchy/core.cuh"
#include "hierarchy/upward.cuh"
#include "primitives/grid_barrier.cuh"

#define SMALL_LEVEL 4  // vertices for each thread of a block up to which it sweeps a level alone

struct TreeReport {
    u32 overflowed;  // 1 if a sum did not fit
    u32 entries;     // vertices of the core that the search upward found
};

__device__ __forceinline__ u32 grid_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ u32 grid_threads() { return gridDim.x * blockDim.x; }

__device__ __forceinline__ void sweep_vertex(const Hierarchy& h, u32 place, Distance* distances, u32& overflowed) {
    Distance best = load_l2(&distances[place]);
    for (u32 i = h.offsets[place]; i < h.offsets[place + 1]; i++) {
        const Arc arc = h.down[i];
        best = min(best, path_sum(load_l2(&distances[arc.head]), arc.weight, overflowed));
    }
    distances[place] = best;
}

__device__ __forceinline__ bool is_small(const Hierarchy& h, u32 level) {
    return h.levels[level + 1] - h.levels[level] <= SMALL_LEVEL * blockDim.x;
}

// The first level that the whole grid sweeps.
__device__ __forceinline__ u32 first_large(const Hierarchy& h) {
    u32 level = 1;
    while (level < h.level_count && is_small(h, level)) level++;
    return level;
}

__device__ __forceinline__ void sweep_level(const Hierarchy& h, u32 level, u32 thread, u32 threads, Distance* distances,
                                            u32& overflowed) {
    for (u32 place = h.levels[level] + thread; place < h.levels[level + 1]; place += threads)
        sweep_vertex(h, place, distances, overflowed);
}

// by_place: distances by place. by_vertex: by the graph's numbers, at the end; before that, the list of what is found.
// Both have h.vertices words. Distances beyond the cutoff are left out.
extern "C" __global__ void __launch_bounds__(1024)
    solve_tree(const __grid_constant__ Hierarchy h, Distance* by_place, Distance* by_vertex, Control* control,
               TreeReport* report, u32 source, Distance cutoff) {
    __shared__ BarrierPhase phase;
    __shared__ Found found;
    if (threadIdx.x == 0) phase = current_phase(control);
    __syncthreads();
    u32 overflowed = 0;
    for (u32 place = grid_thread(); place < h.vertices; place += grid_threads()) by_place[place] = NOTHING;
    if (grid_thread() == 0) *report = TreeReport{};
    grid_sync(control, phase);

    // 1. upward
    const u32 room = h.vertices - h.core_count;
    u32* const entries = (u32*)by_vertex + room;
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) found = {(u32*)by_vertex, entries, room, 0, 0};
        __syncthreads();
        search_upward(h, found, h.places[source], [&](u32 place) { return &by_place[place]; }, overflowed);
        if (threadIdx.x == 0) report->entries = found.core_count;
    }
    grid_sync(control, phase);

    // 2. the core
    cross_core(
        h, entries, load_l2(&report->entries), grid_thread(), grid_threads(),
        [&](u32 place) { return &by_place[place]; }, overflowed);
    grid_sync(control, phase);

    // 3. outward
    const u32 large = first_large(h);
    if (blockIdx.x == 0) {
        for (u32 level = 1; level < large; level++) {
            sweep_level(h, level, threadIdx.x, blockDim.x, by_place, overflowed);
            __syncthreads();
        }
    }
    for (u32 level = large; level < h.level_count; level++) {
        grid_sync(control, phase);
        sweep_level(h, level, grid_thread(), grid_threads(), by_place, overflowed);
    }
    grid_sync(control, phase);

    // 4. in the graph's order
    for (u32 vertex = grid_thread(); vertex < h.vertices; vertex += grid_threads()) {
        const Distance distance = load_l2(&by_place[h.places[vertex]]);
        by_vertex[vertex] = distance <= cutoff ? distance : NOTHING;
    }
    if (overflowed) report->overflowed = 1;
}
