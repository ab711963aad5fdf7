// Shortcuts that contracting a vertex needs: one for each pair of its neighbours, unless a witness spares it. A witness
// is a path of one or two arcs that is as short as the path through the vertex. (Geisberger et al., "Exact routing in
// large road networks using contraction hierarchies", 2012, section 3.2, with witnesses of at most two arcs.)
#pragma once

#include "hierarchy/sums.cuh"
#include "layout/hierarchy.cuh"
#include "primitives/warp.cuh"

// A pair of neighbours of a vertex, and the path through it in both directions.
struct Pair {
    u32 a, b;
    Distance forward, backward;  // from a to b, from b to a; UNREACHED where no shortcut is needed

    __device__ __forceinline__ bool needed() const { return forward != UNREACHED || backward != UNREACHED; }
};

// Drops the directions of a pair for which there is a witness that runs neither through `via` nor through a vertex that
// leaves in the same round, since two vertices could each rely on the other. `leaving` may be null.
__device__ __forceinline__ void spare(const Skeleton& s, const u8* leaving, u32 via, Pair& pair) {
    u32 i = s.offsets[pair.a], j = s.offsets[pair.b];
    const u32 end = s.offsets[pair.a + 1], stop = s.offsets[pair.b + 1];
    for (; i < end && pair.needed(); i++) {
        const u32 middle = s.heads[i];
        if (middle == pair.b) {
            if (pair.forward != UNREACHED && s.out[i] <= pair.forward) pair.forward = UNREACHED;
            if (pair.backward != UNREACHED && s.in[i] <= pair.backward) pair.backward = UNREACHED;
            continue;
        }
        while (j < stop && s.heads[j] < middle) j++;
        if (j == stop || s.heads[j] != middle || middle == via || (leaving && leaving[middle])) continue;
        if (pair.forward != UNREACHED && path_sum(s.out[i], s.in[j]) <= pair.forward) pair.forward = UNREACHED;
        if (pair.backward != UNREACHED && path_sum(s.out[j], s.in[i]) <= pair.backward) pair.backward = UNREACHED;
    }
}

// The shortcuts of a vertex, by GROUP lanes of a warp together: 1 or 32. `visit(pair, needed)` is called by all of
// them, for each pair of neighbours.
template <int GROUP, class Visit>
__device__ __forceinline__ void for_each_shortcut(const Skeleton& s, const u8* leaving, u32 vertex, u32& overflowed,
                                                  Visit visit) {
    const u32 begin = s.offsets[vertex], degree = s.offsets[vertex + 1] - begin;
    const u32 pairs = degree > 1 ? degree * (degree - 1) / 2 : 0;
    u32 first = 0, place = lane() % GROUP;  // of the pair, in the row of its first neighbour
    for (u32 base = 0; base < pairs; base += GROUP, place += GROUP) {
        Pair pair = {0, 0, UNREACHED, UNREACHED};
        if (base + lane() % GROUP < pairs) {
            for (; place >= degree - 1 - first; first++) place -= degree - 1 - first;
            const u32 i = begin + first, j = i + 1 + place;
            pair = {s.heads[i], s.heads[j], path_sum(s.in[i], s.out[j], overflowed),
                    s.symmetric ? UNREACHED : path_sum(s.in[j], s.out[i], overflowed)};
            spare(s, leaving, vertex, pair);
        }
        visit(pair, pair.needed());
    }
}
