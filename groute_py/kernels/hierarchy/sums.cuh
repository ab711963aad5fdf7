// Sums of weights of which either may be NOTHING.
#pragma once

#include "primitives/arithmetic.cuh"

// a + b, or NOTHING if there is no path; sets `overflowed` where the sum of a path does not fit.
__device__ __forceinline__ Distance path_sum(Distance a, Distance b, u32& overflowed) {
    if (a == NOTHING || b == NOTHING) return NOTHING;
    Distance sum = plus(a, b);
    if (wraps(a, b, sum) || sum == NOTHING) {
        overflowed = 1;
        return NOTHING;
    }
    return sum;
}

// The same where a sum that does not fit is of no interest.
__device__ __forceinline__ Distance path_sum(Distance a, Distance b) {
    u32 overflowed = 0;
    return path_sum(a, b, overflowed);
}
