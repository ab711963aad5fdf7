// Entries with their rows.
#pragma once

#include "primitives/access.cuh"
#include "sssp/worklists.cuh"

struct Ready {  // an entry whose row has been looked up
    Distance distance;
    u32 vertex;
    u32 tail;  // of the arc it came by, where that is recorded
    u32 degree;
    Offset begin;
};

__device__ __forceinline__ Entry entry_of(const Ready& ready) {
    Entry entry;
    entry.distance = ready.distance;
    entry.vertex = ready.vertex;
    return entry;
}

// An entry whose row has not been looked up ...
__device__ __forceinline__ Ready without_row(const Entry& entry, u32 tail) {
    return {entry.distance, entry.vertex, tail};
}

// ... of a global list.
__device__ __forceinline__ Ready entry_in(const List& list, u32 place) {
    return without_row(load(&list.entries[place]), tail_in(list, place));
}

struct Row {  // of a vertex, in the arcs
    Offset begin, end;
};

__device__ __forceinline__ Row row_of(const Share& share, u32 vertex) {
    return {load_volatile(&share.offsets[vertex]), load_volatile(&share.offsets[vertex + 1])};
}

__device__ __forceinline__ void set_row(Ready& ready, const Row& row) {
    ready.begin = row.begin;
    ready.degree = (u32)(row.end - row.begin);
}

__device__ __forceinline__ Ready with_row(const Share& share, Ready ready) {
    set_row(ready, row_of(share, ready.vertex));
    return ready;
}

#define PROBES 4  // probed arcs of a sorted row: numbers 4, 16, 64 and ROW_CHUNK

// Shortens a row, whose arcs ascend by weight, at the first probed arc that is too heavy. At most four times as many
// arcs are left as are light enough, or four.
template <class TooHeavy>
__device__ __forceinline__ void shorten(const Arc* arcs, Ready& ready, TooHeavy is_too_heavy) {
    const u32 probes[PROBES] = {4, 16, 64, ROW_CHUNK};
    Arc probed[PROBES];
#pragma unroll
    for (int k = 0; k < PROBES; k++)
        if (probes[k] < ready.degree) probed[k] = load(&arcs[ready.begin + probes[k]]);
#pragma unroll
    for (int k = PROBES - 1; k >= 0; k--)
        if (probes[k] < ready.degree && is_too_heavy(probed[k])) ready.degree = probes[k];
}
