// Rows of arcs of a graph of few levels, along which warps pull from 32 sources at once; see levels.cu.
#pragma once

#include "primitives/fixed.cuh"
#include "primitives/memory_order.cuh"
#include "primitives/warp.cuh"

#define CLASSES 6

struct alignas(16) Path {  // in one load
    double count;          // of shortest paths from the source of the lane
    double weight;         // 1 + the source's dependency on the vertex
};

// Vertices have numbers by falling degree, the greater of both; those without arcs have none. A class of rows has
// consecutive numbers. The first has a warp for each row, the next ones 2, 4, ... 32 rows a warp.
struct LevelGraph {
    const u32 *in_offsets, *tails, *out_offsets, *heads;
    const u32 *first_pieces, *piece_rows;  // pieces of long rows, which have the lowest numbers
    u32 vertices, pieces, long_rows, piece_arcs;
    u32 rows[CLASSES + 1], warps[CLASSES + 1];  // the first of each class, and where the last one ends
};

// Searches of some groups. Masks have an array for each level and group, the others for each group.
struct LevelBatch {
    Path* paths;  // 32 for each vertex; null if distances suffice
    u32 *masks, *seen;
    u32* live;                    // for each level and group: the sources that reach a vertex there
    u32 *arrivals, *piece_masks;  // arrivals: pieces of each long row that have ended; 0 between launches
    Fixed* piece_sums;            // 32 for each piece
    u32 groups;
};

__device__ __forceinline__ u32* masks_at(const LevelGraph& graph, const LevelBatch& batch, u32 level) {
    return batch.masks + ((u64)level * batch.groups + blockIdx.y) * graph.vertices;
}

__device__ __forceinline__ u32* live_at(const LevelBatch& batch, u32 level) {
    return batch.live + level * batch.groups + blockIdx.y;
}

__device__ __forceinline__ Path* paths_of(const LevelGraph& graph, const LevelBatch& batch) {
    return batch.paths + (u64)blockIdx.y * graph.vertices * 32;
}

// The last piece of a long row to end gets the sums and the masks of all; true for that one.
template <class Sum>
__device__ __forceinline__ bool warp_joins_pieces(const LevelGraph& graph, const LevelBatch& batch, u32 piece, u32 row,
                                                  Sum& sum, u32& found) {
    Sum* sums = (Sum*)(batch.piece_sums + (u64)blockIdx.y * graph.pieces * 32) + lane();
    u32* masks = batch.piece_masks + (u64)blockIdx.y * graph.pieces;
    u32* arrivals = batch.arrivals + blockIdx.y * graph.long_rows + row;
    u32 first = graph.first_pieces[row], end = graph.first_pieces[row + 1], before = 0;
    sums[(u64)piece * 32] = sum;
    if (lane() == 0) masks[piece] = found;
    fence_gpu();
    __syncwarp();
    if (lane() == 0) before = atomicAdd(arrivals, 1);
    if (__shfl_sync(~0u, before, 0) != end - first - 1) return false;
    fence_gpu();
    sum = {};
    found = 0;
    for (u32 i = first; i < end; i++) {
        Sum other;
        for (u32 word = 0; word < sizeof(Sum) / 8; word++) {
            ((u64*)&other)[word] = load_l2((const u64*)(sums + (u64)i * 32) + word);
        }
        add(sum, other);
        found |= load_l2(masks + i);
    }
    if (lane() == 0) *arrivals = 0;
    return true;
}

// The rows of a warp, one for each lane: a piece of a long row, or 1 to 32 rows, each of as many lanes.
struct WarpRows {
    u32 warp, shift = CLASSES - 1;  // a row has 1 << shift lanes; only one that has all of them may have more arcs
    u32 row, wanted = 0, arc = 0, end = 0;  // wanted: sources; arc: the lane's first one
    bool is_piece;

    template <class Pass>
    __device__ __forceinline__ WarpRows(const LevelGraph& graph, const u32* offsets, const Pass& pass)
        : warp((blockIdx.x * blockDim.x + threadIdx.x) / 32), is_piece(warp < graph.pieces) {
        if (is_piece) {
            row = graph.piece_rows[warp];
            wanted = pass.wanted(row);
            arc = offsets[row] + (warp - graph.first_pieces[row]) * graph.piece_arcs;
            end = min(arc + graph.piece_arcs, offsets[row + 1]);
        } else {
            u32 kind = 0;
            while (kind < CLASSES - 1 && warp >= graph.warps[kind + 1]) kind++;
            shift -= kind;
            row = graph.rows[kind] + (warp - graph.warps[kind]) * (32 >> shift) + (lane() >> shift);
            if (row < graph.rows[kind + 1]) wanted = pass.wanted(row);
            if (wanted) {
                arc = offsets[row];
                end = offsets[row + 1];
            }
        }
        arc += lane_of_row();
    }

