// Trees from many sources: the arcs are read once for all of them. Distances lie in packs of 32 sources: first the
// pack, then the place, then the source. The arguments are the same as for one tree, see tree.cu.

#include "hierarchy/core.cuh"
#include "hierarchy/upward.cuh"
#include "multi_source/partial.cuh"
#include "primitives/grid_barrier.cuh"

#define SOURCES 32                      // of a pack
#define EACH (16 / sizeof(Distance))    // sources that a thread has
#define PLACE_THREADS (SOURCES / EACH)  // threads of a place in a pack
#define TILE_ROWS 8                     // rows of threads that turn a tile of 32 x 32 distances
#define PACK_WARPS 8                    // of a block that summarizes
#define PLACES 4                        // that such a warp has in flight

struct alignas(16) Lanes {
    Distance distance[EACH];
};

__device__ __forceinline__ Lanes load_lanes(const Lanes* place) {
    ulonglong2 words = load_l2((const ulonglong2*)place);
    return *(const Lanes*)&words;
}

__device__ __forceinline__ Distance* distance_at(const Hierarchy& h, Distance* distances, u32 source, u32 place) {
    return distances + ((u64)(source / SOURCES) * h.vertices + place) * SOURCES + source % SOURCES;
}

// Nothing is reached.
extern "C" __global__ void begin_many(Lanes* distances, u64 count) {
    Lanes none;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) none.distance[k] = UNREACHED;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) distances[i] = none;
}

// What each search leaves for the next kernel, and for the host.
struct Searches {
    u32* below;        // room for each source
    u32* core;         // core_count for each source
    u32* core_found;   // how many of these
    u32* below_found;  // more than `room` if there was no room for all: the answers are wrong then
    u32 room;
};

// A block searches upward from one source.
extern "C" __global__ void search_many(const __grid_constant__ Hierarchy h, Distance* distances, const u32* sources,
                                       const __grid_constant__ Searches to, u32* overflow) {
    __shared__ Found found;
    const u32 source = blockIdx.x;
    if (threadIdx.x == 0)
        found = {to.below + (u64)source * to.room, to.core + (u64)source * h.core_count, to.room, 0, 0};
    __syncthreads();
    u32 overflowed = 0;
    search_upward(
        h, found, h.places[sources[source]], UNREACHED,
        [&](u32 place) { return distance_at(h, distances, source, place); }, overflowed);
    if (threadIdx.x == 0) {
        to.core_found[source] = found.core_count;
        to.below_found[source] = found.below_count;
    }
    if (overflowed) *overflow = 1;
}

// The grid has a row of blocks for each source.
extern "C" __global__ void cross_many(const __grid_constant__ Hierarchy h, Distance* distances,
                                      const __grid_constant__ Searches from, u32* overflow) {
    const u32 source = blockIdx.y;
    u32 overflowed = 0;
    cross_core(
        h, from.core + (u64)source * h.core_count, from.core_found[source], blockIdx.x * blockDim.x + threadIdx.x,
        gridDim.x * blockDim.x, [&](u32 place) { return distance_at(h, distances, source, place); }, overflowed);
    if (overflowed) *overflow = 1;
}

// One place of one pack: some of its sources.
__device__ __forceinline__ void sweep_lanes(const Hierarchy& h, Lanes* pack, u32 place, u32 part, u32& overflowed) {
    Lanes best = load_lanes(&pack[(u64)place * PLACE_THREADS + part]);
    for (u32 i = h.offsets[place]; i < h.offsets[place + 1]; i++) {
        const Arc arc = h.down[i];
        const Lanes above = load_lanes(&pack[(u64)arc.head * PLACE_THREADS + part]);
#pragma unroll
        for (u32 k = 0; k < EACH; k++)
            best.distance[k] = min(best.distance[k], path_sum(above.distance[k], arc.weight, overflowed));
    }
    pack[(u64)place * PLACE_THREADS + part] = best;
}

// Outward over all levels; a grid barrier each.
extern "C" __global__ void __launch_bounds__(512)
    sweep_many(const __grid_constant__ Hierarchy h, Lanes* distances, u32 packs, Control* control, u32* overflow) {
    __shared__ BarrierPhase phase;
    if (threadIdx.x == 0) phase = current_phase(control);
    __syncthreads();
    u32 overflowed = 0;
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, part = thread % PLACE_THREADS;
    const u32 groups = gridDim.x * blockDim.x / PLACE_THREADS;
    for (u32 level = 1; level < h.level_count; level++) {
        const u32 begin = h.levels[level], size = h.levels[level + 1] - begin;
        for (u64 item = thread / PLACE_THREADS; item < (u64)size * packs; item += groups) {
            Lanes* pack = distances + item / size * h.vertices * PLACE_THREADS;
            sweep_lanes(h, pack, begin + (u32)(item % size), part, overflowed);
        }
        grid_sync(control, phase);
    }
    if (overflowed) *overflow = 1;
}

// The distances of some places as rows, one for each source: tiles of 32 places and 32 sources are turned. The grid has
// a column for each tile of places and a row for each pack; a block has 32 x TILE_ROWS threads.
extern "C" __global__ void leave_rows(const Distance* distances, u32 vertices, const u32* places, u32 count,
                                      u32 sources, Distance* rows) {
    __shared__ Distance tile[SOURCES][SOURCES + 1];
    const u32 row = threadIdx.x / 32, pack = blockIdx.y, first = blockIdx.x * 32;
    for (u32 k = row; k < 32 && first + k < count; k += TILE_ROWS)
        tile[k][lane()] = distances[((u64)pack * vertices + places[first + k]) * SOURCES + lane()];
    __syncthreads();
    for (u32 k = row; k < 32 && pack * SOURCES + k < sources; k += TILE_ROWS)
        if (first + lane() < count) rows[(u64)(pack * SOURCES + k) * count + first + lane()] = tile[lane()][k];
}

// A few numbers of each tree, in the order of the places.
//
// A block takes a part of the places of one pack, and a lane one of its sources: the grid has a column for each part
// and a row for each pack. vertex_at: the vertex of each place. partials: one for each part, source by source.
extern "C" __global__ void __launch_bounds__(32 * PACK_WARPS)
    summarize_packs(const Distance* distances, u32 vertices, const u32* vertex_at, u32 part, u32 sources,
                    Partial* partials) {
    __shared__ Partial found[PACK_WARPS][SOURCES];
    const u32 warp = threadIdx.x / 32, source = blockIdx.y * SOURCES + lane();
    const u32 begin = blockIdx.x * part, end = min(begin + part, vertices);
    const Distance* pack = distances + (u64)blockIdx.y * vertices * SOURCES;
    Partial mine = {};
    for (u32 first = begin + warp; first < end; first += PLACES * PACK_WARPS) {
        Distance distance[PLACES];
        u32 vertex[PLACES];
#pragma unroll
        for (u32 k = 0; k < PLACES; k++) {
            const u32 place = first + k * PACK_WARPS;
            distance[k] = place < end ? pack[(u64)place * SOURCES + lane()] : UNREACHED;
            vertex[k] = place < end ? vertex_at[place] : 0;
        }
#pragma unroll
        for (u32 k = 0; k < PLACES; k++)
            if (distance[k] != UNREACHED) take(mine, distance[k], vertex[k]);
    }
    found[warp][lane()] = mine;
    __syncthreads();
    if (warp > 0 || source >= sources) return;
    for (u32 other = 1; other < PACK_WARPS; other++) join(mine, found[other][lane()]);
    partials[(u64)source * gridDim.x + blockIdx.x] = mine;
}
