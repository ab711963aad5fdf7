// Renumbering of vertices on one GPU: numbers them by falling degree, moves rows to a new order (peers do that during
// the redistribution, see exchange/redistribute.cu), and restores the order of the share in answers.

#include "layout/graph.cuh"
#include "layout/worklists.cuh"
#include "primitives/access.cuh"
#include "primitives/warp.cuh"

// Keys that ascend as the rows get shorter: the complements of their lengths.
extern "C" __global__ void list_falling(const Offset* offsets, u32 count, u32* keys) {
    const u32 v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < count) keys[v] = ~(u32)(offsets[v + 1] - offsets[v]);
}

// Gives falling[i] the number i, mixed among `at_once` by a factor. order: the vertex of each number.
extern "C" __global__ void number_falling(const i64* falling, u32 count, u32 at_once, u32 factor, u32* numbers,
                                          u32* order) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const u32 begin = i / at_once * at_once;
    const u32 number = begin + (u32)((u64)(i - begin) * factor % min(at_once, count - begin));
    numbers[falling[i]] = number;
    order[number] = (u32)falling[i];
}

// The lengths of the rows in an order.
extern "C" __global__ void list_lengths(const Offset* offsets, const u32* order, u32 count, Offset* lengths) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) lengths[i] = offsets[order[i] + 1] - offsets[order[i]];
}

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