    __device__ __forceinline__ u32 lane_of_row() const { return lane() & ((1u << shift) - 1); }
};

// The sum of the row that a warp is at: rows come one after the other.
template <class Pass>
struct RowSum {
    typename Pass::Sum sum = {};
    u32 place = ~0u;  // of the row in the warp; ~0: none yet

    __device__ __forceinline__ void finish(Pass& pass, const WarpRows& rows) {
        if (place != ~0u) pass.finish(__shfl_sync(~0u, rows.row, place << rows.shift), sum);
    }

    // Adds the terms of one arc of each lane, whose mask is not 0; `far` is the arc's other end.
    __device__ __forceinline__ void add_arcs(Pass& pass, const WarpRows& rows, u32 far, u32 mask, u32 total) {
        for (u32 hits = __ballot_sync(~0u, mask != 0); hits;) {
            typename Pass::Term terms[Pass::AHEAD];
            u32 lanes[Pass::AHEAD];
#pragma unroll
            for (u32 i = 0; i < Pass::AHEAD; i++) {
                u32 next = hits ? __ffs(hits) - 1 : 0;
                u32 other = __shfl_sync(~0u, far, next), bits = __shfl_sync(~0u, mask, next);
                terms[i] = pass.load(other, hits && bits >> lane() & 1);
                lanes[i] = hits ? next : ~0u;
                hits &= hits - 1;
            }
#pragma unroll
            for (u32 i = 0; i < Pass::AHEAD; i++) {
                if (lanes[i] == ~0u) break;
                if (lanes[i] >> rows.shift != place) {
                    finish(pass, rows);
                    place = lanes[i] >> rows.shift;
                    pass.begin(__shfl_sync(~0u, rows.row, lanes[i]));
                    sum = {};
                }
                u32 of_arc = 0;
                if constexpr (Pass::BY_ARC) of_arc = __shfl_sync(~0u, total, lanes[i]);
                pass.add_term(sum, terms[i], of_arc);
            }
        }
    }
};

// Each warp pulls along its rows. `ends` are the far ends of the arcs.
template <class Pass>
__device__ __forceinline__ void pull(const LevelGraph& graph, const LevelBatch& batch, const u32* offsets,
                                     const u32* ends, Pass& pass) {
    WarpRows rows(graph, offsets, pass);
    if (!__any_sync(~0u, rows.wanted)) return;
    RowSum<Pass> sum;
    u32 to_total = 0;  // from the number of an arc to its place among the totals
    if constexpr (Pass::BY_ARC) {
        if (rows.wanted) to_total = pass.places[rows.row] - offsets[rows.row];
    }
    u32 arc = rows.arc, found = 0, far = arc < rows.end ? ends[arc] : 0,
        next = arc + 32 < rows.end ? ends[arc + 32] : 0;
    u32 mask = arc < rows.end ? pass.near[far] & rows.wanted : 0;
    for (; __any_sync(~0u, arc < rows.end); arc += 32) {
        u32 later = arc + 64 < rows.end ? ends[arc + 64] : 0, next_mask = 0;
        if (arc + 32 < rows.end) next_mask = pass.near[next] & rows.wanted;
        found |= mask;
        if constexpr (Pass::ADDS) {
            sum.add_arcs(pass, rows, far, mask, to_total + arc);
        } else if (rows.shift == 5 && !(rows.wanted & ~__reduce_or_sync(~0u, found))) {
            break;
        }
        far = next;
        next = later;
        mask = next_mask;
    }
    if constexpr (Pass::FINDS) {
        for (u32 apart = (1u << rows.shift) / 2; apart; apart /= 2) found |= __shfl_xor_sync(~0u, found, apart);
    }
    if constexpr (Pass::ADDS) {
        if (rows.is_piece) {
            if (!warp_joins_pieces(graph, batch, rows.warp, rows.row, sum.sum, found)) return;
            sum.place = 0;
        }
        sum.finish(pass, rows);
    }
    if constexpr (Pass::FINDS) {
        if (found && rows.lane_of_row() == 0) pass.take(rows.row, found);
    }
}
