// Rows of a skeleton: from arcs with keys, and without arcs that no shortest path needs. Where some of many are kept,
// `places` are the exclusive sums of their marks, and the sum of all.

#include "hierarchy/sums.cuh"
#include "layout/hierarchy.cuh"

__device__ __forceinline__ u32 thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ u32 thread_count() { return gridDim.x * blockDim.x; }

// The tail of each arc.
extern "C" __global__ void list_tails(const u32* offsets, u32 count, u32* tails) {
    for (u32 v = thread_number(); v < count; v += thread_count())
        for (u32 i = offsets[v]; i < offsets[v + 1]; i++) tails[i] = v;
}

// Both directions of the arcs of a graph, with weights as a skeleton has them. Loops get LOOP_KEY.
extern "C" __global__ void list_arcs(const u32* tails, const u32* heads, const Distance* weights, u32 arcs, u64* keys,
                                     Distance* out, Distance* in) {
    for (u32 e = thread_number(); e < arcs; e += thread_count()) {
        const u32 tail = tails[e], head = heads[e];
        const u64 back = (u64)arcs + e;
        keys[e] = tail == head ? LOOP_KEY : arc_key(tail, head);
        keys[back] = tail == head ? LOOP_KEY : arc_key(head, tail);
        out[e] = in[back] = weights[e];
        in[e] = out[back] = UNREACHED;
    }
}

// The key that is number i in their order, or LOOP_KEY behind all.
__device__ __forceinline__ u64 sorted_key(const u64* keys, const i64* order, u32 count, u32 i) {
    return i < count ? keys[order[i]] : LOOP_KEY;
}

// Marks the first of each run of equal keys, in their order.
extern "C" __global__ void mark_first(const u64* keys, const i64* order, u32 count, u32* marks) {
    for (u32 i = thread_number(); i < count; i += thread_count()) {
        const u64 key = keys[order[i]];
        marks[i] = key != LOOP_KEY && (i == 0 || key != keys[order[i - 1]]);
    }
}

// Rows of an arc for each run, with the least weights of the run's arcs, which are few.
extern "C" __global__ void join_parallel(const u64* keys, const i64* order, u32 count, const u32* places,
                                         const Distance* out, const Distance* in, u32 vertices, u32* offsets,
                                         u32* heads, Distance* least_out, Distance* least_in) {
    for (u32 i = thread_number(); i <= count; i += thread_count()) {
        const u64 key = sorted_key(keys, order, count, i), before = i == 0 ? LOOP_KEY : keys[order[i - 1]];
        if (i != 0 && key == before) continue;
        const u32 place = places[i], tail = key == LOOP_KEY ? vertices : (u32)(key >> 32);
        for (u32 v = i == 0 ? 0 : (u32)(before >> 32) + 1; v <= tail; v++) offsets[v] = place;
        if (key == LOOP_KEY) continue;
        Distance forward = UNREACHED, backward = UNREACHED;
        for (u32 j = i; sorted_key(keys, order, count, j) == key; j++) {
            forward = min(forward, out[order[j]]);
            backward = min(backward, in[order[j]]);
        }
        heads[place] = (u32)key;
        least_out[place] = forward;
        least_in[place] = backward;
    }
}

// Sets `differs` if an edge weighs more in one direction.
extern "C" __global__ void compare_directions(const __grid_constant__ Skeleton s, u32 arcs, u32* differs) {
    for (u32 e = thread_number(); e < arcs; e += thread_count())
        if (s.out[e] != s.in[e]) *differs = 1;
}

// The arcs of the longest row.
extern "C" __global__ void find_longest(const __grid_constant__ Skeleton s, u32* longest) {
    u32 most = 0;
    for (u32 v = thread_number(); v < s.count; v += thread_count()) most = max(most, s.offsets[v + 1] - s.offsets[v]);
    atomicMax(longest, most);
}

// Marks arcs that lead from their tail to their head.
extern "C" __global__ void mark_outward(const __grid_constant__ Skeleton s, u32 arcs, u32* marks) {
    for (u32 e = thread_number(); e < arcs; e += thread_count()) marks[e] = s.out[e] != UNREACHED;
}

// Rows of some of a skeleton's arcs, with other weights.
extern "C" __global__ void keep_arcs(const __grid_constant__ Skeleton s, u32 arcs, const u32* places,
                                     const Distance* out, const Distance* in, u32* offsets, u32* heads,
                                     Distance* kept_out, Distance* kept_in) {
    for (u32 v = thread_number(); v <= s.count; v += thread_count()) offsets[v] = places[s.offsets[v]];
    for (u32 e = thread_number(); e < arcs; e += thread_count()) {
        const u32 place = places[e];
        if (place == places[e + 1]) continue;
        heads[place] = s.heads[e];
        kept_out[place] = out[e];
        kept_in[place] = in[e];
    }
}

// Whether a path of two arcs stands in for an arc: it is lighter, or as light and both of its arcs weigh something.
// Either way both are lighter than the arc, so that an arc may stand in that is dropped itself.
__device__ __forceinline__ bool stands_in(Distance first, Distance second, Distance weight) {
    const Distance sum = path_sum(first, second);
    return sum < weight || (sum == weight && sum != UNREACHED && first > 0 && second > 0);
}

// The weights of arcs, UNREACHED where a path of two arcs stands in; and a mark where an arc is left.
extern "C" __global__ void prune(const __grid_constant__ Skeleton s, const u32* tails, u32 arcs, Distance* out,
                                 Distance* in, u32* marks) {
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
        marks[e] = forward != UNREACHED || backward != UNREACHED;
    }
}
