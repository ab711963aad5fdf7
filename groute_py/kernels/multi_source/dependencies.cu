// Brandes' accumulation for many sources, one block each, from finished rows of distances: counts of shortest paths in
// topological order of the tight arcs (Kahn), then dependencies in the reverse order. (Brandes, "A faster algorithm for
// betweenness centrality", 2001.) Graphs have neither self-loops nor parallel arcs.
//
// The dependency of a source on v is the sum of paths(v) / paths(w) * (1 + dependency(w)) over tight arcs from v to w.
// Each term is converted to 128-bit fixed point before it is added. So the order of additions does not matter, and the
// numbers are those of kernels/cpu/dependencies.py; only counts of paths beyond 2^53 may be rounded differently.

#include "primitives/access.cuh"
#include "primitives/arithmetic.cuh"
#include "primitives/fixed.cuh"

#define ROW_LANES 4   // lanes a row
#define LONG_ROW 256  // the whole block takes rows with this many arcs
#define LONG_ROWS 64  // such rows that can be queued

// What a launch found, beside the sums.
struct Findings {
    u64 most_paths;  // the bits of a double
    u64 cycles;      // sources whose tight arcs close a cycle
};

struct Rows {
    const Offset* offsets;
    const Arc* arcs;
    const u32* list;  // vertices; null: each vertex is its place
};

struct LongRows {
    Fixed sum;
    u32 count, vertices[LONG_ROWS];
};

// All threads of a block take the rows of places begin to end. visit(vertex, arc number, arc) gives a term of the row's
// sum, finish(vertex, sum) is called by one thread; without SUMS there are neither terms nor sums.
template <bool SUMS, class Visit, class Finish>
__device__ __forceinline__ void block_rows(const Rows& rows, u32 begin, u32 end, LongRows& queue, Visit visit,
                                           Finish finish) {
    u32 lane = threadIdx.x % 32, row_lane = threadIdx.x % ROW_LANES;
    u32 together = ((1u << ROW_LANES) - 1) << (lane - row_lane);
    auto take = [&](u32 vertex, Offset first, Offset last, u32 step) {
        Fixed sum = {};
        for (Offset a = first; a < last; a += step) {
            Fixed term = visit(vertex, a, load(rows.arcs + a));
            if (SUMS) add(sum, term);
        }
        return sum;
    };
    for (u32 i = begin + threadIdx.x / ROW_LANES; i < end; i += blockDim.x / ROW_LANES) {
        u32 vertex = rows.list ? load_l2(rows.list + i) : i;
        Offset first = rows.offsets[vertex], last = rows.offsets[vertex + 1];
        if (last - first > LONG_ROW) {
            u32 place = row_lane == 0 ? atomicAdd(&queue.count, 1) : 0;
            place = __shfl_sync(together, place, lane - row_lane);
            if (place < LONG_ROWS) {
                if (row_lane == 0) queue.vertices[place] = vertex;
                continue;
            }
        }
        Fixed sum = take(vertex, first + row_lane, last, ROW_LANES);
        if (SUMS) {
            for (u32 apart = ROW_LANES / 2; apart > 0; apart /= 2) {
                Fixed other = {__shfl_xor_sync(together, sum.low, apart), __shfl_xor_sync(together, sum.high, apart)};
                add(sum, other);
            }
        }
        if (row_lane == 0) finish(vertex, sum);
    }
    __syncthreads();
    u32 queued = min(queue.count, (u32)LONG_ROWS);
    for (u32 i = 0; i < queued; i++) {
        u32 vertex = queue.vertices[i];
        if (SUMS && threadIdx.x == 0) queue.sum = {};
        __syncthreads();
        Fixed sum = take(vertex, rows.offsets[vertex] + threadIdx.x, rows.offsets[vertex + 1], blockDim.x);
        if (SUMS) atomic_add(&queue.sum, sum);
        __syncthreads();
        if (threadIdx.x == 0) finish(vertex, queue.sum);
    }
    __syncthreads();
    if (threadIdx.x == 0) queue.count = 0;
    __syncthreads();
}

