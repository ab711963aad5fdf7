// One tree out of a contraction hierarchy, in one launch of a persistent grid: a search upward by one block, the core,
// and a sweep over the levels from the core outward. (PHAST: Delling, Goldberg, Nowatzyk and Werneck, 2013.)

#include "hierarchy/descend.cuh"
#include "hierarchy/upward.cuh"

struct TreeReport {
    u32 overflowed;  // 1 if a sum did not fit
    u32 entries;     // vertices of the core that the search upward found
    u32 missing;     // 1 if find_rising leaves a reached vertex without a predecessor
};

// by_place: distances by place. by_vertex: by the graph's numbers, at the end; before that, the list of what is found.
// Both have h.vertices words. Distances beyond the cutoff are left out.
extern "C" __global__ void __launch_bounds__(1024, 2)
    solve_tree(const __grid_constant__ Hierarchy h, Distance* by_place, Distance* by_vertex, Control* control,
               TreeReport* report, u32 source, Distance cutoff) {
    __shared__ BarrierPhase phase;
    __shared__ Found found;
    if (threadIdx.x == 0) phase = current_phase(control);
    __syncthreads();
    u32 overflowed = 0;
    for (u32 place = grid_thread(); place < h.vertices; place += grid_threads()) by_place[place] = UNREACHED;
    if (grid_thread() == 0) *report = TreeReport{};
    grid_sync(control, phase);

    // 1. upward
    const u32 room = h.vertices - h.core_count;
    u32* const entries = (u32*)by_vertex + room;
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) found = {(u32*)by_vertex, entries, room, 0, 0};
        __syncthreads();
        search_upward(h, found, h.places[source], cutoff, [&](u32 place) { return &by_place[place]; }, overflowed);
        if (threadIdx.x == 0) report->entries = found.core_count;
    }
    grid_sync(control, phase);

    // 2. the core, and outward
    grid_descend(h, by_place, entries, load_l2(&report->entries), control, phase, overflowed);

    // 3. in the graph's order
    for (u32 vertex = grid_thread(); vertex < h.vertices; vertex += grid_threads()) {
        const Distance distance = load_l2(&by_place[h.places[vertex]]);
        by_vertex[vertex] = distance <= cutoff ? distance : UNREACHED;
    }
    if (overflowed) report->overflowed = 1;
}
