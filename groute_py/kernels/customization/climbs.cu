// Distances of pairs without labels: from both ends up the elimination tree, and over the ancestor that both have in
// common with the least sum (Dibbelt, Strasser and Wagner, "Customizable contraction hierarchies", 2016). What is
// known of the ancestors of an end lies by their depths.

#include "customization/lengths.cuh"
#include "primitives/warp.cuh"

// Arcs upward by number, as customization takes them.
struct Upward {
    const u32* numbers;  // by vertex
    const u32* offsets;
    const u32* heads;
    const u16* depths;
    const Length* lengths;
    u32 vertices;
    u32 levels;
};

// A warp climbs from one end; 32 lanes take the arcs of a vertex. Heads in a row differ, so lanes do not meet.
// Returns the depth of the end.
__device__ __forceinline__ u32 climb(const Upward& up, u32 end, u32 direction, Length* reach, u32* chain, u32* flags) {
    const u32 own = up.depths[end];
    for (u32 depth = lane(); depth <= own; depth += 32) reach[depth] = depth == own ? 0 : NOTHING;
    __syncwarp();
    u32 vertex = end;
    for (u32 depth = own;; depth--) {
        const Length here = reach[depth];
        const u32 begin = up.offsets[vertex], stop = up.offsets[vertex + 1];
        if (lane() == 0) {
            chain[depth] = vertex;
            if (is_wide(here)) atomicOr(flags, TOO_WIDE);
        }
        if (depth == 0) return own;
        for (u32 arc = begin + lane(); arc < stop; arc += 32) {
            const u32 above = up.depths[up.heads[arc]];
            reach[above] = min(reach[above], here + up.lengths[2 * (u64)arc + direction]);
        }
        vertex = up.heads[begin];
        __syncwarp();
    }
}

// A block of two warps takes a pair at a time. Shared memory: the distances and the ancestors of both ends by depth,
// and the depths of the ends.
extern "C" __global__ void climb_pairs(const __grid_constant__ Upward up, const void* sources, const void* targets,
                                       u32 source_bytes, u32 target_bytes, u64 count, i64* distances, u32* flags) {
    DYNAMIC_SHARED(Length, reach);
    u32 *chains = (u32*)(reach + 2 * up.levels), *own = chains + 2 * up.levels;
    const u32 side = threadIdx.x / 32;
    for (u64 pair = blockIdx.x; pair < count; pair += gridDim.x) {
        const u32 vertex = side ? vertex_at(targets, target_bytes, pair, up.vertices, flags)
                                : vertex_at(sources, source_bytes, pair, up.vertices, flags);
        const u32 place = side * up.levels;
        own[side] = climb(up, up.numbers[vertex], side, reach + place, chains + place, flags);
        __syncthreads();
        if (side == 0) {
            Length best = NOTHING;
            for (u32 depth = lane(), last = min(own[0], own[1]); depth <= last; depth += 32)
                if (chains[depth] == chains[up.levels + depth])
                    best = min(best, reach[depth] + reach[up.levels + depth]);
            for (u32 apart = 16; apart; apart /= 2) best = min(best, __shfl_xor_sync(~0u, best, apart));
            if (lane() == 0) distances[pair] = as_distance(best);
        }
        __syncthreads();
    }
}
