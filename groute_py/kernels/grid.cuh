// A barrier across the blocks of a cooperatively launched grid, about 1 us on a H200. The last block of the grid
// conducts. Its first warp may do something while others are still to come, `prepare`, from time to time; something for
// all when they have come, before it lets them go, `conduct`; and something for itself when they go on, `report`. Where
// there is little to do that block has little else.
#pragma once

struct Attendance {  // of a block, in shared memory
    u32 round;  // how often the grid has met
};

// When nobody waits yet.
__device__ __forceinline__ Attendance attend(const Control* control) {
    return {*(const volatile u32*)&control->gate.released[0].round};
}

__device__ __forceinline__ bool conducts() { return blockIdx.x == gridDim.x - 1; }

#define PREPARED 8  // looks whether all have come, after which the block that conducts prepares anew

template <class Prepare, class Conduct, class Report>
__device__ __forceinline__ void meet(Control* control, Attendance& block, Prepare prepare, Conduct conduct,
                                     Report report) {
    Gate& gate = control->gate;
    const u32 round = block.round + 1;
    __syncthreads();
    if (threadIdx.x < 32) {
        if (conducts()) {
            prepare();
            // all lanes go on at once, or one might prepare without the others
            for (u32 looks = 1; !__all_sync(~0u, acquire(&gate.arrived) == gridDim.x - 1); looks++)
                if (looks % PREPARED == 0) prepare();
            if (lane() == 0) gate.arrived = 0;
            conduct();
            __syncwarp();
            order();
            if (lane() < GATES) *(volatile u32*)&gate.released[lane()].round = round;
            report();
        } else if (lane() == 0) {
            order();
            atomicAdd(&gate.arrived, 1u);
            while (acquire(&gate.released[blockIdx.x % GATES].round) != round) __nanosleep(20);
        }
        if (lane() == 0) block.round = round;
    }
    __syncthreads();
}

__device__ __forceinline__ void meet(Control* control, Attendance& block) {
    meet(control, block, [] {}, [] {}, [] {});
}
