// Through the core, by the distances between all pairs of its vertices.
#pragma once

#include "hierarchy/facility_key.cuh"
#include "hierarchy/sums.cuh"
#include "layout/hierarchy.cuh"
#include "primitives/memory_order.cuh"

#define ENTRIES 8  // that a thread looks at together

// Lowers the lengths of the core, distances or keys, to those of paths through its entries, which a search upward has
// found. Others may lower an entry meanwhile, to the length of another path. `at(place)` is where a length lies.
template <class At>
__device__ __forceinline__ void cross_core(const Hierarchy& h, const u32* entries, u32 count, u32 thread, u32 threads,
                                           At at, u32& overflowed) {
    const u64 items = (u64)h.core_count * ((count + ENTRIES - 1) / ENTRIES);
    for (u64 item = thread; item < items; item += threads) {
        const u32 vertex = (u32)(item % h.core_count), first = (u32)(item / h.core_count) * ENTRIES;
        const auto before = load_l2(at(vertex));
        auto best = before;
#pragma unroll
        for (u32 k = 0; k < ENTRIES; k++) {
            if (first + k >= count) break;
            const u32 entry = load_l2(&entries[first + k]);
            const Distance through = h.core[(u64)entry * h.core_count + vertex];
            best = min(best, path_sum(load_l2(at(entry)), through, overflowed));
        }
        if (best < before) atomic_min(at(vertex), best);
    }
}
