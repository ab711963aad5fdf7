// Solves that end early: the distances of the targets, and what lies beyond them.

#include "layout/worklists.cuh"
#include "primitives/access.cuh"

// Writes the distance of each of some vertices.
extern "C" __global__ void list_distances(const Distance* distance, const u32* vertices, u32 count, Distance* found) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) found[i] = distance[vertices[i]];
}

// Makes vertices beyond a bound unreached, with no predecessors where those are given. What is not recorded has the
// same bits as no predecessor.
extern "C" __global__ void forget_beyond(Distance* distance, i64* parent, u32 count, Distance bound) {
    u32 v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= count || distance[v] <= bound) return;
    distance[v] = UNREACHED;
    if (parent) parent[v] = -1;
}
