// Distances from many sources to all vertices: up the elimination tree from each source, and one sweep over the levels
// from the roots (PHAST: Delling, Goldberg, Nowatzyk and Werneck, 2013). Distances lie in packs of 32 sources: first
// the pack, then the number of the vertex, then the source.

#include "customization/lengths.cuh"
#include "primitives/warp.cuh"

#define SOURCES 32   // of a pack
#define TILE_ROWS 8  // rows of threads that turn a tile of 32 x 32 distances

// A warp climbs from each source; the grid has a block a pack. Heads in a row differ, so lanes do not meet.
// sources: in 4 or 8 bytes each; numbers: by vertex; there are `count` sources. All distances are NOTHING before.
extern "C" __global__ void climb_rows(u32 vertices, const u32* numbers, const u32* offsets, const u32* heads,
                                      const Length* lengths, const void* sources, u32 bytes, u32 count,
                                      Length* distances, u32* flags) {
    const u32 source = blockIdx.x * SOURCES + threadIdx.x / 32;
    if (source >= count) return;
    const u32 number = numbers[vertex_at(sources, bytes, source, vertices, flags)];
    Length* mine = distances + (u64)blockIdx.x * vertices * SOURCES + source % SOURCES;
    if (lane() == 0) mine[(u64)number * SOURCES] = 0;
    __syncwarp();
    for (u32 low = number, begin = offsets[low], stop = offsets[low + 1]; begin < stop;) {
        const Length here = load_l2(mine + (u64)low * SOURCES);
        for (u32 arc = begin + lane(); arc < stop; arc += 32) {
            Length* above = mine + (u64)heads[arc] * SOURCES;
            const Length way = here + lengths[2 * (u64)arc];
            if (way < load_l2(above)) *above = way;
        }
        __syncwarp();
        low = heads[begin];
        begin = offsets[low];
        stop = offsets[low + 1];
    }
}

// One level: a warp takes a vertex and a pack; the grid has a row of blocks for each pack.
extern "C" __global__ void sweep_rows(u32 begin, u32 end, u32 vertices, const u32* offsets, const u32* heads,
                                      const Length* lengths, Length* distances, u32* flags) {
    const u32 low = begin + (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (low >= end) return;
    Length* mine = distances + (u64)blockIdx.y * vertices * SOURCES + lane();
    Length best = mine[(u64)low * SOURCES];
#pragma unroll 4
    for (u32 arc = offsets[low], stop = offsets[low + 1]; arc < stop; arc++)
        best = min(best, mine[(u64)heads[arc] * SOURCES] + lengths[2 * (u64)arc + 1]);
    mine[(u64)low * SOURCES] = best;
    if (is_wide(best)) atomicOr(flags, TOO_WIDE);
}

// The distances as rows by vertex, as users get them: tiles of 32 vertices and 32 sources are turned. The grid has a
// column for each tile and a row for each pack; a block has 32 x TILE_ROWS threads.
extern "C" __global__ void leave_rows(u32 vertices, const u32* numbers, const Length* distances, u32 count, i64* rows) {
    __shared__ Length tile[SOURCES][SOURCES + 1];
    const u32 row = threadIdx.x / 32, pack = blockIdx.y, first = blockIdx.x * 32;
    for (u32 k = row; k < 32 && first + k < vertices; k += TILE_ROWS)
        tile[k][lane()] = distances[((u64)pack * vertices + numbers[first + k]) * SOURCES + lane()];
    __syncthreads();
    for (u32 k = row; k < 32 && pack * SOURCES + k < count; k += TILE_ROWS)
        if (first + lane() < vertices)
            rows[(u64)(pack * SOURCES + k) * vertices + first + lane()] = as_distance(tile[lane()][k]);
}
