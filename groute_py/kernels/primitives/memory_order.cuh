// MEMORY ORDER
#pragma once

#include "layout/types.cuh"

// A distance as L2 has it: other multiprocessors lower distances, and a line in L1 may be old.
__device__ __forceinline__ Distance current(const Distance* place) { return __ldcg(place); }

// Orders the accesses of this thread before the fence and after it, as threads of this GPU see them ...
__device__ __forceinline__ void order() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// ... and as peers see them.
__device__ __forceinline__ void order_with_peers() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

// Loads a word. Writes that its writer made before a fence are visible after the load: writes of this GPU ...
__device__ __forceinline__ u32 acquire(const u32* place) {
    u32 word;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(word) : "l"(place) : "memory");
    return word;
}

// ... and of peers.
__device__ __forceinline__ u64 acquire_from_peers(const u64* place) {
    u64 word;
    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(word) : "l"(place) : "memory");
    return word;
}

__device__ __forceinline__ void fetch_ahead(const void* place) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(place));
}

// Volatile load: it is issued here, and each time. The compiler moves other loads to their first use, behind a branch
// that waits for another load, and the assembler moves them behind an atomic whose result is needed. Then accesses
// that could share one round trip to L2 take two.
template <class Word>
__device__ __forceinline__ Word anew(const Word* place) {
    return *(const volatile Word*)place;
}
