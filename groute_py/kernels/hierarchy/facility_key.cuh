// A distance and the facility that it is from in one word, so that a minimum takes the first of those equally near.
#pragma once

#include "layout/types.cuh"

// The distance in the upper half; the number of the facility among all of them in the lower one. Distances are 32-bit
// integers: kernels with keys are launched with no others, though they compile.
typedef u64 Key;

#define NO_KEY 0xffffffffffffffffull  // of an unreached vertex

__device__ __forceinline__ u32 distance_of(Key key) { return (u32)(key >> 32); }

__device__ __forceinline__ u32 facility_of(Key key) { return (u32)key; }

__device__ __forceinline__ Key atomic_min(Key* place, Key key) { return atomicMin(place, key); }

// As that of distances: the key behind a path, or NO_KEY; sets `overflowed` where the sum does not fit.
__device__ __forceinline__ Key path_sum(Key key, Distance weight, u32& overflowed) {
    if (key == NO_KEY || weight == NO_ARC) return NO_KEY;
    const u32 sum = distance_of(key) + (u32)weight;
    if (sum >= (u32)UNREACHED) {
        overflowed = 1;
        return NO_KEY;
    }
    return (u64)sum << 32 | facility_of(key);
}
