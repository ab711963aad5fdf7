// Statistics of a solve.

#include "layout/worklists.cuh"
#include "primitives/warp.cuh"

// Counts the out-arcs of reached owned vertices; with peers also those that lie on other ranks.
extern "C" __global__ void count_reached(const __grid_constant__ Share share, const __grid_constant__ Work work,
                                         u64* arcs) {
    u32 stride = gridDim.x * blockDim.x;
    u64 mine = 0;
    for (u32 v = blockIdx.x * blockDim.x + threadIdx.x; v < share.own; v += stride) {
        if (work.distance[v] == UNREACHED) continue;
        mine += share.degrees ? share.degrees[v] : share.offsets[v + 1] - share.offsets[v];
    }
    warp_add_to(arcs, mine);
}
