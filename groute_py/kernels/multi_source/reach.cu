// The vertices within a bound of each row of distances, ascending, with their distances: count, then list.
//
// A row is cut into parts of REACH_PART vertices, and a block takes one part of one row. The grid has a column for each
// part and a row for each row of distances.

#include "primitives/warp.cuh"

#define REACH_BLOCK 256
#define REACH_PART 4096

__device__ __forceinline__ bool is_within(Distance distance, Distance bound) {
    return distance <= bound && distance < UNREACHED;
}

// counts: of each part, row by row.
extern "C" __global__ void __launch_bounds__(REACH_BLOCK)
    count_within(const Distance* rows, u32 vertices, Distance bound, u32* counts) {
    __shared__ u32 count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const Distance* row = rows + (u64)blockIdx.y * vertices;
    const u32 begin = blockIdx.x * REACH_PART, end = min(begin + REACH_PART, vertices);
    u32 mine = 0;
    for (u32 v = begin + threadIdx.x; v < end; v += REACH_BLOCK) mine += is_within(row[v], bound);
    if (mine) atomicAdd(&count, mine);
    __syncthreads();
    if (threadIdx.x == 0) counts[(u64)blockIdx.y * gridDim.x + blockIdx.x] = count;
}

// firsts: the place of each part's first vertex in the list, row by row.
extern "C" __global__ void __launch_bounds__(REACH_BLOCK)
    list_within(const Distance* rows, u32 vertices, Distance bound, const u64* firsts, u32* listed,
                Distance* distances) {
    __shared__ u32 counts[REACH_BLOCK / 32];
    const Distance* row = rows + (u64)blockIdx.y * vertices;
    const u32 begin = blockIdx.x * REACH_PART, end = min(begin + REACH_PART, vertices), warp = threadIdx.x / 32;
    u64 next = firsts[(u64)blockIdx.y * gridDim.x + blockIdx.x];
    for (u32 first = begin; first < end; first += REACH_BLOCK) {
        const u32 vertex = first + threadIdx.x;
        const Distance distance = vertex < end ? row[vertex] : UNREACHED;
        const u32 mask = __ballot_sync(~0u, is_within(distance, bound));
        if (lane() == 0) counts[warp] = __popc(mask);
        __syncthreads();
        u32 before = rank_among(mask), all = 0;
        for (u32 w = 0; w < REACH_BLOCK / 32; w++) {
            before += w < warp ? counts[w] : 0;
            all += counts[w];
        }
        if (is_within(distance, bound)) {
            listed[next + before] = vertex;
            distances[next + before] = distance;
        }
        next += all;
        __syncthreads();  // the counts have been read
    }
}
