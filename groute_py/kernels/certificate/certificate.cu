// Whether an answer is a shortest-path answer: these kernels look for reasons to doubt it.
//
// There is no doubt if the source has distance 0, no arc shortens a distance, and each other reached vertex is led to:
// by a tight arc (the distance of the tail + the weight = that of the head) from a smaller distance, which is an arc of
// its predecessor if the answer has predecessors. Back along such arcs distances fall, and only the source ends that.
// (Ahuja, Magnanti and Orlin, "Network Flows", section 5.2.) Right answers can be in doubt too: with weights that are
// negative, zero, or so small that a float sum does not change. The host then looks closer.
//
// Nothing is shared with the solvers but the names of types. Distances are those that users get, so in integers they
// have 64 bits.

#include "layout/types.cuh"

// Of an arc; integers have 4 bytes or 8.
__device__ __forceinline__ Distance weight_of(const void* weights, u32 bytes, u32 arc) {
#if DISTANCE == 1
    if (bytes == 4) return ((const int*)weights)[arc];
#endif
    return ((const Distance*)weights)[arc];
}

// The last of rows `low` to `high` that begins at or before an arc.
__device__ u32 row_with(const i64* offsets, i64 arc, u32 low, u32 high) {
    while (low < high) {
        u32 middle = low + (high - low + 1) / 2;
        if (offsets[middle] <= arc)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// Looks at a slice of the arcs, BLOCK_ARCS a block: notes which vertices they lead to as above, and doubts if one
// shortens a distance to one of at most `bound`, or has a negative weight.
//
// offsets: where the rows of the slice begin among all arcs; the first and the last row may be cut
// heads, weights: of the slice; `arcs` of them, from arc `first_arc` on
// distance, parents: of all vertices; no parents if they are not to be looked at
// led: a byte for each vertex, 0 before the first slice
extern "C" __global__ void __launch_bounds__(BLOCK)
    check_arcs(const i64* offsets, u32 first_row, u32 rows, const u32* heads, const void* weights, u32 weight_bytes,
               i64 first_arc, u32 arcs, const Distance* distance, const i64* parents, Distance bound, u8* led,
               u32* doubt) {
    __shared__ u32 between[2];
    for (u32 begin = blockIdx.x * BLOCK_ARCS; begin < arcs; begin += gridDim.x * BLOCK_ARCS) {
        const u32 end = min(begin + BLOCK_ARCS, arcs);
        __syncthreads();
        if (threadIdx.x < 2)
            between[threadIdx.x] = row_with(offsets, first_arc + (threadIdx.x ? end - 1 : begin), 0, rows - 1);
        __syncthreads();
        for (u32 arc = begin + threadIdx.x; arc < end; arc += blockDim.x) {
            const u32 tail = first_row + row_with(offsets, first_arc + arc, between[0], between[1]);
            const u32 head = heads[arc];
            const Distance base = distance[tail], reach = distance[head];
            const Distance weight = weight_of(weights, weight_bytes, arc);
            if (!(weight >= 0)) *doubt = 1;
            if (!(weight >= 0) || base > LARGEST_DISTANCE - weight) continue;  // a sum that would not fit
            const Distance sum = base + weight;
            if (sum < reach && sum <= bound) *doubt = 1;
            if (base < reach && sum == reach && (!parents || parents[head] == tail)) led[head] = 1;
        }
    }
}

// Looks at each vertex, after all arcs: a thread for each. The size of the grid may not fit in 32 bits.
extern "C" __global__ void check_vertices(const Distance* distance, const i64* parents, const u8* led, u32 count,
                                          u32 source, Distance bound, u32* doubt) {
    const u32 v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= count) return;
    const bool is_reached = distance[v] != UNREACHED;  // which NaN is too, but nothing leads to it
    const bool is_led = v == source ? distance[v] == 0 : !is_reached || led[v];
    const bool is_within = !is_reached || distance[v] <= bound;
    const bool has_parent = parents && parents[v] != -1;
    if (!is_led || !is_within || (has_parent && (v == source || !is_reached))) *doubt = 1;
}
