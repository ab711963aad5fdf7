// Sweeps over one level by a whole grid, with as many lanes of a warp for each vertex as there are threads for.
// Vertices of early levels have many arcs.
#pragma once

#include "hierarchy/facility_key.cuh"
#include "hierarchy/sums.cuh"
#include "layout/hierarchy.cuh"
#include "primitives/memory_order.cuh"
#include "primitives/warp.cuh"

// GROUP lanes take the arcs of a vertex; visit(place, part, GROUP) is called by each of them, and inlined, so that the
// number of lanes is a constant there. (A generic lambda could take it as a type, which NVRTC 13.0 refuses.)
template <u32 GROUP, class Visit>
__device__ __forceinline__ void visit_by(u32 begin, u32 end, Visit visit) {
    const u32 part = threadIdx.x % GROUP;
    for (u32 place = begin + grid_thread() / GROUP; place < end; place += grid_threads() / GROUP)
        visit(place, part, GROUP);
}

template <class Visit>
__device__ __forceinline__ void visit_level(const Hierarchy& h, u32 level, Visit visit) {
    const u32 begin = h.levels[level], end = h.levels[level + 1], each = grid_threads() / max(end - begin, 1u);
    if (each >= 32)
        visit_by<32>(begin, end, visit);
    else if (each >= 4)
        visit_by<4>(begin, end, visit);
    else
        visit_by<1>(begin, end, visit);
}

// Lowers the lengths of a level by those of earlier levels, which are final. A length is a distance or a key.
template <class Length>
__device__ __forceinline__ void sweep_level(const Hierarchy& h, u32 level, Length* lengths, u32& overflowed) {
    visit_level(h, level, [&](u32 place, u32 part, u32 lanes) {
        Length best = load_l2(&lengths[place]);
        for (u32 i = h.offsets[place] + part; i < h.offsets[place + 1]; i += lanes) {
            const Arc arc = h.down[i];
            best = min(best, path_sum(load_l2(&lengths[arc.head]), arc.weight, overflowed));
        }
        const u32 mask = lanes == 32 ? ~0u : ((1u << lanes % 32) - 1) << (lane() / lanes * lanes);
        for (u32 apart = lanes / 2; apart; apart /= 2) best = min(best, __shfl_xor_sync(mask, best, apart));
        if (part == 0) lengths[place] = best;
    });
}
