// Predecessors as a by-product: an entry carries the tail of the arc that its vertex became nearer by, and
// when it is taken from its list and not stale, distance and tail are recorded, as one word. It is sent on its
// way and not waited for. An older record may come later than a newer one and stay: its distance tells.
//
// An improvement is strict, so a vertex takes each distance once, and the entry for its last distance has a
// tail u of its own. Then u -> v is tight: its sum is the distance of v, which a later fall of u's distance
// could only have lowered. And the records are a tree, if no weight is negative. Along u -> v distances do
// not fall. Where u and v are level, u had its last distance before v had: the sum was made from one at most
// as far as v, which cannot have been farther than u's last. So no cycle closes.
//
// It takes distances of 32 bits that are not negative, and all improvements made here: a rank alone, or one of a
// team, which improves what it owns by itself, and has a row for every tail. (What it is told of a tail was so at the
// tail's owner before, which keeps the order of what is level.) Where that is not so, or an entry was lost to a full
// list, predecessors are claimed afterwards; see claim.cu.
//
// Where many vertices are far they are looked for among all, and an entry made so has no tail. So what far's list holds
// is recorded first; or, where outer arcs are pulled, what is put in far by relaxing, or in no list, at once, as what is
// pulled is. Where a record is missing all the same, the arcs that lead to the vertex are looked through, or if they are
// not at hand those from where its own lead.
#pragma once

#define UNRECORDED (~0ull)

#if RECORDS
__device__ __forceinline__ void record(const Work& work, u32 vertex, Distance distance, u32 tail) {
    // recorded when it was put in far or looked for there; or a mirror, or listed anew: then only an older record can hold
    if (tail == NO_VERTEX) return;
    if (work.record) __stcs(&work.record[vertex], as_word(distance, tail));
}

// Whether a record holds a tail for that distance.
__device__ __forceinline__ bool is_record_of(u64 record, Distance distance) {
    return (u32)record != NO_VERTEX && record >> 32 == as_word(distance, 0) >> 32;
}
#else
__device__ __forceinline__ void record(const Work&, u32, Distance, u32) {}

__device__ __forceinline__ bool is_record_of(u64, Distance) { return false; }
#endif
