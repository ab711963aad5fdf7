// A graph while it is contracted, and the hierarchy that comes of it.
#pragma once

#include "layout/graph.cuh"

#define LOOP_KEY ~0ull  // the key of a loop, behind those of all arcs

// The key by which arcs are sorted into rows.
__device__ __forceinline__ u64 arc_key(u32 tail, u32 head) { return (u64)tail << 32 | head; }

// What is left of the graph, as an undirected graph with two weights an edge. Rows ascend by head and have no loops.
struct Skeleton {
    const u32* offsets;  // count + 1
    const u32* heads;
    const Distance* out;  // weight from the tail to the head, or UNREACHED
    const Distance* in;   // weight from the head to the tail, or UNREACHED; the same array as `out` if symmetric
    u32 count;
    u32 symmetric;
};

// Places count the vertices from the core outward; see hierarchy/hierarchy.py.
struct Hierarchy {
    const u32* levels;     // level_count + 1: first place of each level; level 0 is the core
    const u32* offsets;    // vertices + 1
    const Arc* down;       // arcs upward; their weights are those from the head to the tail
    const Arc* up;         // the same arcs with the weights from the tail to the head
    const Distance* core;  // core_count x core_count distances within the core
    const u32* places;     // vertices: the place of each
    u32 vertices;
    u32 level_count;
    u32 core_count;
};
