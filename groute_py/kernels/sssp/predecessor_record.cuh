// Predecessors written during relaxation. An entry carries the tail of the arc that produced it. When the entry is
// taken from its list and is not stale, its distance and tail are stored as one word (the record), without waiting. An
// older record may overwrite a newer one; its distance reveals that.
//
// Why it is a tree, if no weight is negative. An improvement is strict, so a vertex takes each distance once, and the
// entry of its last distance has one tail u. The arc u -> v is tight: its sum is the distance of v, and a later fall of
// u's distance could only have lowered that. Distances do not fall along u -> v. If u and v are level, u had its last
// distance before v: the sum was made from a distance of u that is at most that of v, and that cannot have been greater
// than the last one of u. So no cycle closes.
//
// Conditions: 32-bit distances that are not negative, and all improvements of a vertex are made on this rank (one rank,
// or a team in which owners lower their own distances and have a row for each tail; a distance received for a tail was
// valid at its owner before, which keeps the order of level vertices). Otherwise, or if an entry was lost to a full
// list, predecessors are assigned afterwards; see sssp/assign_predecessors.cu.
//
// Entries that a scan of far makes have no tail. So the entries of far's list are recorded before the scan; with the
// pull phase, vertices that become far or are not listed are recorded at once, as pulled ones are. If a record is
// missing all the same, the in-arcs of the vertex are searched or, if they are not stored, the out-arcs of the heads of
// its own arcs (sssp/assign_predecessors.cu).
#pragma once

#include "layout/worklists.cuh"
#include "primitives/arithmetic.cuh"
#include "primitives/memory_order.cuh"

#define UNRECORDED (~0ull)

#if RECORDS
__device__ __forceinline__ void record(const Work& work, u32 vertex, Distance distance, u32 tail) {
    // no tail: recorded earlier (far, pull), or a mirror, or listed from the spill bitmap
    if (tail == NO_VERTEX) return;
    if (work.record) store_streaming(&work.record[vertex], as_word(distance, tail));
}

// Whether a record holds a tail for that distance.
__device__ __forceinline__ bool is_record_of(u64 record, Distance distance) {
    return (u32)record != NO_VERTEX && record >> 32 == as_word(distance, 0) >> 32;
}
#else
__device__ __forceinline__ void record(const Work&, u32, Distance, u32) {}

__device__ __forceinline__ bool is_record_of(u64, Distance) { return false; }
#endif
