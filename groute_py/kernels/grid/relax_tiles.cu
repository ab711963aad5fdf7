// Least-cost distances on a raster, by tiles.
//
// A tile is a square of TILE x TILE cells. It is *pending* with a key: the least distance that a neighbour tile offers
// it. A round takes the list of pending tiles. Those with keys below a threshold are relaxed, a block each, in shared
// memory to their local fixed point with the distances around them, their halo, as these are; the others are pending
// for the next round. A tile then makes those neighbours pending for the next round whose cells it would improve. The
// threshold of a round is the least key plus the width of a bucket (Meyer and Sanders 2003, for tiles). When no tile is
// pending, no step improves a cell. Sums of floats that are not negative are monotone, so the distances are the same
// whatever the order of the relaxations.
//
// A launch is a round, so that nothing waits inside a kernel; launches after the last round end at once. Only the block
// of its tile writes a cell. Another block may read an older distance of its halo; then the halo's tile makes it
// pending, because it compares with distances that are older, and so higher, too.

#include "grid/cells.cuh"
#include "primitives/memory_order.cuh"
#include "primitives/warp.cuh"

#define TILE 32
#define PITCH 34        // of a tile with its halo
#define TILE_BLOCK 256  // threads: 32 columns, 8 strips
#define STRIP 4         // cells of a column that a thread relaxes

struct Tiles {
    Distance* key;  // of two rounds: by the parity of the round, then by tile
    u32* list;      // alike
    u32* listed;    // by tile: the last round for which it was listed
    u32 columns, count;
};

struct Rounds {
    u32 round, count[2], taken, arrived;
    Distance least[2], width;  // least: of the keys, by the parity of the round
    u64 relaxed;               // tiles, of all rounds
};

// Makes a tile pending for a round.
__device__ __forceinline__ void push(const Tiles& tiles, Rounds* rounds, u32 round, u32 tile, Distance key) {
    const u32 side = round & 1;
    atomic_min(&tiles.key[side * tiles.count + tile], key);
    atomic_min(&rounds->least[side], key);
    if (atomicExch(&tiles.listed[tile], round) != round)
        tiles.list[side * tiles.count + atomicAdd(&rounds->count[side], 1u)] = tile;
}

// Lowers the distances of some cells, between two rounds.
extern "C" __global__ void lower_cells(const __grid_constant__ Raster raster, const __grid_constant__ Tiles tiles,
                                       Rounds* rounds, const i64* cells, const Distance* values, u32 count) {
    for (u32 i = grid_thread(); i < count; i += grid_threads()) {
        if (values[i] >= raster.distance[cells[i]]) continue;
        raster.distance[cells[i]] = values[i];
        const u32 row = cells[i] / raster.columns, column = cells[i] % raster.columns;
        push(tiles, rounds, rounds->round, row / TILE * tiles.columns + column / TILE, values[i]);
    }
}

struct Tile {
    Distance friction[PITCH * PITCH], distance[PITCH * PITCH], key[9];  // offers to the neighbours, by row and column
    u32 next;
};

__device__ __forceinline__ void block_load(const Raster& raster, Tile& own, u32 top, u32 left) {
    for (u32 i = threadIdx.x; i < PITCH * PITCH; i += TILE_BLOCK) {
        const u32 row = top + i / PITCH - 1, column = left + i % PITCH - 1;  // wraps before the first
        const bool exists = row < raster.rows && column < raster.columns;
        const u64 cell = (u64)row * raster.columns + column;
        own.friction[i] = exists ? passable(raster, cell) : UNREACHED;
        own.distance[i] = exists ? raster.distance[cell] : UNREACHED;
    }
    if (threadIdx.x < 9) own.key[threadIdx.x] = UNREACHED;
    __syncthreads();
}

// A strip of STRIP cells below each other, and the costs of its steps.
struct Strip {
    Distance vertical[STRIP + 1], side[STRIP][6], cell[STRIP];
    u32 place;  // of the first cell
};

__device__ __forceinline__ void load_strip(const Raster& raster, const Tile& own, Strip& strip) {
    strip.place = (threadIdx.x / TILE * STRIP + 1) * PITCH + threadIdx.x % TILE + 1;
    const Distance* friction = own.friction + strip.place;
#pragma unroll
    for (int k = 0; k <= STRIP; k++)
        strip.vertical[k] = step_cost(friction[(k - 1) * PITCH], friction[k * PITCH], raster.half_y);
#pragma unroll
    for (int k = 0; k < STRIP; k++) {
        strip.cell[k] = own.distance[strip.place + k * PITCH];
#pragma unroll
        for (int i = 0; i < 6; i++) {
            const int row = i / 2 - 1, column = i % 2 ? 1 : -1;
            const Distance half = row ? raster.half_diagonal : raster.half_x;
            strip.side[k][i] = step_cost(friction[k * PITCH], friction[(k + row) * PITCH + column], half);
        }
    }
}

