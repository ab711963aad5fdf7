// From vertices to their places in an order of them.

#include "layout/types.cuh"

// The place of each vertex.
extern "C" __global__ void find_places(const u32* vertices, u32 count, u32* places) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) places[vertices[i]] = i;
}

// Puts the places of heads where the heads are.
extern "C" __global__ void place_heads(const u32* places, u32* heads, u32 count) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        heads[i] = places[heads[i]];
}
