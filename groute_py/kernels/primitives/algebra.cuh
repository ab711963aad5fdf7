// The algebra of paths: how an arc extends a distance; all else is the same. Less is better in every algebra, and 0 is
// the distance of the source. A path is as long as its arcs together or, with MAXIMA, as bad as its worst arc: then
// distances are ranks of weights, below half of their type's range, so that nothing overflows. With EXTENDED it is a
// user's expression in `distance` and `weight`, UNREACHED beyond the distances that it takes.
#pragma once

#include "primitives/arithmetic.cuh"

#ifdef EXTENDED
__device__ __forceinline__ Distance magnitude(Distance a) { return a < 0 ? -a : a; }

#if DISTANCE == 1
// a / b rounded down, and what is left, for b > 0.
__device__ __forceinline__ Distance quotient(Distance a, Distance b) { return a / b - (a % b < 0); }
__device__ __forceinline__ Distance residue(Distance a, Distance b) { return a % b + (a % b < 0 ? b : 0); }
#endif
#endif

// The distance behind an arc of this weight that begins at a distance.
__device__ __forceinline__ Distance extend(Distance distance, Distance weight) {
#ifdef EXTENDED
    const Distance reach = EXTENDED;
    return reach < distance ? UNREACHED : reach;
#elif MAXIMA
    return max(distance, weight);
#else
    return plus(distance, weight);
#endif
}
