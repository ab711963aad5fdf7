// Buckets of distances: where they end, and which are narrow.
#pragma once

#include "layout/worklists.cuh"
#include "primitives/arithmetic.cuh"
#include "sssp/next_bucket.cuh"

#define MUCH 16  // far is large if it holds more than 1 / MUCH of the vertices

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
