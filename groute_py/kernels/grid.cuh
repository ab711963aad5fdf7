// A barrier across the blocks of a cooperatively launched grid, about 1 us on a H200. The first warp of
// the block that comes last may do something for all: `conduct` before the others go on, which ends with a
// fence, and `report` while they do.
#pragma once

struct Attendance {  // of a block, in shared memory
    u32 round;  // how often the grid has met
};

template <class Conduct, class Report>
__device__ __forceinline__ void meet(Control* control, Attendance& block, Conduct conduct, Report report) {
    __syncthreads();
    if (threadIdx.x < 32) {
        u32 before = 0;
        if (lane() == 0) {
            order();
            before = atomicAdd(&control->arrived, 1u);
        }
        if (__shfl_sync(~0u, before, 0) == gridDim.x - 1) {
            if (lane() == 0) control->arrived = 0;
            order();
            __syncwarp();
            conduct();
            __syncwarp();
            if (lane() == 0) *(volatile u32*)&control->released = block.round + 1;
            report();
        } else {
            if (lane() == 0)
                while (*(volatile u32*)&control->released == block.round) __nanosleep(20);
            __syncwarp();
            order();
        }
        if (lane() == 0) block.round++;
    }
    __syncthreads();
}

__device__ __forceinline__ void meet(Control* control, Attendance& block) {
    meet(control, block, [] { order(); }, [] {});
}
