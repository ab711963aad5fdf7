// The draws of groute_py/kernels/cpu/draw.py, which has the definition: edge number e of a generated graph, and its
// weight, are functions of the seed and e, so any thread may make any edge.
#pragma once

#include "layout/types.cuh"

#define GOLDEN 0x9E3779B97F4A7C15ull  // 2^64 over the golden ratio

#define STREAM_EDGE 1
#define STREAM_WEIGHT 2
#define STREAM_LEVELS 3
#define STREAM_IDS 4

#define ID_ROUNDS 4
#define LEVELS_A_DRAW 3
#define FIELD ((1ull << 42) + (1ull << 21) + 1)  // one in each of the three fields of a draw, 21 bits apart
#define OVER(share) ((u64)((1 << 20) - (int)((share) * (1 << 20))) * FIELD)  // carries from a field not below the share
#define MOST_WEIGHT 255u

// A generated graph. Of R-MAT edge e is the arcs 2e, from its tail, and 2e + 1, from its head; elsewhere it is arc e.
struct RandomGraph {
    u64 edges, seed;
    u32 vertices, scale, is_rmat;  // the vertices of R-MAT are 2^scale
};

struct Edge {
    u32 tail, head;
};

// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
__device__ __forceinline__ u64 mix(u64 z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

// Draw number `index` of a stream.
__device__ __forceinline__ u64 draw(u64 key, u64 index) { return mix(key + (index + 1) * GOLDEN); }

// 32 bits as a number below `count`.
__device__ __forceinline__ u32 below(u32 bits, u32 count) { return (u32)((u64)bits * count >> 32); }

// The draws of a graph, which each thread prepares once.
class Draws {
  public:
    __device__ explicit Draws(const RandomGraph& graph) : graph(graph) {
        edge_key = key(graph.is_rmat ? STREAM_LEVELS : STREAM_EDGE);
        weight_key = key(STREAM_WEIGHT);
        const u64 id_key = key(STREAM_IDS);
#pragma unroll
        for (int k = 0; k < 2 * ID_ROUNDS; k++) rounds[k] = (u32)draw(id_key, k) | (k % 2 == 0);
    }

    __device__ Edge edge(u64 number) const {
        if (!graph.is_rmat) {
            const u64 ends = draw(edge_key, number);
            return {below((u32)(ends >> 32), graph.vertices), below((u32)ends, graph.vertices)};
        }
        const u32 count = (graph.scale + LEVELS_A_DRAW - 1) / LEVELS_A_DRAW;
        u64 tails = 0, heads = 0;
        for (u32 k = 0; k < count; k++) {
            const u64 fields = draw(edge_key, number * count + k) & ((1 << 20) - 1) * FIELD;
            const u64 over_a = (fields + OVER(0.57)) >> 20, over_ab = (fields + OVER(0.76)) >> 20;
            const u64 over_abc = (fields + OVER(0.95)) >> 20;
            tails |= (over_ab & FIELD) << k;
            heads |= (((over_a & ~over_ab) | over_abc) & FIELD) << k;
        }
        return {scrambled(joined(tails, count)), scrambled(joined(heads, count))};
    }

    __device__ u32 weight(u64 number) const { return 1 + below((u32)(draw(weight_key, number) >> 32), MOST_WEIGHT); }

  private:
    const RandomGraph& graph;
    u64 edge_key, weight_key;
    u32 rounds[2 * ID_ROUNDS];

    __device__ u64 key(u64 stream) const { return mix(mix(graph.seed + GOLDEN) + stream * GOLDEN); }

    // The lowest `count` bits of each of three fields, side by side.
    __device__ static u32 joined(u64 fields, u32 count) {
        const u32 mask = (1u << count) - 1;
        return ((u32)fields & mask) | ((u32)(fields >> 21) & mask) << count | (u32)(fields >> 42) << (2 * count);
    }

    // A bijection on the numbers of `scale` bits.
    __device__ u32 scrambled(u32 vertex) const {
        const u32 mask = (1u << graph.scale) - 1, shift = (graph.scale + 1) / 2;
#pragma unroll
        for (int k = 0; k < 2 * ID_ROUNDS; k += 2) {
            vertex = (vertex * rounds[k] + rounds[k + 1]) & mask;
            vertex ^= vertex >> shift;
        }
        return vertex;
    }
};
