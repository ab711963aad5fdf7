// Many sources, one block each: near–far Δ-stepping (see sssp/near_far.cu) within a block, with block barriers only.
// Hundreds of sources are in flight, which hides latency. A block takes the next source when it has finished one.
//
// A vertex is in near at most once, and far is a bitmap, so nothing can overflow. The bitmaps are in shared memory if
// they fit.

#include "primitives/access.cuh"
#include "primitives/algebra.cuh"

#define ROW_LANES 4   // lanes a row
#define AT_ONCE 2     // arcs that a lane has in flight
#define LONG_ROW 256  // the whole block relaxes rows with this many arcs
#define LONG_ROWS 64  // such rows that can be queued
DYNAMIC_SHARED(u32, shared_marks);

// A type for each place of the bits, because an atomic on a generic address (shared or global) is many times slower
// than one on shared memory.
struct NearbyMarks {
    __device__ __forceinline__ u32* at(u32 word) const { return shared_marks + word; }
};

struct DistantMarks {
    u32* first;

    __device__ __forceinline__ u32* at(u32 word) const { return first + word; }
};

template <class Marks>
struct Source {
    Distance* distance;
    Marks marks;  // bitmap of near, then of far
    u32 words;    // of each bitmap
    u32* next;    // near list of the next level
    u32* next_count;
    Distance threshold;
    Distance bound;  // vertices beyond it stay unreached

    // Adds a vertex to near; whether it was not there yet.
    __device__ __forceinline__ bool mark_near(u32 v) const { return set(v / 32, v); }
    __device__ __forceinline__ bool mark_far(u32 v) const { return set(words + v / 32, v); }
    __device__ __forceinline__ void unmark_near(u32 v) const { atomicAnd(marks.at(v / 32), ~(1u << (v % 32))); }

  private:
    __device__ __forceinline__ bool set(u32 word, u32 v) const {
        u32 bit = 1u << (v % 32);
        return !(atomicOr(marks.at(word), bit) & bit);
    }
};

// Returns the distance if the vertex went to far, else LARGEST_DISTANCE.
template <class Marks>
__device__ __forceinline__ Distance reach(const Source<Marks>& source, u32 vertex, Distance distance) {
    if (distance >= atomic_min(source.distance + vertex, distance)) return LARGEST_DISTANCE;
    if (distance < source.threshold) {
        if (source.mark_near(vertex)) source.next[atomicAdd(source.next_count, 1)] = vertex;
        return LARGEST_DISTANCE;
    }
    source.mark_far(vertex);
    return distance;
}

__device__ __forceinline__ Distance block_minimum(Distance mine, Distance* shared) {
    __syncthreads();
    if (threadIdx.x == 0) *shared = LARGEST_DISTANCE;
    __syncthreads();
    if (mine < LARGEST_DISTANCE) atomic_min(shared, mine);
    __syncthreads();
    return *shared;
}

__device__ __forceinline__ Distance beyond(Distance distance, Distance delta) {
    Distance sum = plus(distance, delta);
    return sum <= distance ? LARGEST_DISTANCE : sum;  // overflow, or delta is lost in rounding
}

struct Row {
    u32 vertex;
    Offset begin, end;
};

__device__ __forceinline__ Row row_of(const Offset* offsets, u32 vertex) {
    return {vertex, offsets[vertex], offsets[vertex + 1]};
}

// Relax arcs begin, begin + step, ... of a row; returns the least distance that went to far.
template <class Marks>
__device__ __forceinline__ Distance relax_row(const Arc* arcs, const Source<Marks>& source, const Row& row, u32 step,
                                              u32* overflowed) {
    Distance distance = load_l2(source.distance + row.vertex), least = LARGEST_DISTANCE;
    for (Offset a = row.begin; a < row.end; a += AT_ONCE * step) {
        Arc arc[AT_ONCE];
        Distance known[AT_ONCE];
        for (u32 k = 0; k < AT_ONCE; k++) {
            if (a + k * step < row.end) arc[k] = load(arcs + a + k * step);
        }
        for (u32 k = 0; k < AT_ONCE; k++) {
            if (a + k * step < row.end) known[k] = load_l2(source.distance + arc[k].head);
        }
        for (u32 k = 0; k < AT_ONCE; k++) {
            if (a + k * step >= row.end) continue;
            Distance sum = extend(distance, arc[k].weight);
            if (sum < distance || sum >= LARGEST_DISTANCE) {
                if (source.bound == NO_CUTOFF) *overflowed = 1;
            } else if (sum < known[k] && sum <= source.bound) {
                least = min(least, reach(source, arc[k].head, sum));
            }
        }
    }
    return least;
}

