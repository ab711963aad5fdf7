// Shortest-path trees over a customized hierarchy, and trips that are loaded on them. Origins are lanes: 32 of them are
// a pack, and what belongs to a vertex lies by pack, number of the vertex, and lane. The ancestors of an origin have
// places of their own, by pack, depth and lane, since ways to them only go up.
//
// A way goes up from the origin and then down (PHAST: Delling, Goldberg, Nowatzyk and Werneck, 2013). Trips go the
// other way, from the deepest vertices, and then from the ancestors of the origin to it (Buchhold, Sanders and Wagner,
// "Real-time traffic assignment using engineered customizable contraction hierarchies", 2019). Of ways of the same
// length the first counts, in the order of kernels/cpu/loading.py.

#include "customization/lengths.cuh"
#include "customization/levels.cuh"

#define PACK 32       // origins of a pack
#define MOST_PARTS 8  // warps that take the arcs of one vertex

// Origins of a batch and their ancestors; device/cuda/assignment/origins.py has the same struct.
struct Origins {
    const u32* depths;        // by origin
    u32* chains;              // by pack, depth and lane: the ancestor, the origin last; NO_VERTEX below it
    Length* rises;            // so too: its distance by ways that only go up
    u32* last_arcs;           // so too: the last arc of such a way
    u32* tails;               // so too: the depth of the tail of that arc
    const u32* starts;        // by origin, where its destinations begin
    const u32* destinations;  // numbers
    const u64* trips;         // by destination
    const u32* places;        // by origin, where its sums belong
    u32 count, levels, vertices;
};

// Trees: by pack, vertex and lane.
struct Trees {
    Length* distances;
    u32* last_arcs;  // of the ways that end by going down: the arc and 1, else 0
    u64* loads;
};

__device__ __forceinline__ u64 ancestor_place(const Origins& o, u32 origin, u32 depth) {
    return ((u64)(origin / PACK) * o.levels + depth) * PACK + origin % PACK;
}

__device__ __forceinline__ u64 vertex_place(const Origins& o, u32 origin, u32 vertex) {
    return ((u64)(origin / PACK) * o.vertices + vertex) * PACK + origin % PACK;
}

// A warp, and block, climbs from each origin. Heads in a row differ, so lanes do not meet. Arcs are loaded 32 ahead.
// above: the depth of the head of each arc.
extern "C" __global__ void climb(const __grid_constant__ Origins o, const u32* offsets, const u32* above,
                                 const Length* lengths) {
    DYNAMIC_SHARED(Length, reach);
    u32 *last = (u32*)(reach + o.levels), *tails = last + o.levels, *begins = tails + o.levels;
    u32* ends = begins + o.levels;
    const u32 origin = blockIdx.x, own = o.depths[origin];
    for (u32 depth = lane(); depth <= own; depth += 32) {
        const u32 vertex = o.chains[ancestor_place(o, origin, depth)];
        begins[depth] = offsets[vertex];
        ends[depth] = offsets[vertex + 1];
        reach[depth] = depth == own ? 0 : NOTHING;
        last[depth] = tails[depth] = 0;
    }
    __syncwarp();
    u32 depth = own, arc = begins[own] + lane(), head = 0;
    Length length = NOTHING;
    if (arc < ends[own]) {
        head = above[arc];
        length = lengths[2 * (u64)arc];
    }
    while (true) {
        const bool is_row_over = arc - lane() + 32 >= ends[depth], is_last = is_row_over && depth == 0;
        const u32 next_depth = is_row_over && !is_last ? depth - 1 : depth;
        const u32 next = is_row_over ? begins[next_depth] + lane() : arc + 32;
        u32 next_head = 0;
        Length next_length = NOTHING;
        if (!is_last && next < ends[next_depth]) {
            next_head = above[next];
            next_length = lengths[2 * (u64)next];
        }
        if (length < NOTHING) {
            const Length way = sum_of(reach[depth], length);
            if (way < reach[head]) {
                reach[head] = way;
                last[head] = arc;
                tails[head] = depth;
            }
        }
        __syncwarp();
        if (is_last) break;
        depth = next_depth;
        arc = next;
        head = next_head;
        length = next_length;
    }
    for (depth = lane(); depth <= own; depth += 32) {
        const u64 place = ancestor_place(o, origin, depth);
        o.rises[place] = reach[depth];
        o.last_arcs[place] = last[depth];
        o.tails[place] = tails[depth];
    }
}

// The best way to a vertex from above among every `parts`-th arc, and its last arc and 1.
__device__ __forceinline__ void gather(u32 begin, u32 stop, u32 parts, const u32* heads, const Length* lengths,
                                       const Length* distances, Length& best, u32& last) {
#pragma unroll 8
    for (u32 arc = begin; arc < stop; arc += parts) {
        const Length way = sum_of(distances[(u64)heads[arc] * PACK], lengths[2 * (u64)arc + 1]);
        if (way < best) {
            best = way;
            last = arc + 1;
        }
    }
}

