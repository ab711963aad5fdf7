// A barrier across the blocks of a cooperative launch, about 1 us on an H200. The last block of the grid is the leader.
// Its first warp runs three callbacks: `poll`, now and then while blocks are still arriving; `decide`, when all have
// arrived and before they are released; `publish`, after their release.
// cooperative_groups' grid.sync() has neither callbacks nor more than one word to wait for.
#pragma once

#include "layout/control.cuh"
#include "primitives/memory_order.cuh"
#include "primitives/warp.cuh"

struct BarrierPhase {  // of a block, in shared memory
    u32 round;         // barriers passed so far
};

// The current barrier round; to be called before any block waits.
__device__ __forceinline__ BarrierPhase current_phase(const Control* control) {
    return {load_volatile(&control->barrier.released[0].round)};
}

__device__ __forceinline__ bool is_leader_block() { return blockIdx.x == gridDim.x - 1; }

#define LOADS_A_POLL 8  // reads of the arrival counter between two calls of `poll`

template <class Poll, class Decide, class Publish>
__device__ __forceinline__ void grid_sync(Control* control, BarrierPhase& phase, Poll poll, Decide decide,
                                          Publish publish) {
    GridBarrier& barrier = control->barrier;
    const u32 round = phase.round + 1;
    __syncthreads();
    if (threadIdx.x < 32) {
        if (is_leader_block()) {
            poll();
            // all lanes leave the loop together, because `poll` needs all of them
            for (u32 looks = 1; !__all_sync(~0u, load_acquire_gpu(&barrier.arrived) == gridDim.x - 1); looks++)
                if (looks % LOADS_A_POLL == 0) poll();
            if (lane() == 0) barrier.arrived = 0;
            decide();
            __syncwarp();
            fence_gpu();
            if (lane() < RELEASE_WORDS) store_volatile(&barrier.released[lane()].round, round);
            publish();
        } else if (lane() == 0) {
            fence_gpu();
            atomicAdd(&barrier.arrived, 1u);
            while (load_acquire_gpu(&barrier.released[blockIdx.x % RELEASE_WORDS].round) != round) __nanosleep(20);
        }
        if (lane() == 0) phase.round = round;
    }
    __syncthreads();
}

__device__ __forceinline__ void grid_sync(Control* control, BarrierPhase& phase) {
    grid_sync(control, phase, [] {}, [] {}, [] {});
}