// Moves all vertices from far to the list.
template <class Marks>
__device__ __forceinline__ void block_list_far(const Source<Marks>& source, u32* pending, u32* pending_count) {
    for (u32 word = threadIdx.x; word < source.words; word += blockDim.x) {
        volatile u32* place = source.marks.at(source.words + word);
        u32 bits = *place;
        if (!bits) continue;
        *place = 0;
        u32 next = atomicAdd(pending_count, __popc(bits));
        for (; bits; bits &= bits - 1) pending[next++] = 32 * word + __ffs(bits) - 1;
    }
}

// Moves listed vertices below the new threshold to near; returns the least distance that stays in far.
template <class Marks>
__device__ __forceinline__ Distance block_split_far(const Source<Marks>& source, const u32* pending, u32 count,
                                                    Distance before) {
    Distance least = LARGEST_DISTANCE;
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
        u32 vertex = pending[i];
        Distance distance = load_l2(source.distance + vertex);
        if (distance < before) continue;  // has been relaxed meanwhile
        if (distance < source.threshold) {
            source.mark_near(vertex);
            source.next[atomicAdd(source.next_count, 1)] = vertex;
        } else {
            source.mark_far(vertex);
            least = min(least, distance);
        }
    }
    return least;
}

// What the threads of a block share, in shared memory.
struct BlockState {
    u32 job;       // number of the source
    u32 sizes[3];  // of near, rotating by level: this level's, the next one's, one that is cleared
    u32 long_count, long_rows[LONG_ROWS];
    Distance least;
};

// Only the source is reached, and it is the only near vertex.
template <class Marks>
__device__ __forceinline__ void block_begin(const Source<Marks>& source, BlockState& state, u32 vertices,
                                            const u32* sources, u32* near) {
    for (u32 v = threadIdx.x; v < vertices; v += blockDim.x) source.distance[v] = UNREACHED;
    for (u32 w = threadIdx.x; w < 2 * source.words; w += blockDim.x) *source.marks.at(w) = 0;
    if (threadIdx.x == 0) {
        state.sizes[0] = 1;
        state.sizes[1] = state.long_count = 0;
        near[0] = sources[state.job];
    }
    __syncthreads();
    if (threadIdx.x == 0) __stcg(source.distance + sources[state.job], (Distance)0);
    __syncthreads();
}

// Splits far by the next threshold, when near is empty. Returns whether far had any vertex. `least` is the least
// distance that this thread has put into far.
template <class Marks>
__device__ __forceinline__ bool block_open_bucket(Source<Marks>& source, BlockState& state, u32* near, u32* size,
                                                  Distance delta, Distance& least) {
    const Distance nearest = block_minimum(least, &state.least), before = source.threshold;
    if (nearest == LARGEST_DISTANCE) return false;
    source.threshold = beyond(nearest, delta);
    block_list_far(source, near, size);  // both were empty
    __syncthreads();
    least = block_split_far(source, near, *size, before);
    __syncthreads();
    return true;
}