// What a block works in, `slot_bytes` long.
struct Slot {
    double *paths, *dependencies;
    u32 *pending, *order, *levels;  // levels: where each begins in order, and where the last one ends

    __device__ __forceinline__ Slot(u8* memory, u32 vertices) {
        paths = (double*)memory;
        dependencies = paths + vertices;
        pending = (u32*)(dependencies + vertices);
        order = pending + vertices;
        levels = order + vertices;
    }
};

// What the threads of a block share, in shared memory.
struct BlockState {
    u32 job;      // number of the source
    u32 reached;  // vertices; ~0u: a cycle leads to the source
    u32 listed;   // of them in topological order
    u64 most_paths;
};

// A source, its finished row of distances, and the graph.
struct Source {
    const Offset* offsets;
    const Arc* arcs;
    u32 vertices, vertex;
    const Distance* distance;

    __device__ __forceinline__ bool is_tight(u32 tail, const Arc& arc) const {
        Distance near = distance[tail], reach = plus(near, arc.weight);
        return near < UNREACHED && reach < UNREACHED && reach >= near && reach == distance[arc.head];
    }
};

// The results of all sources: one number for each vertex, or for each arc with `by_arc`; squares may be null.
struct Sums {
    Fixed *totals, *squares;
    u32 by_arc, endpoints;
    double scale;

    // `number` is `exact` in floating point.
    __device__ __forceinline__ void add(u64 place, Fixed exact, double number) const {
        atomic_add(totals + place, exact);
        if (squares) atomic_add(squares + place, square(number, scale));
    }
};

// Takes the next source.
__device__ __forceinline__ void block_take_job(BlockState& state, u32* counter) {
    __syncthreads();
    if (threadIdx.x == 0) {
        state.job = atomicAdd(counter, 1);
        state.reached = 0;
        state.listed = 1;
        state.most_paths = 0;
    }
    __syncthreads();
}

// Counts the tight arcs into each vertex, and the reached vertices. Then only the source is in topological order.
__device__ __forceinline__ void block_begin(const Source& source, const Slot& slot, BlockState& state,
                                            LongRows& queue) {
    for (u32 v = threadIdx.x; v < source.vertices; v += blockDim.x) {
        slot.paths[v] = 0;
        slot.pending[v] = 0;
    }
    __syncthreads();
    auto count_arc = [&](u32 tail, Offset, const Arc& arc) {
        if (source.is_tight(tail, arc)) atomicAdd(slot.pending + arc.head, 1);
        return Fixed{};
    };
    auto count_reached = [&](u32 vertex, const Fixed&) {
        if (source.distance[vertex] < UNREACHED) atomicAdd(&state.reached, 1);
    };
    Rows every = {source.offsets, source.arcs, nullptr};
    block_rows<false>(every, 0, source.vertices, queue, count_arc, count_reached);
    if (threadIdx.x == 0) {
        slot.order[0] = source.vertex;
        slot.levels[0] = 0;
        __stcg(slot.paths + source.vertex, 1.0);
        if (load_l2(slot.pending + source.vertex)) state.reached = ~0u;
    }
    __syncthreads();
}

// Counts the shortest paths to each vertex, in topological order; returns the number of levels. A vertex is in the
// level after the last of the tails that lead to it. Vertices on cycles of tight arcs are not listed.
__device__ __forceinline__ u32 block_count_paths(const Source& source, const Slot& slot, BlockState& state,
                                                 LongRows& queue) {
    auto count_paths = [&](u32 tail, Offset, const Arc& arc) {
        if (!source.is_tight(tail, arc)) return Fixed{};
        atomicAdd(slot.paths + arc.head, load_l2(slot.paths + tail));
        if (atomicAdd(slot.pending + arc.head, ~0u) == 1) slot.order[atomicAdd(&state.listed, 1)] = arc.head;
        return Fixed{};
    };
    auto nothing = [](u32, const Fixed&) {};
    Rows ordered = {source.offsets, source.arcs, slot.order};
    u32 depth = 0;
    for (u32 begin = 0, end = 1; begin < end && state.reached != ~0u; depth++) {
        block_rows<false>(ordered, begin, end, queue, count_paths, nothing);
        if (threadIdx.x == 0) slot.levels[depth + 1] = end;
        begin = end;
        end = state.listed;
        __syncthreads();
    }
    return depth;
}

