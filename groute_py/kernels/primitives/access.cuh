// Entries, row chunks and arcs, each in one load or store.
#pragma once

#include "layout/worklists.cuh"
#include "primitives/memory_order.cuh"

// An entry as L2 has it: other multiprocessors write entries.
__device__ __forceinline__ Entry load(const Entry* place) {
    Entry entry;
#if DISTANCE == 0 || DISTANCE == 2
    *(u64*)&entry = __ldcg((const u64*)place);
#else
    *(ulonglong2*)&entry = __ldcg((const ulonglong2*)place);
#endif
    return entry;
}

// Writes an entry with its padding in one store, because readers load all of it at once.
__device__ __forceinline__ void store(Entry* place, const Entry& entry) {
#if DISTANCE == 0 || DISTANCE == 2
    *(u64*)place = *(const u64*)&entry;
#else
    *(ulonglong2*)place = *(const ulonglong2*)&entry;
#endif
}

__device__ __forceinline__ Item load(const Item* place) {
    Item item;
    *(ulonglong2*)&item = __ldcg((const ulonglong2*)place);
    return item;
}

// Loads an arc as streaming data (evict first), because arcs are read about once and distances often.
__device__ __forceinline__ Arc load(const Arc* place) {
    Arc arc;
#if DISTANCE == 0 || DISTANCE == 2
    *(u64*)&arc = __ldcs((const u64*)place);
#else
    *(ulonglong2*)&arc = __ldcs((const ulonglong2*)place);
#endif
    return arc;
}

__device__ __forceinline__ Arc anew(const Arc* arc) {
#if DISTANCE == 0 || DISTANCE == 2
    u64 word = anew((const u64*)arc);
#else
    const ulonglong2* place = (const ulonglong2*)arc;
    ulonglong2 word;
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(word.x), "=l"(word.y) : "l"(place));
#endif
    return *(const Arc*)&word;
}
