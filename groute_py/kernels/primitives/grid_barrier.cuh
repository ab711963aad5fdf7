// A barrier across the blocks of a cooperative launch, about 1 us on an H200. The last block of the grid is the leader.
// Its first warp runs three callbacks: `prepare`, now and then while blocks are still arriving; `conduct`, when all
// have arrived and before they are released; `report`, after their release.
// cooperative_groups' grid.sync() has neither callbacks nor more than one word to wait for.
#pragma once

#include "layout/control.cuh"
#include "primitives/memory_order.cuh"
#include "primitives/warp.cuh"

struct Attendance {  // of a block, in shared memory
    u32 round;       // barriers passed so far
};

// The current barrier round; to be called before any block waits.
__device__ __forceinline__ Attendance attend(const Control* control) {
    return {load_volatile(&control->gate.released[0].round)};
}

__device__ __forceinline__ bool conducts() { return blockIdx.x == gridDim.x - 1; }

#define PREPARED 8  // polls of the arrival counter between two calls of `prepare`

template <class Prepare, class Conduct, class Report>
__device__ __forceinline__ void meet(Control* control, Attendance& block, Prepare prepare, Conduct conduct,
                                     Report report) {
    Gate& gate = control->gate;
    const u32 round = block.round + 1;
    __syncthreads();
    if (threadIdx.x < 32) {
        if (conducts()) {
            prepare();
            // all lanes leave the loop together, because `prepare` needs all of them
            for (u32 looks = 1; !__all_sync(~0u, load_acquire_gpu(&gate.arrived) == gridDim.x - 1); looks++)
                if (looks % PREPARED == 0) prepare();
            if (lane() == 0) gate.arrived = 0;
            conduct();
            __syncwarp();
            fence_gpu();
            if (lane() < GATES) store_volatile(&gate.released[lane()].round, round);
            report();
        } else if (lane() == 0) {
            fence_gpu();
            atomicAdd(&gate.arrived, 1u);
            while (load_acquire_gpu(&gate.released[blockIdx.x % GATES].round) != round) __nanosleep(20);
        }
        if (lane() == 0) block.round = round;
    }
    __syncthreads();
}

__device__ __forceinline__ void meet(Control* control, Attendance& block) {
    meet(control, block, [] {}, [] {}, [] {});
}
