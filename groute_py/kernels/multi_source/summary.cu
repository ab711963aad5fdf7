// A few numbers of each of many rows of distances: how many vertices are reached, the sum of their
// distances, the greatest one and its vertex, and how many distances lie between powers of two.
//
// A row is cut into parts, and a block takes one part of one row. The host adds the parts up in
// their order, so that sums of floats are rounded alike in every run.

#include "multi_source/partial.cuh"

#define SUMMARY_BLOCK 256

#if DISTANCE < 2
#define EXPONENTS 64  // a distance d has the exponent e where 2^(e-1) <= |d| < 2^e
#define EXPONENT_SHIFT 0
#else
#define EXPONENTS 2098
#define EXPONENT_SHIFT 1074
#endif
#define BINS (2 * EXPONENTS + 1)  // 0; then positive distances by exponent, then negative ones

__device__ __forceinline__ u32 bin_of(Wide distance) {
    if (distance == 0) return 0;
#if DISTANCE < 2
    u64 size = distance < 0 ? 0 - (u64)distance : (u64)distance;
    u32 exponent = 64 - __clzll((i64)size);
#else
    u32 exponent = ilogb(distance) + 1 + EXPONENT_SHIFT;
#endif
    return exponent + (distance < 0 ? EXPONENTS : 0);
}

// A distance in the original graph, without Johnson's potentials, none of which is above 0.
__device__ __forceinline__ Wide lifted(Wide distance, Wide at_vertex, Wide at_source, u32* unfit) {
    Wide sum = distance + at_vertex;
#if DISTANCE < 2
    if (sum >= WIDE_LARGEST + at_source) *unfit = 1;
    return (Wide)((u64)sum - (u64)at_source);
#else
    return sum - at_source;
#endif
}

// The grid has a column for each part and a row for each row of distances.
// heights: the potentials of the vertices and, in source_heights, of the rows' sources; null if none.
// partials: one for each part, row by row. histogram: BINS counts of all rows together, or null.
extern "C" __global__ void __launch_bounds__(SUMMARY_BLOCK)
    summarize_rows(const Distance* rows, u32 vertices, u32 part, const Wide* heights, const Wide* source_heights,
                   Partial* partials, u64* histogram, u32* unfit) {
    __shared__ Partial found[SUMMARY_BLOCK];
    __shared__ u32 counts[BINS];
    const Distance* row = rows + (u64)blockIdx.y * vertices;
    u32 begin = blockIdx.x * part, end = min(begin + part, vertices);
    if (histogram) {
        for (u32 bin = threadIdx.x; bin < BINS; bin += SUMMARY_BLOCK) counts[bin] = 0;
    }
    __syncthreads();
    Partial mine = {};
    for (u32 v = begin + threadIdx.x; v < end; v += SUMMARY_BLOCK) {
        if (row[v] == UNREACHED) continue;
        Wide distance = row[v];
        if (heights) distance = lifted(distance, heights[v], source_heights[blockIdx.y], unfit);
        take(mine, distance, v);
        if (histogram) atomicAdd(counts + bin_of(distance), 1);
    }
    found[threadIdx.x] = mine;
    __syncthreads();
    for (u32 apart = SUMMARY_BLOCK / 2; apart > 0; apart /= 2) {
        if (threadIdx.x < apart) join(found[threadIdx.x], found[threadIdx.x + apart]);
        __syncthreads();
    }
    if (threadIdx.x == 0) partials[(u64)blockIdx.y * gridDim.x + blockIdx.x] = found[0];
    if (!histogram) return;
    for (u32 bin = threadIdx.x; bin < BINS; bin += SUMMARY_BLOCK) {
        if (counts[bin]) atomicAdd(histogram + bin, (u64)counts[bin]);
    }
}
