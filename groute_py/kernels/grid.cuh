// A barrier across the blocks of a cooperatively launched grid, about 1 us on a H200. The last block of the grid
// conducts: when all have come its first warp may do something for all before it lets them go, `conduct`, and
// something for itself when they go on, `report`. Where there is little to do that block has little else.
#pragma once

struct Attendance {  // of a block, in shared memory
    u32 round;  // how often the grid has met
};

// When nobody waits yet.
__device__ __forceinline__ Attendance attend(const Control* control) {
    return {*(const volatile u32*)&control->gate.released[0].round};
}

__device__ __forceinline__ bool conducts() { return blockIdx.x == gridDim.x - 1; }

template <class Conduct, class Report>
__device__ __forceinline__ void meet(Control* control, Attendance& block, Conduct conduct, Report report) {
    Gate& gate = control->gate;
    const u32 round = block.round + 1;
    __syncthreads();
    if (threadIdx.x < 32) {
        if (conducts()) {
            while (acquire(&gate.arrived) != gridDim.x - 1) {}
            __syncwarp();
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
    meet(control, block, [] {}, [] {});
}
