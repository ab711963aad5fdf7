// Renumbering of vertices on one GPU: moves rows to a new order (peers do that during the redistribution, see
// exchange/redistribute.cu), and restores the order of the share in answers.

#include "layout/graph.cuh"
#include "layout/worklists.cuh"
#include "primitives/access.cuh"
#include "primitives/warp.cuh"

// Writes the row of vertex order[v] as row v, which begins at starts[v], with heads as `numbers` has them.
extern "C" __global__ void move_rows(const __grid_constant__ Share share, const u32* order, const u32* numbers,
                                     const Offset* starts, Arc* moved) {
    for (u32 row = grid_warp(); row < share.own; row += grid_warps()) {
        const Offset begin = share.offsets[order[row]], end = share.offsets[order[row] + 1];
        for (Offset i = begin + lane(); i < end; i += 32) {
            Arc arc = load(&share.arcs[i]);
            arc.head = numbers[arc.head];
            moved[starts[row] + (i - begin)] = arc;
        }
    }
}

// Writes distances, and below predecessors, in the order of the share; numbers[v] is the number of vertex v here.
extern "C" __global__ void bring_distances(const u32* numbers, const Distance* found, Distance* answer, u32 count) {
    u32 v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < count) answer[v] = found[numbers[v]];
}

extern "C" __global__ void bring_parents(const u32* numbers, const u32* order, const i64* found, i64* answer,
                                         u32 count) {
    u32 v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= count) return;
    i64 parent = found[numbers[v]];
    answer[v] = parent < 0 ? parent : (i64)order[parent];
}
