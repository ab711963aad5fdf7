// A warp hands out the arcs of up to 32 rows to its lanes, whatever the degrees: a scan of the degrees,
// then each lane finds the row an arc belongs to by binary search in the other lanes' registers.
// (The warp-wide form of load balancing by scan, as in ADDS and Gunrock.)
#pragma once

#include "primitives/warp.cuh"

// Each lane brings a row, `degree` arcs from `begin`. `visit(active, index, source)` is called by all
// 32 lanes together, with arrays of COUNT arcs a lane: so many memory accesses are in flight at once.
// `source` is the lane that brought the arc's row.
template <int COUNT, class Visit>
__device__ __forceinline__ void warp_expand(Offset begin, u32 degree, Visit visit) {
    u32 end = warp_inclusive_sum(degree);
    u32 total = __shfl_sync(~0u, end, 31), start = end - degree;
    for (u32 base = 0; base < total; base += 32 * COUNT) {
        bool active[COUNT];
        Offset index[COUNT];
        u32 source[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            u32 arc = base + 32 * k + lane();
            source[k] = 0;  // the last lane whose arcs start at or before this one
#pragma unroll
            for (u32 step = 16; step > 0; step >>= 1) {
                u32 other = __shfl_sync(~0u, start, source[k] + step);
                if (other <= arc) source[k] += step;
            }
            active[k] = arc < total;
            Offset first = __shfl_sync(~0u, begin, source[k]);
            index[k] = first + (arc - __shfl_sync(~0u, start, source[k]));
        }
        visit(active, index, source);
    }
}
