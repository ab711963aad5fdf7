// The answer of a solve as users get it.

#include "layout/worklists.cuh"
#include "primitives/memory_order.cuh"
#include "primitives/warp.cuh"

#if DISTANCE < 2
typedef i64 Public;
#define PUBLIC_UNREACHED 9223372036854775807ll
#else
typedef Distance Public;
#define PUBLIC_UNREACHED UNREACHED
#endif

// numbers, order: by vertex its number in `work`, and by number the vertex; null where both are the same.
struct Numbers {
    const u32* numbers;
    const u32* order;
};

__device__ __forceinline__ i64 parent_of(const Work& work, const Numbers& by, u32 number) {
    const i64 parent = work.parent[number];
    return parent < 0 || !by.order ? parent : (i64)by.order[parent];
}

__device__ __forceinline__ u64 degree_of(const Share& share, u32 number) {
    return share.degrees ? share.degrees[number] : share.offsets[number + 1] - share.offsets[number];
}

#define AT_ONCE 4  // vertices that a thread has in flight

// The out-arcs of reached owned vertices; with peers also those that lie on other ranks.
struct ArcCount {
    u64 sum;    // of blocks that have ended; 0 between launches, as `ended`
    u64 ended;  // blocks
};

// Counts them: where no arc lies on another rank, all less those of unreached vertices, which are few. The last block
// writes the count to `report`, in page-locked memory of the host. distances, parents: are filled by vertex unless they
// are null.
extern "C" __global__ void leave_answer(const __grid_constant__ Share share, const __grid_constant__ Work work,
                                        const __grid_constant__ Numbers by, Public* distances, i64* parents,
                                        ArcCount* arcs, u64* report) {
    __shared__ u64 sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const bool counts_reached = share.degrees;
    u64 mine = 0;
    const u32 stride = gridDim.x * blockDim.x;
    for (u64 first = blockIdx.x * blockDim.x + threadIdx.x; first < share.own; first += (u64)AT_ONCE * stride) {
        u32 number[AT_ONCE];
        Distance distance[AT_ONCE];
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            const u64 v = first + (u64)k * stride;
            number[k] = v >= share.own ? 0 : by.numbers ? by.numbers[v] : (u32)v;
            distance[k] = v < share.own ? work.distance[number[k]] : UNREACHED;
        }
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++)
            if (first + (u64)k * stride < share.own && (distance[k] != UNREACHED) == counts_reached)
                mine += degree_of(share, number[k]);
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            const u64 v = first + (u64)k * stride;
            if (v >= share.own) continue;
            if (distances) distances[v] = distance[k] == UNREACHED ? PUBLIC_UNREACHED : (Public)distance[k];
            if (parents) parents[v] = parent_of(work, by, number[k]);
        }
    }
    warp_add_to(&sum, mine);
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (!counts_reached) sum = (blockIdx.x == 0 ? share.offsets[share.own] - share.offsets[0] : 0) - sum;
    atomicAdd(&arcs->sum, sum);
    fence_gpu();
    if (atomicAdd(&arcs->ended, 1ull) + 1 < gridDim.x) return;
    fence_gpu();
    *report = load_l2(&arcs->sum);
    *arcs = {0, 0};
}

// A reached vertex.
struct Near {
    Public distance;
    i64 parent;  // -1 without predecessors
    u32 vertex;
};

struct NearReport {
    u64 arcs;  // out-arcs of reached vertices
    u32 count;
};

// Lists the reached vertices in any order; those past `room` are only counted.
extern "C" __global__ void leave_near(const __grid_constant__ Share share, const __grid_constant__ Work work,
                                      const __grid_constant__ Numbers by, u32 has_parents, Near* near, u32 room,
                                      NearReport* report) {
    u64 mine = 0;
    const u32 step = gridDim.x * blockDim.x;
    for (u32 base = blockIdx.x * blockDim.x; base < share.own; base += step) {
        const u32 v = base + threadIdx.x;
        const u32 number = v >= share.own ? 0 : by.numbers ? by.numbers[v] : v;
        const Distance distance = v < share.own ? work.distance[number] : UNREACHED;
        const u32 reached = __ballot_sync(~0u, distance != UNREACHED);
        if (!reached) continue;
        u32 first = 0;
        if (lane() == 0) first = atomicAdd(&report->count, (u32)__popc(reached));
        const u32 place = __shfl_sync(~0u, first, 0) + rank_among(reached);
        if (distance == UNREACHED) continue;
        mine += degree_of(share, number);
        if (place < room) near[place] = {distance, has_parents ? parent_of(work, by, number) : -1, v};
    }
    warp_add_to(&report->arcs, mine);
}
