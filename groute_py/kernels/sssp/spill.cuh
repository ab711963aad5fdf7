#pragma once

#include "primitives/arithmetic.cuh"
#include "sssp/step.cuh"

// Lists the vertices of the spill bitmap in near, which is empty. Vertices that find no place set their bits again.
__device__ void grid_recover_spilled(const Share& share, const Work& work, Control* control, const StepLists& now) {
    u32 words = (share.rows + 31) / 32, stride = gridDim.x * blockDim.x;
    for (u32 word = blockIdx.x * blockDim.x + threadIdx.x; word < words; word += stride) {
        u32 bits = load_l2(&work.spilled[word]);
        if (bits) work.spilled[word] = 0;
        for (; bits; bits &= bits - 1) {
            u32 vertex = word * 32 + __ffs(bits) - 1;
            Entry entry;
            entry.vertex = vertex;
            entry.distance = load_l2(&work.distance[vertex]);
            put(work, control, now.near_out, atomicAdd(now.near_out.count, 1u), entry, NO_VERTEX);
        }
    }
}
