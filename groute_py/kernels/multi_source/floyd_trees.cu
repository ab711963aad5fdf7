// Predecessors from a closed matrix, without a look at the arcs.
//
// Tile number s - 1 of middle vertices is gone through in stage s. For each pair (i, j) the last
// stage in which its distance fell is noted: stages[i, j], 0 if it is the weight of an arc. Since
// the matrix after stage s has the shortest paths whose inner vertices lie in the tiles up to s,
// stages[i, j] is the least s for which one of the shortest paths from i to j is such a path, and
// every path of that kind has an inner vertex in tile s. Within a tile we count on by vertices: the
// *inner number* of (i, j) is the least k such that one of those paths has inner vertices only in
// earlier tiles, and in tile s up to its vertex k.
//
// `floyd_middles` finds a middle vertex k of tile s for each pair, from final distances:
//
//     matrix[i, k] + matrix[k, j] = matrix[i, j]
//
// (a) where i is not in tile s, the first k with stages[i, k] < s and stages[k, j] <= s; the first
//     vertex of the tile on a path is such a one;
// (b) where i is in tile s, k = the inner number: the least, over all k with stages[k, j] < s, of k
//     and the inner number of (i, k), the greater one; the last vertex of the tile on a path is such
//     a one. For pairs within a tile `floyd_inner` finds it, as Floyd's algorithm would.
//
// The predecessor of j from i is then that of j from k (`floyd_parents`), and i itself where the
// stage is 0. From (i, j) to (k, j) the stage falls, or stays and the pair comes to be of kind (b),
// or stays (b) and the inner number falls. So this ends, with an arc p -> j; and on the way back
// shows by induction that p is the last but one vertex of a shortest path from i to j with inner
// vertices as above. So stages[i, p] <= stages[i, j], and, for kind (b) of the same stage, the
// inner number of (i, p) is not above that of (i, j).
//
// Why these predecessors have no cycle. The weights around it were 0 and the distances of its
// vertices from i the same; its stages, since they never rise on the way, were all the same s > 0.
// (a) Let k be the middle vertex of a pair (i, j) on it, and p the predecessor. p = k would have
// stages[i, p] < s. So p is on the way from k to j, and k is good for (i, p) too: the middle vertex
// of p comes not after k. Around the cycle it is the same k. (b) The inner numbers are the same k;
// p = k has a smaller one. Either way p is the predecessor of j from k as well, so the cycle stands
// in the row of k; its pairs there have smaller stages, or are of kind (b) where they were of (a),
// or have smaller inner numbers. Again and again: that cannot be.

#include "multi_source/floyd_matrix.cuh"
#include "primitives/arithmetic.cuh"

#define LATER 255  // an inner number that is not known, or never will be
#define PAIR_LANES 8

// Vertices of a tile between others of it. inner: a row of TILE for each vertex; 0: the stage is an
// earlier one, k + 1: vertex k of the tile. A block a tile, SQUARE threads.
extern "C" __global__ void __launch_bounds__(SQUARE)
    floyd_inner(const Distance* matrix, u64 pitch, const u16* stages, u8* inner) {
    __shared__ u8 known[TILE][TILE];
    u64 base = (u64)blockIdx.x * TILE;
    u32 stage = blockIdx.x + 1, column = threadIdx.x % TILE, first = threadIdx.x / TILE;
    const Distance* tile = matrix + base * pitch + base;
    for (u32 i = first; i < TILE; i += SQUARE / TILE) {
        u32 noted = stages[(base + i) * pitch + base + column];
        known[i][column] = noted < stage ? 0 : LATER;
    }
    for (u32 k = 0; k < TILE; k++) {
        __syncthreads();
        if (column == k || known[k][column] > k) continue;
        Distance onward = tile[k * pitch + column];
        for (u32 i = first; i < TILE; i += SQUARE / TILE) {
            if (i == k || known[i][column] != LATER || known[i][k] > k) continue;
            if (stages[(base + i) * pitch + base + column] != stage) continue;
            if (tile[i * pitch + k] + onward == tile[i * pitch + column]) {
                known[i][column] = k + 1;
            }
        }
    }
    __syncthreads();
    for (u32 i = first; i < TILE; i += SQUARE / TILE) {
        inner[(base + i) * TILE + column] = known[i][column];
    }
}

// What vertex k of the tile, number `middle`, is good for between i and j: see (a) and (b).
__device__ __forceinline__ u32 inner_number(u32 i, u32 middle, u32 j, u32 stage, u64 pitch, const u16* stages,
                                            const u8* inner) {
    if (middle == i || middle == j) return TILE;
    u32 k = middle % TILE, onward = stages[middle * pitch + j];
    if (i / TILE != middle / TILE) {
        return stages[i * pitch + middle] < stage && onward <= stage ? k : TILE;
    }
    u32 before = inner[(u64)i * TILE + k];
    if (onward >= stage || before == LATER) return TILE;
    return max(k + 1, before) - 1;
}

// The middle vertex of each pair, as its number within the tile. transposed: the columns from `first`
// on, one after the other. A block a row, PAIR_LANES lanes a pair.
extern "C" __global__ void __launch_bounds__(SQUARE)
    floyd_middles(const Distance* matrix, u64 pitch, const u16* stages, const u8* inner, const Distance* transposed,
                  u32 first, u32 columns, u8* middles) {
    u32 i = blockIdx.x, pair_lane = threadIdx.x % PAIR_LANES;
    u32 together = ((1u << PAIR_LANES) - 1) << (threadIdx.x % 32 - pair_lane);
    for (u32 c = threadIdx.x / PAIR_LANES; c < columns; c += SQUARE / PAIR_LANES) {
        u64 place = i * pitch + first + c;
        u32 stage = stages[place];
        if (stage == 0) continue;
        Distance known = matrix[place];
        u32 base = (stage - 1) * TILE, best = TILE;
        for (u32 next = 0; next < TILE && best >= next; next += PAIR_LANES * WIDTH) {
            u32 middle = base + next + pair_lane * WIDTH;
            Pack to, on;
            to.vector = *(const Vector*)(matrix + i * pitch + middle);
            on.vector = *(const Vector*)(transposed + c * pitch + middle);
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                if (to.each[e] + on.each[e] != known) continue;
                best = min(best, inner_number(i, middle + e, first + c, stage, pitch, stages, inner));
            }
            for (u32 apart = PAIR_LANES / 2; apart; apart /= 2) {
                best = min(best, __shfl_xor_sync(together, best, apart));
            }
        }
        if (pair_lane == 0) middles[place] = best;
    }
}

// The predecessors in some rows that leave. A block a row.
extern "C" __global__ void floyd_parents(const u16* stages, const u8* middles, u64 pitch, const u32* which,
                                         const Distance* rows, int* parents, u32 vertices) {
    u32 source = which[blockIdx.x];
    for (u32 v = threadIdx.x; v < vertices; v += blockDim.x) {
        u64 place = (u64)blockIdx.x * vertices + v;
        u32 tail = source;
        while (u32 stage = stages[tail * pitch + v]) {
            tail = (stage - 1) * TILE + middles[tail * pitch + v];
        }
        parents[place] = v != source && rows[place] < UNREACHED ? (int)tail : -1;
    }
}
