// Entries, row chunks and arcs, each in one load or store.
#pragma once

#include "layout/worklists.cuh"
#include "primitives/memory_order.cuh"

// An entry as L2 has it: other multiprocessors write entries.
__device__ __forceinline__ Entry load(const Entry* place) {
    Entry entry;
#if DISTANCE == 0 || DISTANCE == 2
    *(u64*)&entry = load_l2((const u64*)place);
#else
    *(ulonglong2*)&entry = load_l2((const ulonglong2*)place);
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

__device__ __forceinline__ RowChunk load(const RowChunk* place) {
    RowChunk chunk;
    *(ulonglong2*)&chunk = load_l2((const ulonglong2*)place);
    return chunk;
}

// Loads an arc as streaming data (evict first), because arcs are read about once and distances often.
__device__ __forceinline__ Arc load(const Arc* place) {
    Arc arc;
#if DISTANCE == 0 || DISTANCE == 2
    *(u64*)&arc = load_streaming((const u64*)place);
#else
    *(ulonglong2*)&arc = load_streaming((const ulonglong2*)place);
#endif
    return arc;
}

__device__ __forceinline__ Arc load_volatile(const Arc* arc) {
#if DISTANCE == 0 || DISTANCE == 2
    u64 word = load_volatile((const u64*)arc);
#else
    ulonglong2 word = load_volatile((const ulonglong2*)arc);
#endif
    return *(const Arc*)&word;
}
