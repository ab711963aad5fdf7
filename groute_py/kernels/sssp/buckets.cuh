// Buckets of distances: where they end, and how wide the next one is.
#pragma once

#include "layout/worklists.cuh"
#include "primitives/arithmetic.cuh"

#define MUCH 16  // far is large if it holds more than 1 / MUCH of the vertices

// The width of the next bucket. It doubles until the densest part of the graph has been reached, which
// fills far. Few arcs are left then, and a few wide buckets are enough.
__device__ __forceinline__ double wider(double width, double widest, bool much) {
    return min(width * (much ? 8 : 2), widest);
}

// The end of a bucket that begins at `from`, at most LARGEST_DISTANCE.
__device__ __forceinline__ Distance end_of(Distance from, double width) {
    if (width >= (double)LARGEST_DISTANCE) return LARGEST_DISTANCE;
    return from < LARGEST_DISTANCE - (Distance)width ? plus(from, (Distance)width) : LARGEST_DISTANCE;
}

// Whether a bucket is so narrow that many arcs lead out of it, and arcs may be deferred at all.
__device__ __forceinline__ bool is_narrow(const Work& work, Distance bucket_begin, Distance threshold) {
    return work.pull_from_arcs && threshold != LARGEST_DISTANCE &&
           (float)(threshold - bucket_begin) < work.pull_below_width;
}
