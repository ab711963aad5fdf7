// A barrier across the blocks of a cooperatively launched grid, about 1 us on a H200. The block that
// comes last may do something for all (`conduct`, by its first warp) before it lets the others go.
// Its counters only grow, so they need no reset: a block waits for the next multiple of the grid.
#pragma once

// Where the block has written to a peer (`wrote`, in shared memory, which is cleared), the fence is
// widened to the peers.
template <class Conduct>
__device__ __forceinline__ void meet(Control* control, u32& wrote, Conduct conduct) {
    __syncthreads();
    if (threadIdx.x < 32) {
        u32 ticket = 0;
        if (lane() == 0) {
            if (wrote) __threadfence_system();
            else __threadfence();
            wrote = 0;
            ticket = atomicAdd(&control->arrived, 1u) + 1;
        }
        ticket = __shfl_sync(~0u, ticket, 0);
        u32 target = (ticket + gridDim.x - 1) / gridDim.x * gridDim.x;
        if (ticket == target) {
            __threadfence();
            conduct();
            __syncwarp();
            if (lane() == 0) {
                __threadfence();
                *(volatile u32*)&control->released = target;
            }
        } else if (lane() == 0) {
            while ((int)(*(volatile u32*)&control->released - target) < 0) __nanosleep(20);
        }
        __syncwarp();
        __threadfence();
    }
    __syncthreads();
}

__device__ __forceinline__ void meet(Control* control) {
    u32 nothing = 0;
    meet(control, nothing, [] {});
}
