// The sum of 1 / distance over each of many rows of distances; unreached vertices and distances of 0 add nothing.
//
// The order of the additions is fixed, so that every device rounds alike: a row is cut into chunks, vertex i of a chunk
// belongs to lane i % 256, a lane adds its vertices in ascending order, and lanes are added in halves. The host adds
// the chunks in ascending order. kernels/cpu/reciprocals.py does the same.

#include "layout/types.cuh"

#define RECIPROCAL_BLOCK 256
#define RECIPROCAL_CHUNK 8192

// The grid has a column for each chunk and a row for each row of distances. sums: one for each chunk, row by row.
extern "C" __global__ void __launch_bounds__(RECIPROCAL_BLOCK)
    sum_reciprocals(const Distance* rows, u32 vertices, double* sums) {
    __shared__ double lanes[RECIPROCAL_BLOCK];
    const Distance* row = rows + (u64)blockIdx.y * vertices;
    u32 begin = blockIdx.x * RECIPROCAL_CHUNK, end = min(begin + RECIPROCAL_CHUNK, vertices);
    double sum = 0;
    for (u32 v = begin + threadIdx.x; v < end; v += RECIPROCAL_BLOCK) {
        Distance distance = row[v];
        if (distance != UNREACHED && distance != 0) sum += 1.0 / (double)distance;
    }
    lanes[threadIdx.x] = sum;
    __syncthreads();
    for (u32 apart = RECIPROCAL_BLOCK / 2; apart > 0; apart /= 2) {
        if (threadIdx.x < apart) lanes[threadIdx.x] += lanes[threadIdx.x + apart];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[(u64)blockIdx.y * gridDim.x + blockIdx.x] = lanes[0];
}
