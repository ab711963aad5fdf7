// Dijkstra's algorithm for many vertices at once: Crauser, Mehlhorn, Meyer and Sanders, "A parallelization of
// Dijkstra's shortest path algorithm" (MFCS 1998). D below is the threshold of their OUT criterion.
//
// A vertex is unopened, open (it has a distance) or closed (its distance is final). A round has two
// steps, and the grid meets after each.
// * Evaluate. L is the least distance of an open vertex, and D the least of distance + weight over all
//   arcs from an open vertex to one that is not closed. Rows are sorted by weight, so the first such
//   arc of a row decides, and the arcs before it lead to closed vertices for good.
// * Settle. An open vertex is closed and relaxed if no path through another open vertex can be shorter: with
//   CRITERION & 1 (OUT) if its distance is at most D; with CRITERION & 2 (IN) if its distance is at most L + its
//   lightest in-arc; always if its distance is L. CRITERION 0 is ExtractMin.
//
// With few open vertices, as on road networks, the time of a round is latency. One block works by itself then: its
// lists and counters are in shared memory, it uses block barriers, and it may read through L1, because no other block
// writes. When its lists are full it ends, and the host continues with the whole grid and the barrier of
// primitives/grid_barrier.cuh.

#include "layout/frontier_dijkstra.cuh"
#include "primitives/access.cuh"
#include "primitives/grid_barrier.cuh"
#include "primitives/load_balance.cuh"

#define CLOSED 1u
#define ROOM 4096  // open vertices that fit in the shared memory of a block

// Place of the grid: lists and counters in global memory, read from L2.
struct Together {
    const Frontier& frontier;
    Rounds* rounds;
    Control* control;
    BarrierPhase& phase;

    __device__ __forceinline__ Tally& tally() { return rounds->tally; }
    __device__ __forceinline__ u32 listed(u64 round, u32 i) { return load_l2(&frontier.open[round % 2][i]); }
    __device__ __forceinline__ void list(u64 round, u32 i, u32 vertex) { frontier.open[round % 2][i] = vertex; }
    template <class T>
    __device__ __forceinline__ T look(const T* place) {
        return load_l2(place);
    }
    __device__ __forceinline__ void gather() { grid_sync(control, phase); }
};

struct Room {
    Tally tally;
    u32 open[2][ROOM];
};

// Place of one block: lists and counters in shared memory; entries without room go to the global lists.
struct Alone {
    const Frontier& frontier;
    Room& room;

    __device__ __forceinline__ Tally& tally() { return room.tally; }
    __device__ __forceinline__ u32 listed(u64 round, u32 i) { return room.open[round % 2][i]; }
    __device__ __forceinline__ void list(u64 round, u32 i, u32 vertex) {
        if (i < ROOM)
            room.open[round % 2][i] = vertex;
        else
            frontier.open[round % 2][i] = vertex;
    }
    template <class T>
    __device__ __forceinline__ T look(const T* place) {
        return *place;
    }
    __device__ __forceinline__ void gather() { __syncthreads(); }
};

// The sum of two distances that are not negative; UNREACHED if it overflows.
__device__ __forceinline__ Distance sum(Distance a, Distance b) {
    Distance value = plus(a, b);
    return value < a ? UNREACHED : value;
}

template <class Place>
struct Round {
    const Share& share;
    const Frontier& frontier;
    Distance* distances;
    Place& place;
    const u32 criterion;
    const Distance cutoff;
    u64 relaxed, settled;
    bool overflowed;

    __device__ __forceinline__ void evaluate(u64 round, u32 count) {
        Distance nearest = LARGEST_DISTANCE, reach = LARGEST_DISTANCE;
        for (u32 base = thread() & ~31u; base < count; base += threads()) {
            const u32 i = base + lane();
            if (i >= count) continue;
            u32 vertex = place.listed(round, i);
            Distance distance = place.look(&distances[vertex]);
            nearest = min(nearest, distance);
            if (criterion & 1) reach = min(reach, reach_out(vertex, distance));
        }
        if ((thread() & ~31u) >= count) return;
        warp_lower(&place.tally().least[round % 3], nearest);
        if (criterion & 1) warp_lower(&place.tally().bound[round % 3], reach);
    }