// Finds the greatest number of paths to a vertex; whether it is finite.
__device__ __forceinline__ bool block_find_most_paths(const Slot& slot, BlockState& state, Findings* findings) {
    u64 most = 0;
    for (u32 i = threadIdx.x; i < state.reached; i += blockDim.x) {
        u64 paths = (u64)__double_as_longlong(load_l2(slot.paths + load_l2(slot.order + i)));
        most = max(most, paths);
    }
    atomicMax(&state.most_paths, most);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&findings->most_paths, state.most_paths);
    return state.most_paths != 0x7ff0000000000000ull;
}

// Adds the dependencies of the source, from the last level to the first.
__device__ __forceinline__ void block_add_dependencies(const Source& source, const Slot& slot, BlockState& state,
                                                       LongRows& queue, const Sums& sums, u32 depth) {
    auto share = [&](u32 tail, Offset a, const Arc& arc) {
        if (!source.is_tight(tail, arc)) return Fixed{};
        double part = load_l2(slot.paths + tail) / load_l2(slot.paths + arc.head);
        double found = __dmul_rn(part, 1.0 + load_l2(slot.dependencies + arc.head));
        Fixed term = fixed(found);
        if (sums.by_arc) sums.add(a, term, found);
        return term;
    };
    auto settle = [&](u32 vertex, const Fixed& sum) {
        double found = as_double(sum);
        slot.dependencies[vertex] = found;
        if (sums.by_arc || (vertex == source.vertex && !sums.endpoints)) return;
        Fixed own = sum;
        if (vertex == source.vertex) {
            own = {0, state.reached - 1};
            found = (double)(state.reached - 1);
        } else if (sums.endpoints) {
            own.high++;
            found += 1.0;
        }
        sums.add(vertex, own, found);
    };
    Rows ordered = {source.offsets, source.arcs, slot.order};
    while (depth-- > 0) {
        u32 begin = load_l2(slot.levels + depth), end = load_l2(slot.levels + depth + 1);
        block_rows<true>(ordered, begin, end, queue, share, settle);
    }
}

// totals, squares, by_arc, endpoints, scale: see Sums. counter: the next source. overflowed: set if a row is not
// complete; then nothing is added.
extern "C" __global__ void __launch_bounds__(1024)
    add_dependencies(const Offset* offsets, const Arc* arcs, u32 vertices, const u32* sources, u32 count,
                     const Distance* distances, u8* slots, u64 slot_bytes, u32 by_arc, u32 endpoints, double scale,
                     Fixed* totals, Fixed* squares, Findings* findings, u32* counter, const u32* overflowed) {
    __shared__ BlockState state;
    __shared__ LongRows queue;
    Slot slot(slots + slot_bytes * blockIdx.x, vertices);
    Sums sums = {totals, squares, by_arc, endpoints, scale};
    if (load_l2(overflowed)) return;
    if (threadIdx.x == 0) queue.count = 0;
    for (;;) {
        block_take_job(state, counter);
        if (state.job >= count) return;
        Source source = {offsets, arcs, vertices, sources[state.job], distances + (u64)state.job * vertices};
        block_begin(source, slot, state, queue);
        u32 depth = block_count_paths(source, slot, state, queue);
        if (state.listed != state.reached) {
            if (threadIdx.x == 0) atomicAdd(&findings->cycles, 1);
            continue;
        }
        if (block_find_most_paths(slot, state, findings)) {
            block_add_dependencies(source, slot, state, queue, sums, depth);
        }
    }
}
