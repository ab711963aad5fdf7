// How wide the next bucket is. One rank asks for itself (sssp/move_bucket.cuh), rank 0 for all ranks that share a
// bucket (exchange/termination.cuh).
//
// | the bucket begins | width                                    |
// |-------------------|------------------------------------------|
// | without_bound     | wider                                    |
// | before_bound      | as it was, but at least reach / 4        |
// | at_bound          | as it was, but at least reach; then wider |
//
// "wider" is twice as wide, or eight times if far is large, and at most `widest`. It doubles until the densest part of
// the graph has been reached, which fills far. Few arcs are left then, and a few wide buckets are enough.
#pragma once

// Where the next bucket begins: no arcs are deferred, or it begins before the pull bound, or at it.
enum class BucketBegin : unsigned { without_bound, before_bound, at_bound };

// `width` is that of the last bucket, `reach` the width of the pull phase; `much`: whether far is large.
__device__ __forceinline__ double next_width(double width, double widest, double reach, BucketBegin begin, bool much) {
    if (begin == BucketBegin::before_bound) return max(width, reach / 4);
    if (begin == BucketBegin::at_bound) width = max(width, reach);
    return min(width * (much ? 8 : 2), widest);
}
