// Dijkstra's algorithm for many vertices at once (S7, S11): Crauser, Mehlhorn, Meyer and Sanders,
// "A parallelization of Dijkstra's shortest path algorithm" (1998), with the evaluation value D of the
// source thesis.
//
// A vertex is unopened, open (it has a distance) or closed (its distance is final). A round has two
// steps, and the grid meets after each.
// * Evaluate. L is the least distance of an open vertex, and D the least of distance + weight over all
//   arcs from an open vertex to one that is not closed. Rows are sorted by weight, so the first such
//   arc of a row decides, and the arcs before it lead to closed vertices for good.
// * Settle. An open vertex is closed and relaxed if no path by way of another open vertex can reach it
//   on a shorter way: CRITERION & 1 (OUT) its distance is at most D; CRITERION & 2 (IN) its distance is
//   at most L + its lightest incoming arc; in any case its distance is L. CRITERION 0 is ExtractMin.
//
// With one block a round costs about 3 us and with the whole grid about 10. Few open vertices, as on
// roads, are one block's; the kernel ends when there are more, and the host goes on with the grid.

#define UNOPENED 0u
#define OPEN 1u
#define CLOSED 2u

// Mirrored in device/alone/frontier_cuda.py, like Rounds.
struct Frontier {
    Distance* lightest;   // of a vertex's incoming arcs
    u32* state;
    u32* skip;            // arcs at the beginning of a row that lead to closed vertices
    u32* open[2];         // read from one, written to the other; own entries
};

struct Rounds {
    u64 relaxations;
    u64 settled;
    u64 rounds;
    Distance least[3];    // L; by round: read, written, cleared
    Distance bound[3];    // D
    u32 open_count[3];    // likewise
    u32 overflowed;
};

template <class Value, class Less>
__device__ __forceinline__ Value least_of_warp(Value value, Less less) {
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) {
        Value other = __shfl_xor_sync(~0u, value, step);
        if (less(other, value)) value = other;
    }
    return value;
}

__device__ __forceinline__ void lower(Distance* place, Distance value) {
    value = least_of_warp(value, [](Distance a, Distance b) { return a < b; });
    if (lane() == 0 && value != NOTHING) atomic_min(place, value);
}

// A sum of two distances that are not negative; NOTHING where it does not fit.
__device__ __forceinline__ Distance sum(Distance a, Distance b) {
    Distance value = plus(a, b);
    return value < a ? NOTHING : value;
}

// The least distance + weight over arcs of an open vertex to vertices that are not closed.
__device__ __forceinline__ Distance reach_out(const Share& share, const Frontier& frontier, u32 vertex,
                                              Distance distance) {
    const Offset begin = __ldg(&share.offsets[vertex]), end = __ldg(&share.offsets[vertex + 1]);
    const u32 before = __ldcg(&frontier.skip[vertex]);
    for (u32 skip = before; begin + skip < end; skip++) {
        Arc arc = load(&share.arcs[begin + skip]);
        if (__ldcg(&frontier.state[arc.head]) == CLOSED) continue;
        if (skip != before) frontier.skip[vertex] = skip;
        return sum(distance, arc.weight);
    }
    frontier.skip[vertex] = (u32)(end - begin);
    return NOTHING;
}

__device__ void evaluate(const Share& share, const Frontier& frontier, const Distance* distances,
                         const u32* open, u32 count, u32 criterion, Distance* least, Distance* bound) {
    Distance nearest = NOTHING, reach = NOTHING;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        u32 vertex = __ldcg(&open[i]);
        Distance distance = current(&distances[vertex]);
        nearest = min(nearest, distance);
        if (criterion & 1) reach = min(reach, reach_out(share, frontier, vertex, distance));
    }
    lower(least, nearest);
    if (criterion & 1) lower(bound, reach);
}

// Relaxes the rows of vertices that have just been closed, one a lane, and opens their heads.
struct Settle {
    const Share& share;
    const Frontier& frontier;
    Distance* distances;
    u32* next;
    u32* next_count;
    Distance cutoff;
    bool& overflowed;

    __device__ __forceinline__ void rows(u32 vertex, Distance distance, bool wanted) {
        Offset begin = 0;
        u32 degree = 0;
        if (wanted) {
            begin = __ldg(&share.offsets[vertex]);
            degree = (u32)(__ldg(&share.offsets[vertex + 1]) - begin);
        }
        expand<ARCS>(begin, degree,
               [&](bool(&active)[ARCS], const Offset(&index)[ARCS], const u32(&source)[ARCS]) {
            Arc arc[ARCS];
            Distance reach[ARCS];
            bool opened[ARCS];
#pragma unroll
            for (int k = 0; k < ARCS; k++) {
                arc[k] = {};
                if (active[k]) arc[k] = load(&share.arcs[index[k]]);
                Distance base = __shfl_sync(~0u, distance, source[k]);
                reach[k] = active[k] ? sum(base, arc[k].weight) : NOTHING;
                if (active[k] && cutoff == NOTHING && reach[k] == NOTHING) overflowed = true;
            }
#pragma unroll
            for (int k = 0; k < ARCS; k++) {
                bool nearer = reach[k] != NOTHING && reach[k] <= cutoff &&
                              reach[k] < current(&distances[arc[k].head]) &&
                              reach[k] < atomic_min(&distances[arc[k].head], reach[k]);
                opened[k] = nearer && __ldcg(&frontier.state[arc[k].head]) == UNOPENED &&
                            atomicCAS(&frontier.state[arc[k].head], UNOPENED, OPEN) == UNOPENED;
            }
#pragma unroll
            for (int k = 0; k < ARCS; k++) {
                u32 place = slot(next_count, opened[k]);
                if (opened[k]) next[place] = arc[k].head;
            }
        });
    }
};

