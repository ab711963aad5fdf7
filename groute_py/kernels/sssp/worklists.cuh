// Global worklists, and the list of halo vertices that improved.
#pragma once

#include "layout/control.cuh"
#include "primitives/access.cuh"
#include "primitives/warp.cuh"

// A global list.
struct List {
    Entry* entries;
    u32* tails;  // beside them, or null
    u32* count;
    u32 capacity;
    bool far;
};

__device__ __forceinline__ List near_list(const Work& work, Control* control, u32 step) {
    return {work.near[step % 2], work.near_tail[step % 2], &control->near_count[step % 3], work.capacity, false};
}

__device__ __forceinline__ List far_list(const Work& work, Control* control, u32 side) {
    return {work.far[side], work.far_tail[side], &control->far_count[side], work.far_capacity, true};
}

__device__ __forceinline__ u32 tail_in(const List& list, u32 place) {
    return RECORDS && list.tails ? load_l2(&list.tails[place]) : NO_VERTEX;
}

// Writes an entry to its place in a list. If near is full, the vertex's spill bit is set. If far is full, the entry
// is dropped: the next split scans all vertices (grid_split_far).
__device__ __forceinline__ void put(const Work& work, Control* control, const List& list, u32 place, const Entry& entry,
                                    u32 tail) {
    if (place < list.capacity) {
        store(&list.entries[place], entry);
        if (RECORDS && list.tails) list.tails[place] = tail;
    } else if (!list.far) {
        set_bit(work.spilled, entry.vertex);
        control->any_spilled = 1;
    }
}

// Appends the entries of the lanes with `wanted` to a list; all 32 lanes call it.
__device__ __forceinline__ void warp_append(const Work& work, Control* control, const List& list, const Entry& entry,
                                            u32 tail, bool wanted) {
    u32 place = warp_slot(list.count, wanted);
    if (wanted) put(work, control, list, place, entry, tail);
}

// Lists a halo vertex for the outbox, once until the outbox is emptied; all 32 lanes call it.
__device__ __forceinline__ void warp_mark_dirty(const Share& share, const Work& work, Control* control, u32 vertex,
                                                bool improved) {
    bool first = improved && set_bit(work.dirty_bits, vertex - share.rows);
    u32 place = warp_slot(&control->dirty_count, first);
    if (first) work.dirty[place] = vertex;
}

// warp_mark_dirty for a single lane.
__device__ __forceinline__ void mark_dirty(const Share& share, const Work& work, Control* control, u32 vertex) {
    if (set_bit(work.dirty_bits, vertex - share.rows)) work.dirty[atomicAdd(&control->dirty_count, 1u)] = vertex;
}
