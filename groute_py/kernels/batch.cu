// Many sources, one block each: near–far Δ-stepping (see near_far.cu) within a block, which meets at
// block barriers only. Hundreds of sources are in flight, so that nobody waits for the latency of
// another. A block takes the next source when it has done one.
//
// A vertex is in near at most once, and far is a set of bits, so nothing can overflow. The bits lie
// in shared memory where they fit.
#pragma once

#define CREW blockDim.x  // few sources get more threads each: 256 to 1024
#define HANDS 4          // lanes that share a row
#define LONG_ROW 256     // arcs from which the whole block shares a row
#define LONG_ROWS 64     // such rows put off at once
#define FULL 0xffffffffu

struct Source {
    Distance* distance;
    u32* near_bits;
    u32* far_bits;
    u32* next;         // near, for the level to come
    u32* next_count;
    Distance threshold;
};

__device__ __forceinline__ bool set_bit(u32* bits, u32 v) {
    u32 bit = 1u << (v % 32);
    return !(atomicOr(bits + v / 32, bit) & bit);
}

// Returns the distance if the vertex went to far, else NOTHING.
__device__ __forceinline__ Distance reach(const Source& source, u32 vertex, Distance distance) {
    if (distance >= current(source.distance + vertex)) return NOTHING;
    if (distance >= atomic_min(source.distance + vertex, distance)) return NOTHING;
    if (distance < source.threshold) {
        if (set_bit(source.near_bits, vertex)) source.next[atomicAdd(source.next_count, 1)] = vertex;
        return NOTHING;
    }
    set_bit(source.far_bits, vertex);
    return distance;
}

__device__ __forceinline__ Distance least_of_block(Distance mine, Distance* shared) {
    __syncthreads();
    if (threadIdx.x == 0) *shared = NOTHING;
    __syncthreads();
    if (mine < NOTHING) atomic_min(shared, mine);
    __syncthreads();
    return *shared;
}

__device__ __forceinline__ Distance beyond(Distance distance, Distance delta) {
    Distance sum = plus(distance, delta);
    return sum <= distance ? NOTHING : sum;  // also where rounding takes all of delta
}

// Relax arcs begin, begin + step, ... of a row; returns the least distance that went to far.
__device__ __forceinline__ Distance relax_row(const Arc* arcs, const Source& source,
                                              Distance distance, Offset begin, Offset end, u32 step,
                                              u32* overflowed) {
    Distance least = NOTHING;
    for (Offset a = begin; a < end; a += step) {
        Arc arc = load(arcs + a);
        Distance sum = plus(distance, arc.weight);
        if (sum < distance || sum >= NOTHING) {
            *overflowed = 1;
        } else {
            least = min(least, reach(source, arc.head, sum));
        }
    }
    return least;
}

// Take what is pending below the new threshold into near; returns the least distance that stays.
__device__ __forceinline__ Distance split_far(const Source& source, u32 words, Distance before) {
    Distance least = NOTHING;
    for (u32 word = threadIdx.x; word < words; word += CREW) {
        u32 bits = *(volatile u32*)(source.far_bits + word), stay = 0;
        while (bits) {
            u32 bit = bits & -bits, vertex = 32 * word + __ffs(bits) - 1;
            bits ^= bit;
            Distance distance = current(source.distance + vertex);
            if (distance < before) continue;  // relaxed since
            if (distance < source.threshold) {
                atomicOr(source.near_bits + word, bit);
                source.next[atomicAdd(source.next_count, 1)] = vertex;
            } else {
                stay |= bit;
                least = min(least, distance);
            }
        }
        source.far_bits[word] = stay;
    }
    return least;
}

// marks: 2 · words for each block, or null where they fit in shared memory; lists: 2 · vertices for
// each block; counter: the next source.
extern "C" __global__ void __launch_bounds__(1024)
    batch(const Offset* offsets, const Arc* arcs, u32 vertices, Distance delta, const u32* sources,
          u32 count, Distance* rows, u32* lists, u32* marks, u32* counter, u32* overflowed) {
    extern __shared__ u32 shared_marks[];
    __shared__ u32 job, sizes[2], long_count, long_rows[LONG_ROWS];
    __shared__ Distance shared_least;
    u32 words = (vertices + 31) / 32;
    Source source;
    source.near_bits = marks ? marks + 2ull * words * blockIdx.x : shared_marks;
    source.far_bits = source.near_bits + words;
    u32* own_lists = lists + 2ull * vertices * blockIdx.x;
    u32 lane = threadIdx.x % 32, hand = threadIdx.x % HANDS;
    u32 together = ((1u << HANDS) - 1) << (lane - hand);

    for (;;) {
        if (threadIdx.x == 0) job = atomicAdd(counter, 1);
        __syncthreads();
        if (job >= count) return;
        source.distance = rows + (u64)job * vertices;
        for (u32 v = threadIdx.x; v < vertices; v += CREW) source.distance[v] = NOTHING;
        for (u32 w = threadIdx.x; w < 2 * words; w += CREW) source.near_bits[w] = 0;
        if (threadIdx.x == 0) {
            sizes[0] = 1;
            sizes[1] = long_count = 0;
            own_lists[0] = sources[job];
        }
        __syncthreads();
        if (threadIdx.x == 0) __stcg(source.distance + sources[job], (Distance)0);
        source.threshold = delta;
        Distance least = NOTHING;  // this thread's, of what is in far
        u32 side = 0;
        __syncthreads();
        for (;;) {
            u32 size = sizes[side];
            const u32* near = own_lists + (u64)side * vertices;
            source.next = own_lists + (u64)(side ^ 1) * vertices;
            source.next_count = &sizes[side ^ 1];
            if (size == 0) {
                Distance nearest = least_of_block(least, &shared_least);
                if (nearest == NOTHING) break;
                Distance before = source.threshold;
                source.threshold = beyond(nearest, delta);
                least = split_far(source, words, before);
                side ^= 1;
                __syncthreads();
                continue;
            }
            // marks first: who is improved from here on is listed again
            for (u32 i = threadIdx.x; i < size; i += CREW) {
                atomicAnd(source.near_bits + near[i] / 32, ~(1u << (near[i] % 32)));
            }
            __syncthreads();
            for (u32 i = threadIdx.x / HANDS; i < size; i += CREW / HANDS) {
                u32 vertex = near[i];
                Offset begin = offsets[vertex], end = offsets[vertex + 1];
                if (end - begin > LONG_ROW) {
                    u32 place = hand == 0 ? atomicAdd(&long_count, 1) : 0;
                    place = __shfl_sync(together, place, lane - hand);
                    if (place < LONG_ROWS) {
                        if (hand == 0) long_rows[place] = vertex;
                        continue;
                    }
                }
                Distance distance = current(source.distance + vertex);
                begin += hand;
                least = min(least, relax_row(arcs, source, distance, begin, end, HANDS, overflowed));
            }
            __syncthreads();
            for (u32 i = 0; i < min(long_count, (u32)LONG_ROWS); i++) {
                u32 vertex = long_rows[i];
                Offset begin = offsets[vertex] + threadIdx.x, end = offsets[vertex + 1];
                Distance distance = current(source.distance + vertex);
                least = min(least, relax_row(arcs, source, distance, begin, end, CREW, overflowed));
            }
            __syncthreads();
            if (threadIdx.x == 0) sizes[side] = long_count = 0;
            side ^= 1;
            __syncthreads();
        }
        __syncthreads();
    }
}
