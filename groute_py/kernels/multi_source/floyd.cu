// All pairs on a matrix of arcs, by blocks of middle vertices (Floyd 1962, Warshall 1962).
//
// A block of TILE middle vertices is taken in three steps: its own tile is closed (`floyd_close`);
// its rows go through it to all columns; all other rows go through it. The last two are one kernel,
// `floyd_through`, a matrix product in which times is plus and plus is minimum:
//
//     matrix[i, j] = min(matrix[i, j], min over k of to_middle[i, k] + onward[k, j])
//
// where to_middle are the columns of the middle vertices as they were before the block, and onward
// its rows, for which the block is done: a path that comes through the block enters it somewhere,
// and from there the row knows the rest. So the other rows need nothing but themselves and onward,
// which is what lets them lie on other GPUs, or on the host (Venkataraman, Sahni and Mukhopadhyaya
// 2003 have the blocks; they update the columns first, which this spares).
//
// Weights are not negative. Matrices have whole tiles: rows and columns that pad them are BEYOND.

#include "multi_source/floyd_matrix.cuh"
#include "primitives/access.cuh"
#include "primitives/arithmetic.cuh"

#define STEP (TILE / VECTORS)          // from one of these vectors to the next
#define PARTS (MIDDLES / WIDTH)        // vectors in a stage's piece of a row of to_middle
#define LOADS (TILE * PARTS / SQUARE)  // of a thread, for either half of a stage
#define SLANTED (TILE + WIDTH)         // so that a column is not all in one bank

// Of distances that are not negative: floats are ordered as their bits.
__device__ __forceinline__ void atomic_max(Distance* place, Distance value) {
#if DISTANCE == 0 || DISTANCE == 1
    atomicMax(place, value);
#elif DISTANCE == 2
    atomicMax((int*)place, __float_as_int(value));
#else
    atomicMax((i64*)place, __double_as_longlong(value));
#endif
}

// One instruction for int32 on compute capability 9.0 and later (VIADDMNMX).
__device__ __forceinline__ Distance by_way(Distance to, Distance on, Distance known) { return min(to + on, known); }

// What a block has in shared memory: MIDDLES columns of to_middle, transposed, and rows of onward.
struct Stage {
    Distance to[MIDDLES][SLANTED];
    Distance on[MIDDLES][TILE];
};

// What a thread carries from global memory into a stage.
struct Carried {
    Pack to[LOADS], on[LOADS];

    __device__ __forceinline__ void fetch(const Distance* to_middle, u64 to_pitch, const Distance* onward, u64 pitch) {
#pragma unroll
        for (int n = 0; n < LOADS; n++) {
            u32 which = threadIdx.x + n * SQUARE;
            u32 row = which / PARTS, part = which % PARTS;
            to[n].vector = *(const Vector*)(to_middle + row * to_pitch + part * WIDTH);
            u32 middle = which / (TILE / WIDTH), column = which % (TILE / WIDTH) * WIDTH;
            on[n].vector = *(const Vector*)(onward + middle * pitch + column);
        }
    }

    __device__ __forceinline__ void put(Stage* stage) const {
#pragma unroll
        for (int n = 0; n < LOADS; n++) {
            u32 which = threadIdx.x + n * SQUARE;
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                stage->to[which % PARTS * WIDTH + e][which / PARTS] = to[n].each[e];
            }
            u32 middle = which / (TILE / WIDTH), column = which % (TILE / WIDTH) * WIDTH;
            *(Vector*)&stage->on[middle][column] = on[n].vector;
        }
    }
};

__device__ __forceinline__ void pass_through(const Stage* stage, Distance known[SIDE][SIDE]) {
    u32 down = threadIdx.x / 16 * WIDTH, across = threadIdx.x % 16 * WIDTH;
#pragma unroll
    for (int k = 0; k < MIDDLES; k++) {
        Pack to[VECTORS], on[VECTORS];
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            to[v].vector = *(const Vector*)&stage->to[k][v * STEP + down];
            on[v].vector = *(const Vector*)&stage->on[k][v * STEP + across];
        }
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
#pragma unroll
            for (int j = 0; j < SIDE; j++) {
                known[i][j] = by_way(to[i / WIDTH].each[i % WIDTH], on[j / WIDTH].each[j % WIDTH], known[i][j]);
            }
        }
    }
}

// What is done with results, WIDTH at a time: written ...
struct Written {
    __device__ __forceinline__ void operator()(Distance* place, const Pack& found) const {
        *(Vector*)place = found.vector;
    }
};

// ... or only where they are nearer, and the stage of the algorithm noted: see multi_source/floyd_trees.cu.
struct Noted {
    const Distance* matrix;
    u16* stages;  // as large as the matrix
    u16 stage;

    __device__ __forceinline__ void operator()(Distance* place, const Pack& found) const {
        Pack before;
        before.vector = *(const Vector*)place;
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            if (found.each[e] < before.each[e]) {
                place[e] = found.each[e];
                stages[place + e - matrix] = stage;
            }
        }
    }
};

