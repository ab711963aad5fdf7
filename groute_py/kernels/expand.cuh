// A warp hands out the arcs of up to 32 vertices to its lanes, one arc a lane, whatever the degrees:
// a scan of the degrees, then each lane finds the vertex its arc belongs to by binary search in the
// other lanes' registers. (The warp-wide form of load balancing by scan, as in ADDS and Gunrock.)
#pragma once

// Each lane brings a vertex (with `wanted`) and the distance to relax with; `visit(active, arc,
// vertex, distance)` is called by all 32 lanes together. Returns the number of arcs of this lane's
// vertex.
template <class Visit>
__device__ __forceinline__ u32 expand(const Share& share, bool wanted, u32 vertex,
                                      Distance distance, Visit visit) {
    Offset begin = 0;
    u32 degree = 0;
    if (wanted) {
        begin = share.offsets[vertex];
        degree = (u32)(share.offsets[vertex + 1] - begin);
    }
    u32 end = degree;
#pragma unroll
    for (int step = 1; step < 32; step <<= 1) {
        u32 before = __shfl_up_sync(~0u, end, step);
        if (lane() >= step) end += before;
    }
    u32 total = __shfl_sync(~0u, end, 31), start = end - degree;
    for (u32 base = 0; base < total; base += 32) {
        u32 index = base + lane();
        u32 source = 0;  // the last lane whose arcs start at or before index
#pragma unroll
        for (u32 step = 16; step > 0; step >>= 1) {
            u32 other = __shfl_sync(~0u, start, source + step);
            if (other <= index) source += step;
        }
        Offset first = __shfl_sync(~0u, begin, source);
        u32 skip = __shfl_sync(~0u, start, source);
        u32 tail = __shfl_sync(~0u, vertex, source);
        Distance at = __shfl_sync(~0u, distance, source);
        visit(index < total, first + (index - skip), tail, at);
    }
    return degree;
}
