// Predecessors as a by-product: with each improvement of a vertex its new distance and the arc's tail are
// kept, as one word whose minimum wins. It is sent on its way and not waited for.
//
// An improvement is strict, so a vertex takes each distance once, and its last improvement has a tail u of
// its own. Then u -> v is tight: its sum is the distance of v, which a later fall of u's distance could only
// have lowered. And the records are a tree, if no weight is negative. Along u -> v distances do not fall.
// Where u and v are level, u had its last distance before v had: the sum was made from one at most as far
// as v, which cannot have been farther than u's last. So no cycle closes.
//
// It takes distances of 32 bits that are not negative, and all improvements made here: a rank alone.
// Otherwise predecessors are claimed afterwards; see claim.cu.
#pragma once

#define UNRECORDED (~0ull)

__device__ __forceinline__ void record(const Work& work, u32 head, Distance distance, u32 tail) {
#if DISTANCE == 0
    if (work.record) atomicMin(&work.record[head], (u64)(u32)distance << 32 | tail);
#elif DISTANCE == 2
    if (work.record) atomicMin(&work.record[head], (u64)__float_as_uint(distance) << 32 | tail);
#endif
}
