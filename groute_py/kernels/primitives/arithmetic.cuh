// Sums and minima of distances.
#pragma once

#include "layout/types.cuh"

// a + b. Integer sums wrap; the caller detects that with wraps().
__device__ __forceinline__ Distance plus(Distance a, Distance b) {
#if DISTANCE == 0
    return (int)((u32)a + (u32)b);
#elif DISTANCE == 1
    return (i64)((u64)a + (u64)b);
#else
    return a + b;
#endif
}

// Whether the integer sum a + b has overflowed: then a and b have the same sign, and the sum has the other. An
// expression has no sum then; see algebra.cuh.
__device__ __forceinline__ bool wraps(Distance a, Distance b, Distance sum) {
#ifdef EXTENDED
    return sum == UNREACHED;
#elif (DISTANCE == 0 || DISTANCE == 1) && !MAXIMA
    return ((a ^ sum) & (b ^ sum)) < 0;
#else
    return false;
#endif
}

// The smallest distance greater than this one, at most LARGEST_DISTANCE.
__device__ __forceinline__ Distance just_above(Distance distance) {
#if DISTANCE == 0 || DISTANCE == 1
    return distance < LARGEST_DISTANCE ? distance + 1 : LARGEST_DISTANCE;
#elif DISTANCE == 2
    return nextafterf(distance, LARGEST_DISTANCE);
#else
    return nextafter(distance, LARGEST_DISTANCE);
#endif
}

// Atomic minimum. The order of IEEE floats is that of their bits as signed integers for positive
// ones and reversed as unsigned for negative ones; there is no -0.0 and no NaN among distances.
__device__ __forceinline__ Distance atomic_min(Distance* place, Distance value) {
#if DISTANCE == 0 || DISTANCE == 1
    return atomicMin(place, value);
#elif DISTANCE == 2
    return value >= 0 ? __int_as_float(atomicMin((int*)place, __float_as_int(value)))
                      : __uint_as_float(atomicMax((u32*)place, __float_as_uint(value)));
#else
    return value >= 0 ? __longlong_as_double(atomicMin((i64*)place, __double_as_longlong(value)))
                      : __longlong_as_double((i64)atomicMax((u64*)place, (u64)__double_as_longlong(value)));
#endif
}

#if RECORDS
// A distance and a number in one word.
__device__ __forceinline__ u64 as_word(Distance distance, u32 number) {
#if DISTANCE == 0
    u32 bits = (u32)distance;
#else
    u32 bits = __float_as_uint(distance);
#endif
    return (u64)bits << 32 | number;
}

__device__ __forceinline__ Distance distance_in(u64 word) {
#if DISTANCE == 0
    return (int)(u32)(word >> 32);
#else
    return __uint_as_float((u32)(word >> 32));
#endif
}
#endif
