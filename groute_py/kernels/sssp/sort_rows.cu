// The order of each row's arcs by weight: what the host sorts by, and the arcs in that order.

#include "layout/graph.cuh"
#include "primitives/warp.cuh"

// The weights and the rows of the arcs from row `first` to before row `last`. Sets `unsorted` if an arc of a row weighs
// less than the one before it.
extern "C" __global__ void list_weights(const Offset* offsets, const Arc* arcs, u32 first, u32 last, Distance* weights,
                                        u32* tails, u32* unsorted) {
    const Offset base = offsets[first];
    for (u32 row = first + grid_warp(); row < last; row += grid_warps()) {
        const Offset begin = offsets[row], end = offsets[row + 1];
        for (Offset i = begin + lane(); i < end; i += 32) {
            const Distance weight = arcs[i].weight;
            weights[i - base] = weight;
            tails[i - base] = row - first;
            if (i > begin && weight < arcs[i - 1].weight) *unsorted = 1;
        }
    }
}

// Arcs by weight, and then by row, as the host has sorted them one after the other.
extern "C" __global__ void take_arcs(const Arc* arcs, const i64* by_weight, const i64* by_row, u32 count, Arc* sorted) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sorted[i] = arcs[by_weight[by_row[i]]];
}
