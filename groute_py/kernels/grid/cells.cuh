// A raster whose arcs are not stored: a step between two cells costs their mean friction times its length.
#pragma once

#include "primitives/arithmetic.cuh"

#define NO_DIRECTION 255
#define SOURCE 0

struct Raster {
    const Distance* friction;
    Distance* distance;
    u32 rows, columns;
    Distance half_x, half_y, half_diagonal;  // half the lengths of steps; the last is infinite for 4 neighbours
    Distance cutoff;
    Distance least;  // friction that is no barrier: no cost is then so small that CuPy's option -ftz=true makes it 0
};

// The friction of a cell; infinite on a barrier, where it is too small or NaN.
__device__ __forceinline__ Distance passable(const Raster& raster, u64 cell) {
    const Distance friction = raster.friction[cell];
    return friction >= raster.least ? friction : UNREACHED;
}

// The cost of a step. The product is rounded by itself, as on a CPU: it is never fused with the sum that follows.
__device__ __forceinline__ Distance step_cost(Distance one, Distance other, Distance half) {
#if DISTANCE == 2
    return __fmul_rn(one + other, half);
#else
    return __dmul_rn(one + other, half);
#endif
}