__device__ __forceinline__ void end_sweep(const Trees& trees, u64 place, Length best, u32 last) {
    trees.distances[place] = best;
    trees.last_arcs[place] = last;
    trees.loads[place] = 0;
}

// Distances of some levels from the roots; the grid has a row for each pack. A warp takes a vertex, or a part of its
// arcs where a level is narrow. Loads become 0.
extern "C" __global__ void __launch_bounds__(LEVEL_BLOCK)
    sweep(const u32* bounds, u32 first_level, u32 last_level, const __grid_constant__ Origins o, const u32* offsets,
          const u32* heads, const Length* lengths, const __grid_constant__ Trees trees) {
    __shared__ Length part_best[LEVEL_BLOCK];
    __shared__ u32 part_last[LEVEL_BLOCK];
    const u32 warps = blockDim.x / 32, warp = threadIdx.x / 32, origin = blockIdx.y * PACK + lane();
    each_level<true>(bounds, first_level, last_level, [&](u32 level, u32 begin, u32 end) {
        u32 parts = 1;
        while (gridDim.x == 1 && parts < MOST_PARTS && 2 * parts * (end - begin) <= warps) parts *= 2;
        const u32 part = warp % parts, at_once = warps / parts;
        for (u32 low = begin + blockIdx.x * at_once + warp / parts; low < end; low += gridDim.x * at_once) {
            const u64 rise = ancestor_place(o, origin, level), place = vertex_place(o, origin, low);
            Length best = part == 0 && o.chains[rise] == low ? o.rises[rise] : NOTHING;
            u32 last = 0;
            const Length* distances = trees.distances + vertex_place(o, origin, 0);
            gather(offsets[low] + part, offsets[low + 1], parts, heads, lengths, distances, best, last);
            if (parts == 1)
                end_sweep(trees, place, best, last);
            else
                part_best[threadIdx.x] = best, part_last[threadIdx.x] = last;
        }
        if (parts == 1) return;
        __syncthreads();
        const u32 low = begin + warp / parts;
        if (part > 0 || low >= end) return;
        Length best = part_best[threadIdx.x];
        u32 last = part_last[threadIdx.x];
        for (u32 other = threadIdx.x + 32; other < threadIdx.x + 32 * parts; other += 32) {
            const Length way = part_best[other];
            if (way < best || (way == best && part_last[other] < last)) {
                best = way;
                last = part_last[other];
            }
        }
        end_sweep(trees, vertex_place(o, origin, low), best, last);
    });
}

// Puts trips on their destinations; a warp takes an origin. costs, lost: the sums of trips times distance (float64) and
// of trips without a path, by origin.
extern "C" __global__ void seed(const __grid_constant__ Origins o, const __grid_constant__ Trees trees, double* costs,
                                u64* lost) {
    const u32 origin = grid_thread() / 32;
    if (origin >= o.count) return;
    double cost = 0;
    u64 missing = 0;
    for (u32 k = o.starts[origin] + lane(); k < o.starts[origin + 1]; k += 32) {
        const u64 place = vertex_place(o, origin, o.destinations[k]), trips = o.trips[k];
        const Length distance = trees.distances[place];
        if (distance < NOTHING) {
            atomicAdd(trees.loads + place, trips);
            cost += as_number(distance) * (double)trips;
        } else {
            missing += trips;
        }
    }
    for (u32 apart = 16; apart; apart /= 2) {
        cost += __shfl_xor_sync(~0u, cost, apart);
        missing += __shfl_xor_sync(~0u, missing, apart);
    }
    if (lane() > 0) return;
    costs[o.places[origin]] = cost;
    lost[o.places[origin]] = missing;
}

// Moves loads of some levels to the tails of their last arcs, the deepest first; the grid has a row for each pack.
extern "C" __global__ void __launch_bounds__(LEVEL_BLOCK)
    lift(const u32* bounds, u32 first_level, u32 last_level, const __grid_constant__ Origins o, const u32* heads,
         const __grid_constant__ Trees trees) {
    const u32 warps = gridDim.x * blockDim.x / 32, origin = blockIdx.y * PACK + lane();
    each_level<false>(bounds, first_level, last_level, [&](u32, u32 begin, u32 end) {
        for (u32 low = begin + grid_thread() / 32; low < end; low += warps) {
            const u64 place = vertex_place(o, origin, low), load = load_l2(trees.loads + place);
            const u32 last = trees.last_arcs[place];
            if (load && last) atomicAdd(trees.loads + vertex_place(o, origin, heads[last - 1]), load);
        }
    });
}