    __device__ __forceinline__ void settle(u64 round, u32 count) {
        const Distance least = place.look(&place.tally().least[round % 3]);
        const Distance bound = place.look(&place.tally().bound[round % 3]);
        u32* next_count = &place.tally().open_count[(round + 1) % 3];
        for (u32 base = thread() & ~31u; base < count; base += threads()) {
            const u32 i = base + lane();
            u32 vertex = 0;
            Distance distance = UNREACHED;
            bool closing = false;
            if (i < count) {
                vertex = place.listed(round, i);
                distance = place.look(&distances[vertex]);
                closing = distance == least || ((criterion & 1) && distance <= bound) ||
                          ((criterion & 2) && distance <= sum(least, load_read_only(&frontier.lightest[vertex])));
                if (closing) frontier.closed[vertex] = CLOSED;
            }
            const bool staying = i < count && !closing;
            u32 where = warp_slot(next_count, staying);
            if (staying) place.list(round + 1, where, vertex);
            settled += closing;
            if (__any_sync(~0u, closing)) relax(round, vertex, distance, closing, next_count);
        }
    }

    // What all rounds but this one's neighbours have used is clear again.
    __device__ __forceinline__ void clear(u64 round) {
        if (thread()) return;
        Tally& tally = place.tally();
        tally.open_count[(round + 2) % 3] = 0;
        tally.least[(round + 2) % 3] = tally.bound[(round + 2) % 3] = LARGEST_DISTANCE;
    }

    __device__ __forceinline__ void report(Rounds* rounds) {
        warp_add_to(&rounds->relaxations, relaxed);
        warp_add_to(&rounds->settled, settled);
        if (overflowed) rounds->overflowed = 1;
    }

  private:
    __device__ __forceinline__ u32 thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
    __device__ __forceinline__ u32 threads() { return gridDim.x * blockDim.x; }

    // The least distance + weight over arcs of an open vertex to vertices that are not closed.
    __device__ __forceinline__ Distance reach_out(u32 vertex, Distance distance) {
        const Offset begin = load_read_only(&share.offsets[vertex]), end = load_read_only(&share.offsets[vertex + 1]);
        const u32 before = place.look(&frontier.skip[vertex]);
        for (u32 skip = before; begin + skip < end; skip++) {
            Arc arc = load(&share.arcs[begin + skip]);
            if (place.look(&frontier.closed[arc.head]) == CLOSED) continue;
            if (skip != before) frontier.skip[vertex] = skip;
            return sum(distance, arc.weight);
        }
        frontier.skip[vertex] = (u32)(end - begin);
        return LARGEST_DISTANCE;
    }

    // Relaxes the rows of vertices that have just been closed, one a lane. The thread that gives a vertex its first
    // distance opens it.
    __device__ __forceinline__ void relax(u64 round, u32 vertex, Distance distance, bool wanted, u32* next_count) {
        Offset begin = 0;
        u32 degree = 0;
        if (wanted) {
            begin = load_read_only(&share.offsets[vertex]);
            degree = (u32)(load_read_only(&share.offsets[vertex + 1]) - begin);
        }
        relaxed += degree;
        warp_expand<ARCS>(begin, degree,
                          [&](bool (&active)[ARCS], const Offset(&index)[ARCS], const u32(&source)[ARCS]) {
                              Arc arc[ARCS];
                              Distance reach[ARCS], known[ARCS];
#pragma unroll
                              for (int k = 0; k < ARCS; k++) {
                                  arc[k] = {};
                                  if (active[k]) arc[k] = load(&share.arcs[index[k]]);
                              }
#pragma unroll
                              for (int k = 0; k < ARCS; k++) {
                                  Distance base = __shfl_sync(~0u, distance, source[k]);
                                  reach[k] = active[k] ? sum(base, arc[k].weight) : UNREACHED;
                                  known[k] = active[k] ? place.look(&distances[arc[k].head]) : UNREACHED;
                                  if (active[k] && cutoff == NO_CUTOFF && reach[k] == UNREACHED) overflowed = true;
                              }
#pragma unroll
                              for (int k = 0; k < ARCS; k++) {
                                  bool nearer = reach[k] <= cutoff && reach[k] < known[k];
                                  known[k] = nearer ? atomic_min(&distances[arc[k].head], reach[k]) : (Distance)0;
                              }
#pragma unroll
                              for (int k = 0; k < ARCS; k++) {
                                  bool opened = known[k] == UNREACHED;
                                  if (!__any_sync(~0u, opened)) continue;
                                  u32 where = warp_slot(next_count, opened);
                                  if (opened) place.list(round + 1, where, arc[k].head);
                              }
                          });
    }
};

