// Levels of an elimination tree, one after another: wide ones in a launch each, by many blocks; narrow ones that follow
// each other in one launch, by one block (or one for each row of the grid), which waits for itself in between.
#pragma once

#include "primitives/warp.cuh"

#define LEVEL_BLOCK 1024  // threads of a block at most

// Calls `body` with each level and the bounds of what it has, from the roots or from the deepest; all threads of the
// block. Of several levels the grid has a block a row.
template <bool FROM_ROOTS, class Body>
__device__ __forceinline__ void each_level(const u32* bounds, u32 first, u32 last, Body body) {
    for (u32 k = 0; k < last - first; k++) {
        if (k > 0) __syncthreads();
        const u32 level = FROM_ROOTS ? first + k : last - 1 - k;
        body(level, bounds[level], bounds[level + 1]);
    }
}
