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
#define CROSS_BLOCK 256                 // vertices of the core that a block takes
#define AHEAD 4                         // arcs that a thread has in flight
#define PACK_WARPS 8                    // of a block that summarizes
#define PLACES 8                        // that such a warp has in flight

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

__device__ __forceinline__ Lanes no_lanes() {
    Lanes none;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) none.distance[k] = UNREACHED;
    return none;
}

// Nothing is reached.
extern "C" __global__ void begin_many(Lanes* reached, u64 count) {
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) reached[i] = no_lanes();
}

// What each search leaves for the next kernels, and for the host.
struct Searches {
    u32* below;         // room for each source
    u32* core;          // core_count for each source
    u32* core_found;    // how many of these
    u32* below_found;   // more than `room` if there was no room for all: the answers are wrong then
    Distance* reached;  // distances over arcs upward, in packs; UNREACHED but for what is found
    u32* marked;        // pack by pack a bit for each place below the core that one of its sources has found
    u32 room;
};

__device__ __forceinline__ u32* marks_of(const Hierarchy& h, const Searches& of, u32 pack) {
    return of.marked + (u64)pack * ((h.vertices + 31) / 32);
}

// A block searches upward from one source.
extern "C" __global__ void search_many(const __grid_constant__ Hierarchy h, const u32* sources,
                                       const __grid_constant__ Searches to, u32* overflow) {
    __shared__ Found found;
    const u32 source = blockIdx.x;
    if (threadIdx.x == 0)
        found = {to.below + (u64)source * to.room, to.core + (u64)source * h.core_count, to.room, 0, 0};
    __syncthreads();
    u32 overflowed = 0;
    search_upward(
        h, found, h.places[sources[source]], UNREACHED,
        [&](u32 place) { return distance_at(h, to.reached, source, place); }, overflowed);
    if (threadIdx.x == 0) {
        to.core_found[source] = found.core_count;
        to.below_found[source] = found.below_count;
    }
    u32* marks = marks_of(h, to, source / SOURCES);
    for (u32 k = threadIdx.x; k < min(found.below_count, found.below_room); k += blockDim.x) {
        const u32 place = load_volatile(&found.below[k]);
        atomicOr(&marks[place / 32], 1u << place % 32);
    }
    if (overflowed) *overflow = 1;
}

// Takes back what searches have left, for the next ones.
extern "C" __global__ void forget_many(const __grid_constant__ Hierarchy h, const __grid_constant__ Searches from) {
    const u32 source = blockIdx.x;
    u32* marks = marks_of(h, from, source / SOURCES);
    for (u32 k = threadIdx.x; k < from.below_found[source]; k += blockDim.x) {
        const u32 place = from.below[(u64)source * from.room + k];
        *distance_at(h, from.reached, source, place) = UNREACHED;
        marks[place / 32] = 0;
    }
    for (u32 k = threadIdx.x; k < from.core_found[source]; k += blockDim.x)
        *distance_at(h, from.reached, source, from.core[(u64)source * h.core_count + k]) = UNREACHED;
}

// The distances of the core: a thread has a vertex of it, and the grid a row of blocks for each source. The last pack
// is filled up with sources that reach nothing.
extern "C" __global__ void __launch_bounds__(CROSS_BLOCK)
    cross_many(const __grid_constant__ Hierarchy h, const __grid_constant__ Searches from, u32 sources,
               Distance* distances, u32* overflow) {
    __shared__ u32 entry[CROSS_BLOCK];
    __shared__ Distance before[CROSS_BLOCK];
    const u32 source = blockIdx.y, vertex = blockIdx.x * CROSS_BLOCK + threadIdx.x;
    const u32 count = source < sources ? from.core_found[source] : 0;
    u32 overflowed = 0;
    const bool is_due = source < sources && vertex < h.core_count;
    Distance best = is_due ? load_l2(distance_at(h, from.reached, source, vertex)) : UNREACHED;
    for (u32 first = 0; first < count; first += CROSS_BLOCK) {
        const u32 mine = first + threadIdx.x;
        if (mine < count) {
            entry[threadIdx.x] = from.core[(u64)source * h.core_count + mine];
            before[threadIdx.x] = load_l2(distance_at(h, from.reached, source, entry[threadIdx.x]));
        }
        __syncthreads();
        const u32 known = min(count - first, (u32)CROSS_BLOCK);
        if (vertex < h.core_count) {
#pragma unroll 8
            for (u32 k = 0; k < known; k++) {
                const Distance through = h.core[(u64)entry[k] * h.core_count + vertex];
                best = min(best, path_sum(before[k], through, overflowed));
            }
        }
        __syncthreads();
    }
    if (vertex < h.core_count) *distance_at(h, distances, source, vertex) = best;
    if (overflowed) *overflow = 1;
}

// One place of one pack: some of its sources.
__device__ __forceinline__ void sweep_lanes(const Hierarchy& h, const Lanes* pack, u32 place, u32 part, Lanes& best,
                                            u32& overflowed) {
    const u32 end = h.offsets[place + 1];
    for (u32 first = h.offsets[place]; first < end; first += AHEAD) {
        Distance weight[AHEAD];
        Lanes above[AHEAD];
#pragma unroll
        for (u32 a = 0; a < AHEAD; a++) {
            if (first + a >= end) continue;
            const Arc arc = h.down[first + a];
            weight[a] = arc.weight;
            above[a] = load_lanes(&pack[(u64)arc.head * PLACE_THREADS + part]);
        }
#pragma unroll
        for (u32 a = 0; a < AHEAD; a++) {
            if (first + a >= end) continue;
#pragma unroll
            for (u32 k = 0; k < EACH; k++)
                best.distance[k] = min(best.distance[k], path_sum(above[a].distance[k], weight[a], overflowed));
        }
    }
}

