// Labels and distances out of a customized hierarchy. The label of a vertex has, by depth, its distance up to each
// ancestor in the elimination tree, or from there down to it, and 0 for the vertex itself. Rows begin at multiples of
// ROW_STEP entries. A pair is the least sum over the ancestors that both ends have in common, with which both labels
// begin (Ouyang et al., "When hierarchy meets 2-hop-labeling", 2018).

#include "customization/lengths.cuh"
#include "primitives/warp.cuh"

#define ROW_STEP 4
#define MOST_SHARES 8
#define EACH (16 / sizeof(Length))  // entries that a thread loads at once
#define PAIR_THREADS 8              // of a pair
#define PART 32                     // entries of a label that a warp computes
#define ROW_LANES (PART / EACH)     // lanes that take them from one arc
#define ARCS_AT_ONCE (32 / ROW_LANES)

struct alignas(16) Entries {
    Length each[EACH];
};

// One level: all its vertices have the same depth, and their ancestors have labels. A warp takes a part of a label in
// one direction. Its lanes load 32 arcs together, and then the labels of some heads at once. Heads descend, so those
// that are deep enough for the part come first. What is behind the end of a label, up to the next vector, is NOTHING.
extern "C" __global__ void fill_labels(u32 begin, u32 end, u32 depth, const u32* offsets, const u32* heads,
                                       const u16* depths, const u32* rows, const Length* lengths, Length* up,
                                       Length* down, u32* flags) {
    const u32 parts = depth / PART + 1, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const u32 direction = warp / parts & 1, vertex = begin + warp / parts / 2, part = warp % parts * PART;
    if (vertex >= end) return;
    Length* labels = direction ? down : up;
    const u32 entry = part + lane() % ROW_LANES * EACH, group = lane() / ROW_LANES, stop = offsets[vertex + 1];
    Entries best;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) best.each[k] = NOTHING;
    u32 count = 32;
    for (u32 base = offsets[vertex]; base < stop && count == 32; base += 32) {
        u32 row = 0, above = 0;
        Length length = NOTHING;
        const bool there = base + lane() < stop;
        if (there) {
            const u32 head = heads[base + lane()];
            row = rows[head];
            above = depths[head];
            length = lengths[2 * (u64)(base + lane()) + direction];
        }
        count = __popc(__ballot_sync(~0u, there && above >= part));
#pragma unroll 4
        for (u32 first = 0; first < count; first += ARCS_AT_ONCE) {
            const u32 arc = first + group;
            const Length* label = labels + (u64)__shfl_sync(~0u, row, arc) * ROW_STEP;
            const u32 last = __shfl_sync(~0u, above, arc);
            const Length way = __shfl_sync(~0u, length, arc);
            if (arc < count && entry <= last) {
                const ulonglong2 words = load_l2((const ulonglong2*)(label + entry));
                const Entries& from = *(const Entries*)&words;
#pragma unroll
                for (u32 k = 0; k < EACH; k++) best.each[k] = min(best.each[k], from.each[k] + way);
            }
        }
    }
#pragma unroll
    for (u32 apart = ROW_LANES; apart < 32; apart *= 2) {
#pragma unroll
        for (u32 k = 0; k < EACH; k++) best.each[k] = min(best.each[k], __shfl_xor_sync(~0u, best.each[k], apart));
    }
    if (group || entry > depth) return;
    bool wide = false;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        wide |= is_wide(best.each[k]);
        if (entry + k == depth) best.each[k] = 0;
    }
    if (wide) atomicOr(flags, TOO_WIDE);
    *(ulonglong2*)(labels + (u64)rows[vertex] * ROW_STEP + entry) = *(const ulonglong2*)&best;
}

// The labels of all vertices, in shares by ranges of a preorder of the tree; other GPUs' shares are mapped. By vertex
// of the graph the place in the preorder, and the row in the share; and the least depth of each range of the preorder
// whose length is a power of two.
struct Labels {
    const Length* up[MOST_SHARES];
    const Length* down[MOST_SHARES];
    u32 firsts[MOST_SHARES];  // places
    u32 shares;
    u32 vertices;
    const u32* places;
    const u32* rows;
    const u16* minima;
};

