// What a solve has reached, for its statistics.

// Adds up the arcs that leave reached vertices; among peers those of what is owned, wherever they lie.
extern "C" __global__ void count_reached(const __grid_constant__ Share share,
                                         const __grid_constant__ Work work, u64* arcs) {
    u32 stride = gridDim.x * blockDim.x;
    u64 mine = 0;
    for (u32 v = blockIdx.x * blockDim.x + threadIdx.x; v < share.own; v += stride) {
        if (work.distance[v] == NOTHING) continue;
        mine += share.degrees ? share.degrees[v] : share.offsets[v + 1] - share.offsets[v];
    }
    add_up(arcs, mine);
}
