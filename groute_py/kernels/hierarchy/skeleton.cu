// Rows of a skeleton: from sorted arcs, and without arcs that no shortest path needs.

#include "hierarchy/sums.cuh"
#include "layout/hierarchy.cuh"

__device__ __forceinline__ u32 thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ u32 thread_count() { return gridDim.x * blockDim.x; }

// The tail of each arc.
extern "C" __global__ void list_tails(const u32* offsets, u32 count, u32* tails) {
    for (u32 v = thread_number(); v < count; v += thread_count())
        for (u32 i = offsets[v]; i < offsets[v + 1]; i++) tails[i] = v;
}

// Marks the first of each run of equal keys, and gives it the least weights of the run. Arcs of a run are few.
extern "C" __global__ void join_parallel(const u64* keys, u32 count, const Distance* out, const Distance* in, u8* first,
                                         Distance* least_out, Distance* least_in) {
    for (u32 i = thread_number(); i < count; i += thread_count()) {
        first[i] = i == 0 || keys[i - 1] != keys[i];
        if (!first[i]) continue;
        Distance forward = out[i], backward = in[i];
        for (u32 j = i + 1; j < count && keys[j] == keys[i]; j++) {
            forward = min(forward, out[j]);
            backward = min(backward, in[j]);
        }
        least_out[i] = forward;
        least_in[i] = backward;
    }
}

// Where rows begin, from the sorted keys of their arcs.
extern "C" __global__ void begin_rows(const u64* keys, u32 arcs, u32 count, u32* offsets) {
    for (u32 i = thread_number(); i <= arcs; i += thread_count()) {
        const u32 after = i == 0 ? 0 : (u32)(keys[i - 1] >> 32) + 1, upto = i == arcs ? count : (u32)(keys[i] >> 32);
        for (u32 v = after; v <= upto; v++) offsets[v] = i;
    }
}

// Whether a path of two arcs stands in for an arc: it is lighter, or as light and both of its arcs weigh something.
// Either way both are lighter than the arc, so that an arc may stand in that is dropped itself.
__device__ __forceinline__ bool stands_in(Distance first, Distance second, Distance weight) {
    const Distance sum = path_sum(first, second);
    return sum < weight || (sum == weight && sum != UNREACHED && first > 0 && second > 0);
}

// The weights of arcs, UNREACHED where a path of two arcs stands in.
extern "C" __global__ void prune(const __grid_constant__ Skeleton s, const u32* tails, u32 arcs, Distance* out,
                                 Distance* in) {
    for (u32 e = thread_number(); e < arcs; e += thread_count()) {
        const u32 a = tails[e], b = s.heads[e], end = s.offsets[a + 1], stop = s.offsets[b + 1];
        Distance forward = s.out[e], backward = s.symmetric ? UNREACHED : s.in[e];
        for (u32 i = s.offsets[a], j = s.offsets[b]; i < end && j < stop;) {
            if (s.heads[i] == s.heads[j]) {
                if (forward != UNREACHED && stands_in(s.out[i], s.in[j], forward)) forward = UNREACHED;
                if (backward != UNREACHED && stands_in(s.out[j], s.in[i], backward)) backward = UNREACHED;
                i++, j++;
            } else if (s.heads[i] < s.heads[j]) {
                i++;
            } else {
                j++;
            }
        }
        out[e] = forward;
        if (!s.symmetric) in[e] = backward;
    }
}
