#pragma once

#include "primitives/memory_order.cuh"
#include "primitives/warp.cuh"

// Copies a struct with all loads in flight at once, a few words a lane.
template <class T>
struct Copy {
    static_assert(sizeof(T) % 8 == 0, "words of 8 bytes");
    static constexpr u32 words = sizeof(T) / 8, each = (words + 31) / 32;
    u64 kept[each] = {};  // without a value the compiler would keep old words in local memory, and load and store them

    __device__ __forceinline__ explicit Copy(const T* from) {
#pragma unroll
        for (u32 k = 0; k < each; k++)
            if (32 * k + lane() < words) kept[k] = load_volatile((const u64*)from + 32 * k + lane());
    }

    __device__ __forceinline__ void put(T* to) const {
#pragma unroll
        for (u32 k = 0; k < each; k++)
            if (32 * k + lane() < words) ((u64*)to)[32 * k + lane()] = kept[k];
    }
};
