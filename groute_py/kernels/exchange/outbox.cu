// Messages between ranks in rounds: merging received improvements, and filling the outboxes.

#include "primitives/vertices.cuh"
#include "sssp/worklists.cuh"

// Merges `count` improvements of owned vertices; those that still improve go to the worklists.
extern "C" __global__ void merge(const __grid_constant__ Work work, Control* control, const Distance* distances,
                                 const u32* vertices, u32 count) {
    u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    Entry entry = {};
    bool nearer = false;
    if (index < count) {
        entry.vertex = vertices[index];
        entry.distance = distances[index];
        nearer = entry.distance < atomic_min(&work.distance[entry.vertex], entry.distance);
    }
    bool close = nearer && entry.distance < control->threshold;
    if (close && entry.distance < load_l2(&control->bucket_begin))
        atomic_min(&control->bucket_begin, entry.distance);  // `bucket_begin` is a lower bound of near
    warp_append(work, control, near_list(work, control, control->step), entry, NO_VERTEX, close);
    warp_append(work, control, far_list(work, control, control->far_side), entry, NO_VERTEX, nearer && !close);
}

// Empties the dirty list into the outboxes. The box of owner p begins at halo_starts[p] and has room
// for its whole halo, so it cannot overflow. `parents` is 0 for improvements, 1 for claims.
extern "C" __global__ void fill_outboxes(const __grid_constant__ Share share, const __grid_constant__ Work work,
                                         Control* control, u32 parents) {
    u32 count = control->dirty_count, stride = gridDim.x * blockDim.x;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        u32 vertex = work.dirty[i], place = vertex - share.rows, peer = owner(share, place);
        atomicAnd(&work.dirty_bits[place >> 5], ~(1u << (place & 31)));
        u32 slot = share.halo_starts[peer] + atomicAdd(&work.box_count[peer], 1u);
        work.box_vertex[slot] = share.halo_home[place];
        work.box_distance[slot] = work.distance[vertex];
        if (parents) work.box_parent[slot] = work.parent[vertex];
    }
}
