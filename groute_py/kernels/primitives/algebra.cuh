// The algebra of paths: how an arc extends a distance; all else is the same. Less is better in every algebra, and 0 is
// the distance of the source. A path is as long as its arcs together or, with MAXIMA, as bad as its worst arc: then
// distances are ranks of weights, below half of their type's range, so that nothing overflows.
#pragma once

#include "primitives/arithmetic.cuh"

// The distance behind an arc of this weight that begins at a distance.
__device__ __forceinline__ Distance extend(Distance distance, Distance weight) {
#if MAXIMA
    return max(distance, weight);
#else
    return plus(distance, weight);
#endif
}
