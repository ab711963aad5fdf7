// The sum of 1 / distance over each of many rows of distances; unreached vertices and distances of 0 add nothing.
//
// A row is cut into chunks, whose sums the host adds up. Those of integers are exact, so that every device finds the
// same; see kernels/cpu/fixed_point.py. Floats are added in an order that is the same in every run.

#include "layout/types.cuh"
#include "primitives/fixed.cuh"

#define RECIPROCAL_BLOCK 256
#define RECIPROCAL_CHUNK 8192
#define RECIPROCAL_SCALE 4294967296.0

#if DISTANCE < 2
typedef Fixed Reciprocals;  // times the scale

__device__ __forceinline__ Reciprocals reciprocal(Distance distance) {
    return fixed(RECIPROCAL_SCALE / (double)distance);
}
#else
typedef double Reciprocals;

__device__ __forceinline__ Reciprocals reciprocal(Distance distance) { return 1.0 / (double)distance; }
#endif

// The grid has a column for each chunk and a row for each row of distances. sums: one for each chunk, row by row.
extern "C" __global__ void __launch_bounds__(RECIPROCAL_BLOCK)
    sum_reciprocals(const Distance* rows, u32 vertices, Reciprocals* sums) {
    __shared__ Reciprocals lanes[RECIPROCAL_BLOCK];
    const Distance* row = rows + (u64)blockIdx.y * vertices;
    u32 begin = blockIdx.x * RECIPROCAL_CHUNK, end = min(begin + RECIPROCAL_CHUNK, vertices);
    Reciprocals sum = {};
    for (u32 v = begin + threadIdx.x; v < end; v += RECIPROCAL_BLOCK) {
        Distance distance = row[v];
        if (distance != UNREACHED && distance != 0) add(sum, reciprocal(distance));
    }
    lanes[threadIdx.x] = sum;
    __syncthreads();
    for (u32 apart = RECIPROCAL_BLOCK / 2; apart > 0; apart /= 2) {
        if (threadIdx.x < apart) add(lanes[threadIdx.x], lanes[threadIdx.x + apart]);
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[(u64)blockIdx.y * gridDim.x + blockIdx.x] = lanes[0];
}
