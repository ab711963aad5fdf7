// What the lanes of a warp do together, and where a warp stands in the grid. CUB and cooperative groups have most of
// it, but NVRTC would compile their headers with each program, and the emulation could not compile them.
#pragma once

#include "primitives/arithmetic.cuh"

__device__ __forceinline__ u32 lane() { return threadIdx.x & 31; }

__device__ __forceinline__ u32 grid_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ u32 grid_threads() { return gridDim.x * blockDim.x; }

// The number of this warp in the grid. Consecutive numbers are in different blocks, so that few entries use all blocks.
__device__ __forceinline__ u32 grid_warp() { return (threadIdx.x >> 5) * gridDim.x + blockIdx.x; }

__device__ __forceinline__ u32 grid_warps() { return (blockDim.x >> 5) * gridDim.x; }

// The same numbers in reverse order, for arrivals that are processed beside near entries: few of both do not share a
// warp. The leader block comes last.
__device__ __forceinline__ u32 grid_warp_from_behind() {
    u32 block = (2 * gridDim.x - 2 - blockIdx.x) % gridDim.x;
    return ((blockDim.x - 1 - threadIdx.x) >> 5) * gridDim.x + block;
}

// The number of lanes in a mask below this lane.
__device__ __forceinline__ u32 rank_among(u32 mask) { return __popc(mask & ((1u << lane()) - 1)); }

// Inclusive prefix sum over the lanes of a warp; all 32 lanes call it.
template <class Word>
__device__ __forceinline__ Word warp_inclusive_sum(Word mine) {
#pragma unroll
    for (int step = 1; step < 32; step <<= 1) {
        Word before = __shfl_up_sync(~0u, mine, step);
        if (lane() >= step) mine += before;
    }
    return mine;
}

// One slot for each lane with `wanted`, by one atomic a warp; all 32 lanes call it.
template <class Word>
__device__ __forceinline__ Word warp_slot(Word* count, bool wanted) {
    u32 mask = __ballot_sync(~0u, wanted);
    if (!mask) return 0;
    int leader = __ffs(mask) - 1;
    Word base = 0;
    if ((int)lane() == leader) base = atomicAdd(count, (Word)__popc(mask));
    base = __shfl_sync(~0u, base, leader);
    return base + rank_among(mask);
}

// Adds the values of all lanes to a sum, with one atomic a warp; all 32 lanes call it. With an atomic a thread a kernel
// ends 70 us later.
__device__ __forceinline__ void warp_add_to(u64* sum, u64 mine) {
    for (u32 apart = 16; apart; apart /= 2) mine += __shfl_xor_sync(~0u, mine, apart);
    if (lane() == 0 && mine) atomicAdd(sum, mine);
}

// Lowers a distance to the minimum over the lanes, with one atomic a warp; all 32 lanes call it.
__device__ __forceinline__ void warp_lower(Distance* place, Distance mine) {
    for (u32 apart = 16; apart; apart /= 2) mine = min(mine, __shfl_xor_sync(~0u, mine, apart));
    if (lane() == 0 && mine != LARGEST_DISTANCE) atomic_min(place, mine);
}

// Sets a vertex's bit; true if it was clear.
__device__ __forceinline__ bool set_bit(u32* bits, u32 vertex) {
    u32 bit = 1u << (vertex & 31);
    return !(atomicOr(&bits[vertex >> 5], bit) & bit);
}
