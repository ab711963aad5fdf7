// Sums of weights of which either may be UNREACHED.
#pragma once

#include "primitives/arithmetic.cuh"

// a + b, or UNREACHED if there is no path; sets `overflowed` where the sum of a path does not fit.
__device__ __forceinline__ Distance path_sum(Distance a, Distance b, u32& overflowed) {
    if (a == UNREACHED || b == UNREACHED) return UNREACHED;
    Distance sum = plus(a, b);
    if (wraps(a, b, sum) || sum == UNREACHED) {
        overflowed = 1;
        return UNREACHED;
    }
    return sum;
}

// The same where a sum that does not fit is of no interest.
__device__ __forceinline__ Distance path_sum(Distance a, Distance b) {
    u32 overflowed = 0;
    return path_sum(a, b, overflowed);
}
