// Local and global numbers of vertices.
#pragma once

#include "layout/graph.cuh"

__device__ __forceinline__ u32 local_count(const Share& share) { return share.rows + share.halo; }

__device__ __forceinline__ bool has_halo(const Share& share) { return HALO && share.halo > 0; }

// Whether an arc with that head leads to another rank's vertex.
__device__ __forceinline__ bool leaves(const Share& share, u32 head) { return HALO && head >= share.own; }

// The global number of a vertex that has a row. If the rank has renumbered its vertices (sssp/degree_order.cu) the
// offset from `first` is the new number.
__device__ __forceinline__ u64 global_number(const Share& share, u32 vertex) {
    if (vertex < share.own) return share.first + vertex;
    u32 mirror = vertex - share.own;
    return share.first - share.before + mirror + (mirror < share.before ? 0 : share.own);
}

// The owner of a halo vertex, given by its place in the halo.
__device__ __forceinline__ u32 owner(const Share& share, u32 place) {
    u32 low = 0, high = share.peers;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (share.halo_starts[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}
