// How far arcs lead on, said beside the heads of arcs. Where arcs that lead far are left to be pulled (outer.cuh), most
// vertices have nothing to relax: their light arcs lead back to where they were reached from. To list such a vertex, take
// it from its list and look up its row is for nothing.
//
// So the bits of an arc's head above VERTEX_BITS are its *grade*: what the lightest arc weighs at least that leads on from there, to
// another vertex than the tail. One that leads back improves nothing, since weights are not negative. Grades are found
// where all arcs lead back, so that those from a vertex are those to it; see onward.cu. In thick turns a vertex
// that is told to peers or put in far keeps its grade, and each rank goes by its own bound. Of a dead end no peer is told.
#pragma once

#define DEAD_END 15u    // the grade of an arc from whose head none leads on; 0 says nothing

__device__ __forceinline__ u32 vertex_in(u32 word) { return PULLS ? word & ((1u << VERTEX_BITS) - 1) : word; }

__device__ __forceinline__ u32 grade_in(u32 word) { return PULLS ? word >> VERTEX_BITS : 0; }

__device__ __forceinline__ u32 graded(u32 vertex, u32 grade) { return vertex | grade << VERTEX_BITS; }

// Without the grade.
__device__ __forceinline__ Arc bare(Arc arc) {
    arc.head = vertex_in(arc.head);
    return arc;
}

// What arcs of a grade weigh at least: 1, 2, 3, 4, 6, 8, 12 units and so on, powers of two and halfway between. A unit is
// a power of two, so that floats are exact.
__device__ __forceinline__ Distance least_weight(u32 grade, Distance unit) {
    return unit * (Distance)((2 | (grade & 1)) << (grade >> 1) >> 1);
}

// The grade of what leads on no lighter than that; NOTHING where nothing does.
__device__ __forceinline__ u32 grade_of(const Share& share, Distance lightest) {
    if (share.unit == 0) return 0;
    if (lightest == NOTHING) return DEAD_END;
    u32 units = (u32)min(lightest / (Distance)share.unit, (Distance)128);
    if (units < 2) return units;
    u32 high = 31 - __clz((int)units);
    return 2 * high | (units >> (high - 1) & 1);
}

// Whether an arc may lead on, and before the bound, from a vertex that is as near as that. Without a bound all do, but
// where none is.
__device__ __forceinline__ bool leads_on(const Share& share, u32 word, Distance distance, Distance bound) {
    u32 grade = grade_in(word);
    if (grade == 0) return true;
    if (grade == DEAD_END) return false;
    return bound == NOTHING || plus(distance, least_weight(grade, (Distance)share.unit)) < bound;
}
