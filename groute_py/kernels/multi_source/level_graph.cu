// Renumbers the vertices of a graph, and turns its arcs round, for levels.cu.

#include "primitives/warp.cuh"

extern "C" __global__ void count_in_arcs(const u32* heads, u32 arcs, u32* degrees) {
    u32 arc = blockIdx.x * blockDim.x + threadIdx.x;
    if (arc < arcs) atomicAdd(degrees + heads[arc], 1);
}

// Copies the rows of vertices in the order of their numbers; a warp a row.
extern "C" __global__ void renumber_rows(const u32* offsets, const u32* heads, const u32* names, const u32* numbers,
                                         const u32* new_offsets, u32* new_heads, u32 rows) {
    u32 row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    u32 begin = new_offsets[row], count = new_offsets[row + 1] - begin, old = offsets[names[row]];
    for (u32 i = lane(); i < count; i += 32) new_heads[begin + i] = numbers[heads[old + i]];
}

// Turns arcs round, in any order within a row; a warp a row. ends: where each new row begins, and at last ends.
extern "C" __global__ void turn_rows(const u32* offsets, const u32* heads, u32* ends, u32* tails, u32 rows) {
    u32 row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    for (u32 arc = offsets[row] + lane(); arc < offsets[row + 1]; arc += 32) {
        tails[atomicAdd(ends + heads[arc], 1)] = row;
    }
}