// Outward over all levels, with a grid barrier each. A warp has one pack, of which it takes places side by side; there
// are no more packs than warps. `leave(lanes, place, part, stays)` is given each place below the core of the warp's
// pack; `stays` if arcs may lead to it.
template <class Leave>
__device__ __forceinline__ void sweep_packs(const Hierarchy& h, const Searches& from, Lanes* distances, u32 packs,
                                            Control* control, BarrierPhase& phase, Leave leave, u32& overflowed) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, part = thread % PLACE_THREADS;
    const u32 warp = thread / 32, together = 32 / PLACE_THREADS;
    const u32 rows = gridDim.x * blockDim.x / 32 / packs, row = warp / packs, pack = warp % packs;
    Lanes* mine = distances + (u64)pack * h.vertices * PLACE_THREADS;
    const Lanes* reached = (const Lanes*)from.reached + (u64)pack * h.vertices * PLACE_THREADS;
    const u32* marks = marks_of(h, from, pack);
    for (u32 level = 1; level < h.level_count; level++) {
        const u32 end = h.levels[level + 1];
        const u32 first = h.levels[level] + row * together + thread % 32 / PLACE_THREADS;
        for (u32 place = row < rows ? first : end; place < end; place += rows * together) {
            const u64 at = (u64)place * PLACE_THREADS + part;
            Lanes best = marks[place / 32] >> place % 32 & 1 ? load_lanes(&reached[at]) : no_lanes();
            sweep_lanes(h, mine, place, part, best, overflowed);
            leave(best, place, part, level + 1 < h.level_count);
        }
        grid_sync(control, phase);
    }
}

extern "C" __global__ void __launch_bounds__(512)
    sweep_many(const __grid_constant__ Hierarchy h, const __grid_constant__ Searches from, Lanes* distances, u32 packs,
               Control* control, u32* overflow) {
    __shared__ BarrierPhase phase;
    if (threadIdx.x == 0) phase = current_phase(control);
    __syncthreads();
    u32 overflowed = 0;
    const u32 pack = (blockIdx.x * blockDim.x + threadIdx.x) / 32 % packs;
    Lanes* mine = distances + (u64)pack * h.vertices * PLACE_THREADS;
    auto leave = [&](const Lanes& lanes, u32 place, u32 part, bool) {
        mine[(u64)place * PLACE_THREADS + part] = lanes;
    };
    sweep_packs(h, from, distances, packs, control, phase, leave, overflowed);
    if (overflowed) *overflow = 1;
}

// Numbers of a tree. The sum of its distances fits; `farthest` is the greatest of distance * 2^32 + ~vertex.
struct Total {
    u64 sum, farthest, reached;
};

// The same for int32, but leaves the totals of the trees, and not the distances of places to which no arc leads.
// vertex_at: the vertex of each place. totals: 0 before.
extern "C" __global__ void __launch_bounds__(512, 2)
    sum_many(const __grid_constant__ Hierarchy h, const __grid_constant__ Searches from, Lanes* distances, u32 packs,
             Control* control, u32* overflow, const u32* vertex_at, u32 sources, Total* totals) {
#if DISTANCE == 0
    __shared__ BarrierPhase phase;
    if (threadIdx.x == 0) phase = current_phase(control);
    __syncthreads();
    u32 overflowed = 0;
    u64 sum[EACH] = {}, farthest[EACH] = {};
    u32 reached[EACH] = {};
    auto count = [&](const Lanes& lanes, u32 place) {
        const u32 vertex = vertex_at[place];
#pragma unroll
        for (u32 k = 0; k < EACH; k++) {
            const Distance distance = lanes.distance[k];
            if (distance == UNREACHED) continue;
            sum[k] += (u32)distance;
            farthest[k] = max(farthest[k], (u64)(u32)distance << 32 | (u32)~vertex);
            reached[k]++;
        }
    };
    const u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    const u32 pack = warp % packs, rows = warps / packs, row = warp / packs;
    Lanes* own = distances + (u64)pack * h.vertices * PLACE_THREADS;
    for (u32 item = row * 32 + lane(); row < rows && item < h.core_count * PLACE_THREADS; item += rows * 32)
        count(load_lanes(&own[item]), item / PLACE_THREADS);
    auto leave = [&](const Lanes& lanes, u32 place, u32 part, bool stays) {
        if (stays) own[(u64)place * PLACE_THREADS + part] = lanes;
        count(lanes, place);
    };
    sweep_packs(h, from, distances, packs, control, phase, leave, overflowed);
    if (overflowed) *overflow = 1;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        for (u32 apart = PLACE_THREADS; apart < 32; apart *= 2) {
            sum[k] += __shfl_xor_sync(~0u, sum[k], apart);
            farthest[k] = max(farthest[k], __shfl_xor_sync(~0u, farthest[k], apart));
            reached[k] += __shfl_xor_sync(~0u, reached[k], apart);
        }
        const u32 source = pack * SOURCES + lane() * EACH + k;
        if (lane() >= PLACE_THREADS || source >= sources || reached[k] == 0) continue;
        atomicAdd(&totals[source].sum, sum[k]);
        atomicMax(&totals[source].farthest, farthest[k]);
        atomicAdd(&totals[source].reached, (u64)reached[k]);
    }
#endif
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