// The barrier of one block, or of the grid.
__device__ __forceinline__ void gather(Control* control, Attendance& block) {
    if (gridDim.x == 1) __syncthreads();
    else meet(control, block);
}

extern "C" __global__ void begin_rounds(const __grid_constant__ Share share,
                                        const __grid_constant__ Frontier frontier, Rounds* rounds,
                                        u32 source) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    for (u32 i = thread; i < share.own; i += stride) {
        frontier.state[i] = i == source ? OPEN : UNOPENED;
        frontier.skip[i] = 0;
    }
    if (thread) return;
    *rounds = Rounds{};
    for (int i = 0; i < 3; i++) rounds->least[i] = rounds->bound[i] = NOTHING;
    if (source == NO_VERTEX) return;
    rounds->open_count[0] = 1;
    frontier.open[0][0] = source;
}

// The lightest incoming arc of each vertex; `lightest` is NOTHING before.
extern "C" __global__ void weigh_incoming(const __grid_constant__ Share share, Distance* lightest) {
    const Offset arcs = share.offsets[share.own], stride = (Offset)gridDim.x * blockDim.x;
    for (Offset i = (Offset)blockIdx.x * blockDim.x + threadIdx.x; i < arcs; i += stride) {
        Arc arc = load(&share.arcs[i]);
        if (arc.weight < current(&lightest[arc.head])) atomic_min(&lightest[arc.head], arc.weight);
    }
}

// Takes rounds until nothing is open up to `limit`, `max_rounds` are over, or the open vertices are not
// between `fewest` and `most`.
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK, 1)
take_rounds(const __grid_constant__ Share share, const __grid_constant__ Frontier frontier,
            Distance* distances, Control* control, Rounds* rounds, u32 criterion, Distance cutoff,
            double limit, u32 max_rounds, u32 fewest, u32 most) {
    __shared__ Attendance block;
    if (threadIdx.x == 0) block = {0, *(volatile u32*)&control->released};
    __syncthreads();
    u64 round = rounds->rounds;
    const u64 last = round + max_rounds;
    u64 relaxed = 0, settled = 0;
    bool overflowed = false;
    while (round < last) {
        const u32 now = round % 3, next = (round + 1) % 3;
        const u32 count = __ldcg(&rounds->open_count[now]);
        if (count == 0 || count < fewest || count > most) break;
        const u32* open = frontier.open[round % 2];
        evaluate(share, frontier, distances, open, count, criterion, &rounds->least[now],
                 &rounds->bound[now]);
        gather(control, block);
        const Distance least = current(&rounds->least[now]), bound = current(&rounds->bound[now]);
        if ((double)least > limit) break;
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            const u32 later = (round + 2) % 3;
            rounds->open_count[later] = 0;
            rounds->least[later] = rounds->bound[later] = NOTHING;
        }
        Settle settle{share, frontier, distances, frontier.open[(round + 1) % 2],
                      &rounds->open_count[next], cutoff, overflowed};
        const u32 stride = gridDim.x * blockDim.x;
        for (u32 base = blockIdx.x * blockDim.x + (threadIdx.x & ~31u); base < count; base += stride) {
            const u32 i = base + lane();
            u32 vertex = 0;
            Distance distance = NOTHING;
            bool closing = false;
            if (i < count) {
                vertex = __ldcg(&open[i]);
                distance = current(&distances[vertex]);
                closing = distance == least || ((criterion & 1) && distance <= bound) ||
                          ((criterion & 2) && distance <= sum(least, frontier.lightest[vertex]));
                if (closing) frontier.state[vertex] = CLOSED;
            }
            const bool staying = i < count && !closing;
            u32 place = slot(settle.next_count, staying);
            if (staying) settle.next[place] = vertex;
            settled += closing;
            if (closing) relaxed += share.offsets[vertex + 1] - share.offsets[vertex];
            if (__any_sync(~0u, closing)) settle.rows(vertex, distance, closing);
        }
        round++;
        gather(control, block);
    }
    atomicAdd(&rounds->relaxations, relaxed);
    atomicAdd(&rounds->settled, settled);
    if (overflowed) rounds->overflowed = 1;
    gather(control, block);  // all have read what changes now
    if (blockIdx.x == 0 && threadIdx.x == 0) rounds->rounds = round;
}