// Grid: column tiles × row tiles. Row tiles from number `spared` on are one farther down. A block of
// rows may be its own onward, since each result is written after all of its column tile was read.
template <class Leave>
__device__ __forceinline__ void go_through(Distance* matrix, u64 pitch, const Distance* to_middle, u64 to_pitch,
                                           const Distance* onward, u32 middles, u32 spared, const Leave& leave) {
    alignas(16) __shared__ Stage stages[2];
    u32 down = threadIdx.x / 16 * WIDTH, across = threadIdx.x % 16 * WIDTH;
    u64 row = (u64)(blockIdx.y + (blockIdx.y >= spared)) * TILE;
    matrix += row * pitch + (u64)blockIdx.x * TILE;
    to_middle += row * to_pitch;
    onward += (u64)blockIdx.x * TILE;

    Carried carried;
    carried.fetch(to_middle, to_pitch, onward, pitch);
    Distance known[SIDE][SIDE];
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
        const Distance* from = matrix + (i / WIDTH * STEP + down + i % WIDTH) * pitch + across;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            *(Vector*)&known[i][v * WIDTH] = *(const Vector*)(from + v * STEP);
        }
    }
    carried.put(&stages[0]);
    __syncthreads();
    for (u32 done = MIDDLES, side = 0;; done += MIDDLES, side ^= 1) {
        bool more = done < middles;
        if (more) {
            carried.fetch(to_middle + done, to_pitch, onward + done * pitch, pitch);
        }
        pass_through(&stages[side], known);
        if (!more) break;
        carried.put(&stages[side ^ 1]);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
        Distance* to = matrix + (i / WIDTH * STEP + down + i % WIDTH) * pitch + across;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            Pack found;
            found.vector = *(const Vector*)&known[i][v * WIDTH];
            leave(to + v * STEP, found);
        }
    }
}

extern "C" __global__ void __launch_bounds__(SQUARE, FLOYD_BLOCKS)
    floyd_through(Distance* matrix, u64 pitch, const Distance* to_middle, u64 to_pitch, const Distance* onward,
                  u32 middles, u32 spared) {
    go_through(matrix, pitch, to_middle, to_pitch, onward, middles, spared, Written{});
}

extern "C" __global__ void __launch_bounds__(SQUARE, FLOYD_BLOCKS)
    floyd_through_noting(Distance* matrix, u64 pitch, const Distance* to_middle, u64 to_pitch, const Distance* onward,
                         u32 middles, u32 spared, u16* stages, u32 stage) {
    Noted noted = {matrix, stages, (u16)stage};
    go_through(matrix, pitch, to_middle, to_pitch, onward, middles, spared, noted);
}

// One block closes one tile: what it finds is written to `closed`, the tile itself stays.
extern "C" __global__ void __launch_bounds__(SQUARE, 1)
    floyd_close(const Distance* tile, u64 pitch, Distance* closed, u64 closed_pitch) {
    __shared__ Distance from_middle[2][TILE], to_middle[2][TILE];
    u32 down = threadIdx.x / 16, across = threadIdx.x % 16;
    Distance known[SIDE][SIDE];
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            known[i][j] = tile[(down * SIDE + i) * pitch + across * SIDE + j];
        }
    }
    for (u32 group = 0; group < TILE / SIDE; group++) {
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
            if (down == group) {
#pragma unroll
                for (int j = 0; j < SIDE; j++) from_middle[k & 1][across * SIDE + j] = known[k][j];
            }
            if (across == group) {
#pragma unroll
                for (int i = 0; i < SIDE; i++) to_middle[k & 1][down * SIDE + i] = known[i][k];
            }
            __syncthreads();  // one is enough: the next step writes to the other side
#pragma unroll
            for (int i = 0; i < SIDE; i++) {
                Distance to = to_middle[k & 1][down * SIDE + i];
#pragma unroll
                for (int j = 0; j < SIDE; j++) {
                    known[i][j] = by_way(to, from_middle[k & 1][across * SIDE + j], known[i][j]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            closed[(down * SIDE + i) * closed_pitch + across * SIDE + j] = known[i][j];
        }
    }
}

// The rows of some vertices before the first step: arcs, 0 on the diagonal, else BEYOND. A block a row.
extern "C" __global__ void floyd_begin(Distance* matrix, u64 pitch, const Offset* offsets, const Arc* arcs, u32 first,
                                       u32 vertices) {
    u32 vertex = first + blockIdx.x;
    Distance* row = matrix + blockIdx.x * pitch;
    for (u64 v = threadIdx.x; v < pitch; v += blockDim.x) row[v] = BEYOND;
    __syncthreads();
    if (vertex >= vertices) return;
    for (Offset a = offsets[vertex] + threadIdx.x; a < offsets[vertex + 1]; a += blockDim.x) {
        Arc arc = load(arcs + a);
        if (arc.weight < BEYOND) atomic_min(row + arc.head, arc.weight);
    }
    __syncthreads();
    if (threadIdx.x == 0) row[vertex] = 0;
}

// Some rows as they leave: without padding, unreached is UNREACHED. A block a row.
extern "C" __global__ void floyd_rows(const Distance* matrix, u64 pitch, const u32* which, Distance* rows,
                                      u32 vertices) {
    const Distance* from = matrix + which[blockIdx.x] * pitch;
    Distance* to = rows + (u64)blockIdx.x * vertices;
    for (u32 v = threadIdx.x; v < vertices; v += blockDim.x) {
        to[v] = from[v] < BEYOND ? from[v] : UNREACHED;
    }
}

// The greatest distance there is. A block a row.
extern "C" __global__ void floyd_greatest(const Distance* matrix, u64 pitch, Distance* greatest) {
    __shared__ Distance most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    Distance mine = 0;
    for (u64 v = threadIdx.x; v < pitch; v += blockDim.x) {
        Distance distance = matrix[blockIdx.x * pitch + v];
        if (distance < BEYOND) mine = max(mine, distance);
    }
    atomic_max(&most, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomic_max(greatest, most);
}