// Relaxes the rows of near, ROW_LANES lanes each, and queues long ones while there is room.
template <class Marks>
__device__ __forceinline__ void block_relax_near(const Offset* offsets, const Arc* arcs, const Source<Marks>& source,
                                                 BlockState& state, const u32* near, u32 size, Distance& least,
                                                 u32* overflowed) {
    const u32 row_lane = threadIdx.x % ROW_LANES, first_lane = threadIdx.x % 32 - row_lane,
              together = ((1u << ROW_LANES) - 1) << first_lane;
    // clear the bits first, so that vertices that improve from here on are listed again
    for (u32 i = threadIdx.x; i < size; i += blockDim.x) source.unmark_near(near[i]);
    __syncthreads();
    for (u32 i = threadIdx.x / ROW_LANES; i < size; i += blockDim.x / ROW_LANES) {
        Row row = row_of(offsets, near[i]);
        if (row.end - row.begin > LONG_ROW) {
            u32 place = row_lane == 0 ? atomicAdd(&state.long_count, 1) : 0;
            place = __shfl_sync(together, place, first_lane);
            if (place < LONG_ROWS) {
                if (row_lane == 0) state.long_rows[place] = row.vertex;
                continue;
            }
        }
        row.begin += row_lane;
        least = min(least, relax_row(arcs, source, row, ROW_LANES, overflowed));
    }
    __syncthreads();
}

// Relaxes the queued rows, the whole block one after another.
template <class Marks>
__device__ __forceinline__ void block_relax_long_rows(const Offset* offsets, const Arc* arcs,
                                                      const Source<Marks>& source, BlockState& state, Distance& least,
                                                      u32* overflowed) {
    const u32 queued = min(state.long_count, (u32)LONG_ROWS);
    if (queued == 0) return;
    for (u32 i = 0; i < queued; i++) {
        Row row = row_of(offsets, state.long_rows[i]);
        row.begin += threadIdx.x;
        least = min(least, relax_row(arcs, source, row, blockDim.x, overflowed));
    }
    __syncthreads();
    if (threadIdx.x == 0) state.long_count = 0;
}

// Solves for one source after another. lists: 2 · vertices, of this block.
template <class Marks>
__device__ __forceinline__ void block_solve_sources(const Offset* offsets, const Arc* arcs, u32 vertices,
                                                    Distance delta, Distance bound, const u32* sources, u32 count,
                                                    Distance* rows, u32* lists, Marks marks, u32* counter,
                                                    u32* overflowed) {
    __shared__ BlockState state;
    Source<Marks> source;
    source.marks = marks;
    source.words = (vertices + 31) / 32;
    source.bound = bound;
    for (;;) {
        if (threadIdx.x == 0) state.job = atomicAdd(counter, 1);
        __syncthreads();
        if (state.job >= count) return;
        source.distance = rows + (u64)state.job * vertices;
        source.threshold = delta;
        block_begin(source, state, vertices, sources, lists);
        Distance least = LARGEST_DISTANCE;  // least distance that this thread put into far
        for (u32 level = 0;; level++) {
            const u32 size = state.sizes[level % 3];
            u32* near = lists + (u64)(level % 2) * vertices;
            source.next = lists + (u64)((level + 1) % 2) * vertices;
            source.next_count = &state.sizes[(level + 1) % 3];
            if (threadIdx.x == 0) state.sizes[(level + 2) % 3] = 0;
            if (size == 0) {
                if (!block_open_bucket(source, state, near, &state.sizes[level % 3], delta, least)) break;
            } else {
                block_relax_near(offsets, arcs, source, state, near, size, least, overflowed);
                block_relax_long_rows(offsets, arcs, source, state, least, overflowed);
            }
        }
        __syncthreads();
    }
}

// marks: 2 · words for each block, or null where they fit in shared memory; lists: 2 · vertices for each block;
// counter: the next source. Vertices beyond `bound` stay unreached; sums that do not fit lie beyond it.
extern "C" __global__ void __launch_bounds__(1024)
    batch(const Offset* offsets, const Arc* arcs, u32 vertices, Distance delta, Distance bound, const u32* sources,
          u32 count, Distance* rows, u32* lists, u32* marks, u32* counter, u32* overflowed) {
    u64 words = (vertices + 31) / 32;
    lists += 2ull * vertices * blockIdx.x;
    if (marks) {
        DistantMarks distant{marks + 2 * words * blockIdx.x};
        block_solve_sources(offsets, arcs, vertices, delta, bound, sources, count, rows, lists, distant, counter,
                            overflowed);
    } else {
        NearbyMarks nearby{};
        block_solve_sources(offsets, arcs, vertices, delta, bound, sources, count, rows, lists, nearby, counter,
                            overflowed);
    }
}
