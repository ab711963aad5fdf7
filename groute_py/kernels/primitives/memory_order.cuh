// Loads, stores and fences by their memory order, and dynamic shared memory. Each has two definitions: PTX, and plain
// C++ for the emulation on the host (tests/support/emulation), which defines `yield_to_others`.
//
// A fence orders all accesses of its thread before it and after it, and it is cumulative: it also orders what the
// thread has seen of others, such as the writes of its block before a __syncthreads(). An acquire load that reads a
// word which was written after a fence makes everything before that fence visible. The scope `gpu` covers the threads
// of one GPU, `system` also its peers and the host.
#pragma once

#include "layout/types.cuh"

#ifdef __CUDACC__

__device__ __forceinline__ void fence_gpu() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

__device__ __forceinline__ void fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

__device__ __forceinline__ u32 load_acquire_gpu(const u32* place) {
    u32 word;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(word) : "l"(place) : "memory");
    return word;
}

__device__ __forceinline__ u64 load_acquire_system(const u64* place) {
    u64 word;
    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(word) : "l"(place) : "memory");
    return word;
}

__device__ __forceinline__ ulonglong2 load_volatile(const ulonglong2* place) {
    ulonglong2 words;
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(words.x), "=l"(words.y) : "l"(place));
    return words;
}

__device__ __forceinline__ void prefetch_l2(const void* place) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(place));
}

#define DYNAMIC_SHARED(Type, name) extern __shared__ __align__(16) Type name[]

#else

static void yield_to_others();  // lets other threads go on, since a load that acquires may be one of a wait for them

inline void fence_gpu() { __atomic_thread_fence(__ATOMIC_ACQ_REL); }

inline void fence_system() { __atomic_thread_fence(__ATOMIC_ACQ_REL); }

inline u32 load_acquire_gpu(const u32* place) {
    yield_to_others();
    return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

inline u64 load_acquire_system(const u64* place) {
    yield_to_others();
    return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

inline ulonglong2 load_volatile(const ulonglong2* place) { return *place; }

inline void prefetch_l2(const void*) {}

#define DYNAMIC_SHARED(Type, name) alignas(16) static thread_local Type name[1 << 16]

#endif

// Volatile load: relaxed, of system scope. It is issued here, and each time. The compiler moves other loads to their
// first use, behind a branch that waits for another load, and the assembler moves them behind an atomic whose result is
// needed. Then accesses that could share one round trip to L2 take two.
template <class Word>
__device__ __forceinline__ Word load_volatile(const Word* place) {
    return *(const volatile Word*)place;
}

// Volatile store: relaxed, of system scope. A thread that acquires the word also sees what was written before the
// writer's last fence.
template <class Word>
__device__ __forceinline__ void store_volatile(Word* place, Word value) {
    *(volatile Word*)place = value;
}

// A word as L2 has it: other multiprocessors write it, and a line in L1 may be old.
template <class Word>
__device__ __forceinline__ Word load_l2(const Word* place) {
    return __ldcg(place);
}

// Streaming (evict first): words that are read or written about once.
template <class Word>
__device__ __forceinline__ Word load_streaming(const Word* place) {
    return __ldcs(place);
}

template <class Word>
__device__ __forceinline__ void store_streaming(Word* place, Word value) {
    __stcs(place, value);
}

// A word that no thread writes during the kernel.
template <class Word>
__device__ __forceinline__ Word load_read_only(const Word* place) {
    return __ldg(place);
}