// Takes rounds until nothing is open up to `limit`, round `last` has come, or the open vertices are not
// between `fewest` and `most`; returns the round that it would take next.
template <class Place>
__device__ __forceinline__ u64 take_rounds(Round<Place>& rounds, Place& place, u64 round, u64 last, double limit,
                                           u32 fewest, u32 most) {
    while (round < last) {
        const u32 count = place.look(&place.tally().open_count[round % 3]);
        if (count == 0 || count < fewest || count > most) break;
        rounds.evaluate(round, count);
        place.gather();
        if ((double)place.look(&place.tally().least[round % 3]) > limit) break;
        rounds.clear(round);
        rounds.settle(round, count);
        round++;
        place.gather();
    }
    return round;
}

#define TAKE_PARAMETERS                                                                                  \
    const __grid_constant__ Share share, const __grid_constant__ Frontier frontier, Distance *distances, \
        Control *control, Rounds *rounds, u32 criterion, Distance cutoff, double limit, u32 max_rounds, u32 few

// One block, while no more than ROOM vertices are open.
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK, 1) take_rounds_alone(TAKE_PARAMETERS) {
    __shared__ Room room;
    u64 round = rounds->rounds;
    const u64 last = round + max_rounds;
    if (threadIdx.x == 0) room.tally = rounds->tally;
    __syncthreads();
    u32 count = min(room.tally.open_count[round % 3], (u32)ROOM);
    for (u32 i = threadIdx.x; i < count; i += blockDim.x)
        room.open[round % 2][i] = load_l2(&frontier.open[round % 2][i]);
    __syncthreads();
    Alone place{frontier, room};
    Round<Alone> taken{share, frontier, distances, place, criterion, cutoff, 0, 0, false};
    round = take_rounds(taken, place, round, last, limit, 0, ROOM);
    taken.report(rounds);
    count = min(room.tally.open_count[round % 3], (u32)ROOM);
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) frontier.open[round % 2][i] = room.open[round % 2][i];
    if (threadIdx.x) return;
    rounds->tally = room.tally;
    rounds->rounds = round;
}

// The grid, while at least `few` vertices are open.
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK, 1) take_rounds_together(TAKE_PARAMETERS) {
    __shared__ BarrierPhase phase;
    if (threadIdx.x == 0) phase = current_phase(control);
    __syncthreads();
    u64 round = rounds->rounds;
    Together place{frontier, rounds, control, phase};
    Round<Together> taken{share, frontier, distances, place, criterion, cutoff, 0, 0, false};
    round = take_rounds(taken, place, round, round + max_rounds, limit, few, ~0u);
    taken.report(rounds);
    place.gather();  // all have read the words that change next
    if (blockIdx.x == 0 && threadIdx.x == 0) rounds->rounds = round;
}

extern "C" __global__ void begin_rounds(const __grid_constant__ Share share, const __grid_constant__ Frontier frontier,
                                        Rounds* rounds, u32 source) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    for (u32 i = thread; i < share.own; i += stride) {
        frontier.closed[i] = 0;
        frontier.skip[i] = 0;
    }
    if (thread) return;
    *rounds = Rounds{};
    for (int i = 0; i < 3; i++) rounds->tally.least[i] = rounds->tally.bound[i] = LARGEST_DISTANCE;
    if (source == NO_VERTEX) return;
    rounds->tally.open_count[0] = 1;
    frontier.open[0][0] = source;
}

// The lightest incoming arc of each vertex; `lightest` is NO_ARC before.
extern "C" __global__ void weigh_incoming(const __grid_constant__ Share share, Distance* lightest) {
    const Offset arcs = share.offsets[share.own], stride = (Offset)gridDim.x * blockDim.x;
    for (Offset i = (Offset)blockIdx.x * blockDim.x + threadIdx.x; i < arcs; i += stride) {
        Arc arc = load(&share.arcs[i]);
        if (arc.weight < load_l2(&lightest[arc.head])) atomic_min(&lightest[arc.head], arc.weight);
    }
}