// Adds loads to the flows of the last arcs. A warp takes a vertex; the grid has a row for each pack.
extern "C" __global__ void tally(const __grid_constant__ Origins o, const __grid_constant__ Trees trees, u64* flows) {
    const u32 low = grid_thread() / 32;
    if (low >= o.vertices) return;
    const u64 place = vertex_place(o, blockIdx.y * PACK + lane(), low), load = trees.loads[place];
    const u32 last = load ? trees.last_arcs[place] : 0;
    for (u32 waiting = __ballot_sync(~0u, last > 0); waiting;) {
        const u32 arc = __shfl_sync(~0u, last, __ffs(waiting) - 1);
        warp_add_to(flows + 2 * (u64)(arc - 1) + 1, arc == last ? load : 0);
        waiting &= ~__ballot_sync(~0u, arc == last);
    }
}

// Brings what has come to the ancestors of an origin down to it, the highest first. A warp, and block, takes an origin.
extern "C" __global__ void descend(const __grid_constant__ Origins o, const __grid_constant__ Trees trees, u64* flows) {
    DYNAMIC_SHARED(u64, loads);
    u32* tails = (u32*)(loads + o.levels);
    const u32 origin = blockIdx.x, own = o.depths[origin];
    for (u32 depth = lane(); depth <= own; depth += 32) {
        const u64 rise = ancestor_place(o, origin, depth), place = vertex_place(o, origin, o.chains[rise]);
        loads[depth] = trees.last_arcs[place] ? 0 : trees.loads[place];
        tails[depth] = o.tails[rise];
    }
    __syncwarp();
    if (lane() == 0)
        for (u32 depth = 0; depth < own; depth++)
            if (loads[depth]) loads[tails[depth]] += loads[depth];
    __syncwarp();
    for (u32 depth = lane(); depth < own; depth += 32)
        if (loads[depth]) atomicAdd(flows + 2 * (u64)o.last_arcs[ancestor_place(o, origin, depth)], loads[depth]);
}

// Sums of values of slots from an origin to its ancestors, by ways that only go up. A warp, and block, takes an origin.
extern "C" __global__ void sum_rises(const __grid_constant__ Origins o, const double* values, double* sums) {
    DYNAMIC_SHARED(double, own_sums);
    const u32 origin = blockIdx.x, own = o.depths[origin];
    for (u32 depth = lane(); depth <= own; depth += 32) {
        const u64 rise = ancestor_place(o, origin, depth);
        own_sums[depth] = depth < own && o.rises[rise] < NOTHING ? values[2 * (u64)o.last_arcs[rise]] : 0;
    }
    __syncwarp();
    if (lane() == 0)
        for (u32 depth = own; depth-- > 0;) own_sums[depth] += own_sums[o.tails[ancestor_place(o, origin, depth)]];
    __syncwarp();
    for (u32 depth = lane(); depth <= own; depth += 32) sums[ancestor_place(o, origin, depth)] = own_sums[depth];
}

// Sums of values on the ways to all vertices, of some levels from the roots; the grid has a row for each pack.
// rise_sums: of sum_rises; sums: by pack, vertex and lane.
extern "C" __global__ void __launch_bounds__(LEVEL_BLOCK)
    sweep_sums(const u32* bounds, u32 first_level, u32 last_level, const __grid_constant__ Origins o, const u32* heads,
               const __grid_constant__ Trees trees, const double* values, const double* rise_sums, double* sums) {
    const u32 warps = gridDim.x * blockDim.x / 32, origin = blockIdx.y * PACK + lane();
    each_level<true>(bounds, first_level, last_level, [&](u32 level, u32 begin, u32 end) {
        for (u32 low = begin + grid_thread() / 32; low < end; low += warps) {
            const u64 place = vertex_place(o, origin, low), rise = ancestor_place(o, origin, level);
            const u32 last = trees.last_arcs[place];
            double sum = o.chains[rise] == low ? rise_sums[rise] : 0;
            if (last) sum = sums[vertex_place(o, origin, heads[last - 1])] + values[2 * (u64)(last - 1) + 1];
            sums[place] = sum;
        }
    });
}

// The sums at the destinations, infinite without a path. A warp takes an origin.
extern "C" __global__ void take_sums(const __grid_constant__ Origins o, const __grid_constant__ Trees trees,
                                     const double* sums, double* by_pair) {
    const u32 origin = grid_thread() / 32;
    if (origin >= o.count) return;
    for (u32 k = o.starts[origin] + lane(); k < o.starts[origin + 1]; k += 32) {
        const u64 place = vertex_place(o, origin, o.destinations[k]);
        by_pair[k] = trees.distances[place] < NOTHING ? sums[place] : INFINITE;
    }
}
