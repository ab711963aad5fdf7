// A barrier across the blocks of a cooperatively launched grid: one counter, about 1 us on a H200.
// The counter only grows, so it needs no reset: a block waits for the next multiple of the grid.
#pragma once

__device__ __forceinline__ void grid_barrier(Control* control) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        u32 ticket = atomicAdd(&control->arrived, 1u) + 1;
        u32 target = (ticket + gridDim.x - 1) / gridDim.x * gridDim.x;
        while ((int)(*(volatile u32*)&control->arrived - target) < 0) {}
        __threadfence();
    }
    __syncthreads();
}