// Relaxes the steps to the cells of a strip, from both sides and then down and up; true if one has improved. Other
// warps lower their distances meanwhile.
__device__ __forceinline__ bool relax_strip(volatile Distance* distance, Strip& strip) {
    volatile Distance* place = distance + strip.place;
    Distance around[STRIP + 2][2], before[STRIP];
#pragma unroll
    for (int k = 0; k < STRIP + 2; k++)
#pragma unroll
        for (int i = 0; i < 2; i++) around[k][i] = place[(k - 1) * PITCH + (i ? 1 : -1)];
    const Distance above = place[-PITCH], below = place[STRIP * PITCH];
#pragma unroll
    for (int k = 0; k < STRIP; k++) {
        before[k] = strip.cell[k];
#pragma unroll
        for (int i = 0; i < 6; i++)
            strip.cell[k] = min(strip.cell[k], plus(around[k + i / 2][i % 2], strip.side[k][i]));
    }
#pragma unroll
    for (int k = 0; k < STRIP; k++)
        strip.cell[k] = min(strip.cell[k], plus(k ? strip.cell[k - 1] : above, strip.vertical[k]));
#pragma unroll
    for (int k = STRIP - 1; k >= 0; k--)
        strip.cell[k] = min(strip.cell[k], plus(k < STRIP - 1 ? strip.cell[k + 1] : below, strip.vertical[k + 1]));
    bool improved = false;
#pragma unroll
    for (int k = 0; k < STRIP; k++)
        if (strip.cell[k] < before[k]) {
            place[k * PITCH] = strip.cell[k];
            improved = true;
        }
    return improved;
}

// Relaxes a tile to its fixed point, and stores what has improved.
__device__ __forceinline__ void block_relax(const Raster& raster, Tile& own, u32 top, u32 left) {
    Strip strip;
    load_strip(raster, own, strip);
    Distance before[STRIP];
#pragma unroll
    for (int k = 0; k < STRIP; k++) before[k] = strip.cell[k];
    bool improved;
    do {
        improved = relax_strip(own.distance, strip);
        improved |= relax_strip(own.distance, strip);
    } while (__syncthreads_or(improved));
    const u32 row = top + threadIdx.x / TILE * STRIP, column = left + threadIdx.x % TILE;
#pragma unroll
    for (int k = 0; k < STRIP; k++)
        if (strip.cell[k] < before[k]) raster.distance[(u64)(row + k) * raster.columns + column] = strip.cell[k];
}

// Makes the neighbours pending whose cells in the halo would improve.
__device__ __forceinline__ void block_push(const Raster& raster, const Tiles& tiles, Rounds* rounds, Tile& own,
                                           u32 tile, u32 round) {
    const u32 i = threadIdx.x, edge = i / PITCH, along = i % PITCH;
    if (i < 4 * PITCH) {  // corners twice
        const int row = edge < 2 ? (edge ? PITCH - 1 : 0) : along,
                  column = edge < 2 ? along : (edge == 2 ? 0 : PITCH - 1);
        const Distance friction = own.friction[row * PITCH + column];
        Distance least = UNREACHED;
        for (int r = max(row - 1, 1); r <= min(row + 1, TILE); r++)
            for (int c = max(column - 1, 1); c <= min(column + 1, TILE); c++) {
                const u32 from = r * PITCH + c;
                const Distance half = c == column ? raster.half_y : r == row ? raster.half_x : raster.half_diagonal;
                least = min(least, plus(own.distance[from], step_cost(own.friction[from], friction, half)));
            }
        if (least < own.distance[row * PITCH + column] && least <= raster.cutoff) {
            const int down = (row == PITCH - 1) - (row == 0), right = (column == PITCH - 1) - (column == 0);
            atomic_min(&own.key[4 + 3 * down + right], least);
        }
    }
    __syncthreads();
    if (i < 9 && own.key[i] < UNREACHED)
        push(tiles, rounds, round + 1, tile + ((int)i / 3 - 1) * (int)tiles.columns + (int)i % 3 - 1, own.key[i]);
}

// A round, or nothing after the last one.
extern "C" __global__ void __launch_bounds__(TILE_BLOCK)
    relax_tiles(const __grid_constant__ Raster raster, const __grid_constant__ Tiles tiles, Rounds* rounds) {
    __shared__ Tile own;
    const u32 round = rounds->round, side = round & 1, count = rounds->count[side];
    if (count == 0) return;
    const Distance least = rounds->least[side];
    const Distance threshold = max(plus(least, rounds->width), just_above(least));
    __syncthreads();  // all have read what the last block changes, also if this is it
    u32 relaxed = 0;
    for (u32 i = blockIdx.x; i < count; i = own.next) {
        const u32 tile = tiles.list[side * tiles.count + i];
        Distance* place = &tiles.key[side * tiles.count + tile];
        const Distance key = *place;
        if (key < threshold) {
            const u32 top = tile / tiles.columns * TILE, left = tile % tiles.columns * TILE;
            block_load(raster, own, top, left);
            block_relax(raster, own, top, left);
            block_push(raster, tiles, rounds, own, tile, round);
            relaxed++;
        } else if (threadIdx.x == 0)
            push(tiles, rounds, round + 1, tile, key);
        __syncthreads();  // all have read the key and the number of the next tile
        if (threadIdx.x == 0) {
            *place = UNREACHED;
            own.next = gridDim.x + atomicAdd(&rounds->taken, 1u);
        }
        __syncthreads();
    }
    if (threadIdx.x != 0) return;
    if (relaxed) atomicAdd(&rounds->relaxed, (u64)relaxed);
    fence_gpu();
    if (atomicAdd(&rounds->arrived, 1u) < gridDim.x - 1) return;
    fence_gpu();
    rounds->least[side] = UNREACHED;
    rounds->count[side] = rounds->taken = rounds->arrived = 0;
    rounds->round = round + 1;
}