__device__ __forceinline__ u32 share_of(const Labels& labels, u32 place) {
    u32 share = 0;
    for (u32 next = 1; next < labels.shares; next++) share += place >= labels.firsts[next];
    return share;
}

__device__ __forceinline__ Entries load_entries(const Length* place) {
    Entries entries;
    *(ulonglong2*)&entries = __ldg((const ulonglong2*)place);
    return entries;
}

// Ancestors in common of two places: as many as the least depth behind the one up to the other, which is that of a
// child of the last of them.
__device__ __forceinline__ u32 shared_ancestors(const Labels& labels, u32 a, u32 b) {
    const u32 first = min(a, b) + 1, last = max(a, b), power = 31 - __clz((int)(last - first + 1));
    const u16* minima = labels.minima + (u64)power * labels.vertices;
    return min((u32)minima[first], (u32)minima[last + 1 - (1u << power)]);
}

// PAIR_THREADS neighbouring threads look up a pair, and the first of them has the distance.
__device__ __forceinline__ i64 look_up(const Labels& labels, u32 source, u32 target) {
    const u32 part = threadIdx.x % PAIR_THREADS;
    const u32 a = labels.places[source], b = labels.places[target];
    Length best = NOTHING;
    if (a == b)
        best = 0;
    else {
        const Length* from = labels.up[share_of(labels, a)] + (u64)labels.rows[source] * ROW_STEP;
        const Length* to = labels.down[share_of(labels, b)] + (u64)labels.rows[target] * ROW_STEP;
        const u32 shared = shared_ancestors(labels, a, b);
        for (u32 entry = part * EACH; entry < shared; entry += PAIR_THREADS * EACH) {
            const Entries x = load_entries(from + entry), y = load_entries(to + entry);
#pragma unroll
            for (u32 k = 0; k < EACH; k++)
                if (entry + k < shared) best = min(best, x.each[k] + y.each[k]);
        }
    }
    const u32 lanes = 0xffu << (threadIdx.x & 24);
    for (u32 apart = PAIR_THREADS / 2; apart; apart /= 2) best = min(best, __shfl_xor_sync(lanes, best, apart));
    return as_distance(best);
}

// Distances of pairs; the bytes are those of a vertex.
extern "C" __global__ void look_up_pairs(const __grid_constant__ Labels labels, const void* sources,
                                         const void* targets, u32 source_bytes, u32 target_bytes, u64 count,
                                         i64* distances, u32* flags) {
    const u64 step = (u64)gridDim.x * blockDim.x / PAIR_THREADS;
    u64 pair = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / PAIR_THREADS;
    for (; pair < count; pair += step) {
        const u32 source = vertex_at(sources, source_bytes, pair, labels.vertices, flags);
        const u32 target = vertex_at(targets, target_bytes, pair, labels.vertices, flags);
        const i64 distance = look_up(labels, source, target);
        if (threadIdx.x % PAIR_THREADS == 0) distances[pair] = distance;
    }
}

// The distances from each source to each target, row by row; the grid has a row of blocks for each source.
extern "C" __global__ void look_up_rows(const __grid_constant__ Labels labels, const void* sources, const void* targets,
                                        u32 source_bytes, u32 target_bytes, u32 columns, i64* distances, u32* flags) {
    const u32 source = vertex_at(sources, source_bytes, blockIdx.y, labels.vertices, flags);
    u32 column = (blockIdx.x * blockDim.x + threadIdx.x) / PAIR_THREADS;
    for (; column < columns; column += gridDim.x * blockDim.x / PAIR_THREADS) {
        const u32 target = vertex_at(targets, target_bytes, column, labels.vertices, flags);
        const i64 distance = look_up(labels, source, target);
        if (threadIdx.x % PAIR_THREADS == 0) distances[(u64)blockIdx.y * columns + column] = distance;
    }
}
