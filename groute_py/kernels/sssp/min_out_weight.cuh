// Weight classes of vertices, stored beside the heads of arcs. If long arcs are deferred
// (sssp/pull_deferred.cuh), most vertices have nothing to relax: their light arcs lead back to the vertices that
// reached them. Listing such a vertex and looking up its row is wasted work.
//
// The bits of an arc's head above VERTEX_BITS are its weight class: a lower bound, quantised, of the weight of the
// lightest arc from the head to a vertex other than the arc's tail. An arc back to the tail improves nothing, because
// weights are not negative. Weight classes exist only for symmetric graphs, in which the arcs from a vertex are the
// arcs to it; see sssp/min_out_weight.cu. In grid-wide steps a vertex keeps its weight class when it is pushed to peers
// or put in far, and each rank applies its own bound. A vertex without such an arc (DEAD_END) is not pushed.
#pragma once

#include "layout/graph.cuh"
#include "primitives/arithmetic.cuh"

#define DEAD_END 15u  // the weight class of an arc from whose head none leads on; 0 says nothing

__device__ __forceinline__ u32 vertex_in(u32 word) { return PULLS ? word & ((1u << VERTEX_BITS) - 1) : word; }

__device__ __forceinline__ u32 weight_class_in(u32 word) { return PULLS ? word >> VERTEX_BITS : 0; }

__device__ __forceinline__ u32 with_weight_class(u32 vertex, u32 weight_class) {
    return vertex | weight_class << VERTEX_BITS;
}

// Without the weight class.
__device__ __forceinline__ Arc bare(Arc arc) {
    arc.head = vertex_in(arc.head);
    return arc;
}

// The least weight of a weight class: 1, 2, 3, 4, 6, 8, 12 units and so on, powers of two and the values halfway
// between. The unit is a power of two, so floats are exact.
__device__ __forceinline__ Distance least_weight(u32 weight_class, Distance unit) {
    return unit * (Distance)((2 | (weight_class & 1)) << (weight_class >> 1) >> 1);
}

// The weight class for a lightest weight; NO_ARC if there is none.
__device__ __forceinline__ u32 weight_class_of(const Share& share, Distance lightest) {
    if (share.unit == 0) return 0;
    if (lightest == NO_ARC) return DEAD_END;
    u32 units = (u32)min(lightest / (Distance)share.unit, (Distance)128);
    if (units < 2) return units;
    u32 high = 31 - __clz((int)units);
    return 2 * high | (units >> (high - 1) & 1);
}

// Whether a vertex at this distance may have an arc to relax before the bound. Without a bound: whether it may have any
// arc to a vertex other than the tail.
__device__ __forceinline__ bool may_relax_before(const Share& share, u32 word, Distance distance, Distance bound) {
    u32 weight_class = weight_class_in(word);
    if (weight_class == 0) return true;
    if (weight_class == DEAD_END) return false;
    return bound == NO_BOUND || plus(distance, least_weight(weight_class, (Distance)share.unit)) < bound;
}
