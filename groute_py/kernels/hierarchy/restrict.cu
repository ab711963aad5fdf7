// The vertices that paths to some vertices may come down through: those above them.

#include "layout/types.cuh"

// Marks the heads of some places, and lists those that were not marked before. marked: 1 for each marked place.
extern "C" __global__ void mark_above(const u32* offsets, const u32* heads, const u32* list, u32 listed, u32* marked,
                                      u32* next, u32* next_count) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < listed; i += gridDim.x * blockDim.x)
        for (u32 arc = offsets[list[i]]; arc < offsets[list[i] + 1]; arc++)
            if (!atomicExch(&marked[heads[arc]], 1u)) next[atomicAdd(next_count, 1u)] = heads[arc];
}
