// Sums of numbers that are not negative, exact and so in any order: those of kernels/cpu/fixed_point.py.
#pragma once

#include "layout/types.cuh"

#define UNITS 18446744073709551616.0

// The whole part of a number, and its fraction in units of 2^-64.
struct Fixed {
    u64 low, high;
};

__device__ __forceinline__ Fixed fixed(double number) {
    u64 high = (u64)number;
    return {(u64)((number - (double)high) * UNITS), high};
}

__device__ __forceinline__ double as_double(const Fixed& number) {
    return (double)number.high + (double)number.low / UNITS;
}

__device__ __forceinline__ void add(Fixed& sum, const Fixed& more) {
    sum.low += more.low;
    sum.high += more.high + (sum.low < more.low);
}

__device__ __forceinline__ void add(double& sum, double more) { sum += more; }

__device__ __forceinline__ void atomic_add(Fixed* place, Fixed more) {
    if (more.low) {
        u64 before = atomicAdd(&place->low, more.low);
        if (before + more.low < before) more.high++;
    }
    if (more.high) atomicAdd(&place->high, more.high);
}

// The square of a number times `scale`; the product is not to be fused with the conversion.
__device__ __forceinline__ Fixed square(double number, double scale) {
    double small = __dmul_rn(number, scale);
    return fixed(__dmul_rn(small, small));
}
