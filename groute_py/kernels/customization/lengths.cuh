// Lengths: weights and distances as customization has them. The greatest is less than half of NOTHING, so sums of two
// never wrap, and a sum with NOTHING is not less than NOTHING; see hierarchy/separators/lengths.py. Integers only.
#pragma once

#include "primitives/memory_order.cuh"

#if DISTANCE == 0
typedef u32 Length;
#define NOTHING 0x7fffffffu
#define LIMIT 0x3fffffffu
#else
typedef u64 Length;
#define NOTHING 0x7fffffffffffffffull
#define LIMIT 0x3fffffffffffffffull
#endif

#define UNREACHED_DISTANCE 0x7fffffffffffffffll  // as users get it

// What a kernel reports, in one word.
#define TOO_WIDE 1u  // a length is above LIMIT
#define NO_SUCH_VERTEX 2u

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
