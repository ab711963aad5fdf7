// Lengths: weights and distances as customization has them. The greatest is less than half of NOTHING, so sums of two
// never wrap, and a sum with NOTHING is not less than NOTHING; see hierarchy/separators/lengths.py. A float64, which is
// not negative, is held as its bits: they compare as the numbers do, and NOTHING is infinity.
#pragma once

#include "primitives/memory_order.cuh"

#if DISTANCE == 0
typedef u32 Length;
#define NOTHING 0x7fffffffu
#define LIMIT 0x3fffffffu
#elif DISTANCE == 3
typedef u64 Length;
#define NOTHING 0x7ff0000000000000ull
#define LIMIT (NOTHING - 1)
#else
typedef u64 Length;
#define NOTHING 0x7fffffffffffffffull
#define LIMIT 0x3fffffffffffffffull
#endif

// What a kernel reports, in one word.
#define TOO_WIDE 1u  // a length is above LIMIT
#define NO_SUCH_VERTEX 2u

__device__ __forceinline__ Length sum_of(Length one, Length other) {
#if DISTANCE == 3
    return (u64)__double_as_longlong(__longlong_as_double((i64)one) + __longlong_as_double((i64)other));
#else
    return one + other;
#endif
}

// A length as a number to calculate with.
__device__ __forceinline__ double as_number(Length length) {
#if DISTANCE == 3
    return __longlong_as_double((i64)length);
#else
    return (double)length;
#endif
}

// The two lengths of an arc upward.
struct alignas(2 * sizeof(Length)) Both {
    Length up, down;
};

__device__ __forceinline__ Both load_both(const Both* place) {
    Both both;
#if DISTANCE == 0
    *(u64*)&both = load_l2((const u64*)place);
#else
    *(ulonglong2*)&both = load_l2((const ulonglong2*)place);
#endif
    return both;
}

__device__ __forceinline__ bool is_wide(Length length) { return length > LIMIT && length < NOTHING; }

// A length as users get distances.
__device__ __forceinline__ i64 as_distance(Length length) {
    return length < NOTHING ? (i64)length : 0x7fffffffffffffffll;
}

// A vertex as users give it, in 4 or 8 bytes; what is none of `vertices` is reported, and counts as vertex 0.
__device__ __forceinline__ u32 vertex_at(const void* ends, u32 bytes, u64 place, u32 vertices, u32* flags) {
    const u64 vertex = bytes == 8 ? ((const u64*)ends)[place] : ((const u32*)ends)[place];
    if (vertex < vertices) return (u32)vertex;
    atomicOr(flags, NO_SUCH_VERTEX);
    return 0;
}
