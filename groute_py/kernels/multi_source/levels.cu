// Breadth-first searches from many sources at once, on graphs of few levels: 32 sources are a group, with a bit or a
// lane each. They find distances alone, or count shortest paths and add dependencies (Brandes, 2001).
//
// For each group and level a vertex has a mask: the sources from which it is at that level. All passes pull: a warp
// takes 32 arcs of rows, one a lane, with the masks of their far ends. For each end that sources share with the row,
// every lane whose bit is set reads its number in the end's row of paths. So an arc is looked at once for 32 sources,
// and no sum is written by two warps; only pieces of long rows are added up by the last of them to end.
//
// Dependencies are the numbers of dependencies.cu and kernels/cpu/dependencies.py, to the last bit.

#include "multi_source/levels.cuh"

#define COUNT_BLOCKS 6  // on a multiprocessor: occupancy hides the latency of rows of paths
#define SHARE_BLOCKS 5
#define COUNTS_AHEAD 4  // rows of paths that a warp loads before it adds them
#define SHARES_AHEAD 2

// a / b for counts of paths up to 2^53, rounded to nearest: the compiler's division without its case of subnormal
// numbers, a call for which registers have to be spilled.
__device__ __forceinline__ double ratio(double a, double b) {
#ifdef __CUDACC__
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(b));
    double error = fma(-b, inverse, 1.0);
    inverse = fma(inverse, fma(error, error, error), inverse);
    inverse = fma(inverse, fma(-b, inverse, 1.0), inverse);
    double quotient = __dmul_rn(a, inverse);
    return fma(inverse, fma(-b, quotient, a), quotient);
#else
    return a / b;
#endif
}

// Finds the vertices of a level from those of the level before.
struct Reach {
    static constexpr bool FINDS = true, ADDS = false, BY_ARC = false;
    typedef double Sum;
    const u32* near;
    u32 *here, *seen, *live, sources;

    __device__ __forceinline__ Reach(const LevelGraph& graph, const LevelBatch& batch, u32 level)
        : near(masks_at(graph, batch, level - 1)),
          here(masks_at(graph, batch, level)),
          seen(batch.seen + (u64)blockIdx.y * graph.vertices),
          live(live_at(batch, level)),
          sources(*live_at(batch, level - 1)) {}

    __device__ __forceinline__ u32 wanted(u32 vertex) const { return sources & ~seen[vertex]; }

    __device__ __forceinline__ void take(u32 vertex, u32 found) const {
        atomicOr(here + vertex, found);
        atomicOr(seen + vertex, found);
        if (found & ~load_l2(live)) atomicOr(live, found);
    }
};

// Counts the shortest paths to them too.
struct Count : Reach {
    static constexpr bool ADDS = true;
    static constexpr u32 AHEAD = COUNTS_AHEAD;
    typedef double Term;
    Path* paths;
    double most = 0;

    __device__ __forceinline__ Count(const LevelGraph& graph, const LevelBatch& batch, u32 level)
        : Reach(graph, batch, level), paths(paths_of(graph, batch)) {}

    __device__ __forceinline__ void begin(u32) {}

    __device__ __forceinline__ Term load(u32 tail, bool is_set) const {
        return is_set ? paths[(u64)tail * 32 + lane()].count : 0;
    }

    __device__ __forceinline__ void add_term(Sum& sum, const Term& count, u32) const { sum += count; }

    __device__ __forceinline__ void finish(u32 vertex, Sum count) {
        if (count == 0) return;
        paths[(u64)vertex * 32 + lane()] = {count, 1};
        most = max(most, count);
    }
};

// Adds the dependencies on vertices of a level, or those on their arcs, from those on vertices of the next level.
template <bool OF_ARCS>
struct Share {
    static constexpr bool FINDS = false, ADDS = true, BY_ARC = OF_ARCS;
    static constexpr u32 AHEAD = SHARES_AHEAD;
    typedef Fixed Sum;
    typedef Path Term;  // of the head; a weight of 0: none
    const u32 *near, *here;
    Path* paths;
    const u32* places;
    Fixed *totals, *squares;
    double scale, count;  // count: of paths to the tail

    __device__ __forceinline__ u32 wanted(u32 vertex) const { return here[vertex]; }

    __device__ __forceinline__ void begin(u32 tail) { count = paths[(u64)tail * 32 + lane()].count; }

    __device__ __forceinline__ Term load(u32 head, bool is_set) const {
        return is_set ? paths[(u64)head * 32 + lane()] : Path{1, 0};
    }

    __device__ __forceinline__ void add_term(Sum& sum, const Term& head, u32 arc) const {
        double share = 0;
        if (head.weight != 0) share = __dmul_rn(ratio(count, head.count), head.weight);
        Fixed exact = fixed(share);
        add(sum, exact);
        if (OF_ARCS) warp_credit(arc, exact, share);
    }

    __device__ __forceinline__ void finish(u32 vertex, const Sum& sum) const {
        double dependency = as_double(sum);
        if (dependency != 0) paths[(u64)vertex * 32 + lane()].weight = 1.0 + dependency;
        if (!OF_ARCS) warp_credit(places[vertex], sum, dependency);
    }

    // Adds the numbers of all lanes; `exact` is `number` before it was rounded.
    __device__ __forceinline__ void warp_credit(u32 place, const Fixed& exact, double number) const {
        if (!__any_sync(~0u, number != 0)) return;
        warp_add(totals + place, exact);
        if (squares) warp_add(squares + place, square(number, scale));
    }

    __device__ __forceinline__ static void warp_add(Fixed* place, Fixed sum) {
        for (u32 apart = 16; apart; apart /= 2) {
            add(sum, {__shfl_xor_sync(~0u, sum.low, apart), __shfl_xor_sync(~0u, sum.high, apart)});
        }
        if (lane() == 0) atomic_add(place, sum);
    }
};

// level: the one that is found.
extern "C" __global__ void __launch_bounds__(BLOCK)
    reach_level(const __grid_constant__ LevelGraph graph, const __grid_constant__ LevelBatch batch, u32 level) {
    Reach pass(graph, batch, level);
    if (pass.sources) pull(graph, batch, graph.in_offsets, graph.tails, pass);
}

// most_paths: the bits of a double, the greatest count of all.
extern "C" __global__ void __launch_bounds__(BLOCK, COUNT_BLOCKS)
    count_level(const __grid_constant__ LevelGraph graph, const __grid_constant__ LevelBatch batch, u32 level,
                u64* most_paths) {
    Count pass(graph, batch, level);
    if (!pass.sources) return;
    pull(graph, batch, graph.in_offsets, graph.tails, pass);
    for (u32 apart = 16; apart; apart /= 2) pass.most = max(pass.most, __shfl_xor_sync(~0u, pass.most, apart));
    u64 most = (u64)__double_as_longlong(pass.most);
    if (lane() == 0 && most > load_l2(most_paths)) atomicMax(most_paths, most);
}

// level: the one whose dependencies are added. places: of the total of each vertex, or of that of its first arc.
// squares: of dependencies times `scale`, or null.
template <bool OF_ARCS>
__device__ __forceinline__ void share_level(const LevelGraph& graph, const LevelBatch& batch, u32 level,
                                            const u32* places, Fixed* totals, Fixed* squares, double scale) {
    if (!*live_at(batch, level + 1)) return;
    Share<OF_ARCS> pass = {masks_at(graph, batch, level + 1),
                           masks_at(graph, batch, level),
                           paths_of(graph, batch),
                           places,
                           totals,
                           squares,
                           scale};
    pull(graph, batch, graph.out_offsets, graph.heads, pass);
}

extern "C" __global__ void __launch_bounds__(BLOCK, SHARE_BLOCKS)
    share_to_vertices(const __grid_constant__ LevelGraph graph, const __grid_constant__ LevelBatch batch, u32 level,
                      const u32* places, Fixed* totals, Fixed* squares, double scale) {
    share_level<false>(graph, batch, level, places, totals, squares, scale);
}

extern "C" __global__ void __launch_bounds__(BLOCK, SHARE_BLOCKS)
    share_to_arcs(const __grid_constant__ LevelGraph graph, const __grid_constant__ LevelBatch batch, u32 level,
                  const u32* places, Fixed* totals, Fixed* squares, double scale) {
    share_level<true>(graph, batch, level, places, totals, squares, scale);
}

// Levels 0 and 1, a block for each source. Masks of both levels, `seen` and `live` are 0 before.
extern "C" __global__ void begin_levels(const __grid_constant__ LevelGraph graph,
                                        const __grid_constant__ LevelBatch batch, const u32* sources) {
    u32 group = blockIdx.x / 32, source = sources[blockIdx.x], own = 1u << (blockIdx.x % 32);
    auto take = [&](u32 vertex, u32 level) {
        u64 place = (u64)group * graph.vertices + vertex;
        atomicOr(batch.masks + (u64)level * batch.groups * graph.vertices + place, own);
        atomicOr(batch.seen + place, own);
        if (batch.paths) batch.paths[place * 32 + blockIdx.x % 32] = {1, 1};
        u32* live = batch.live + level * batch.groups + group;
        if (!(load_l2(live) & own)) atomicOr(live, own);
    };
    if (threadIdx.x == 0) take(source, 0);
    u32 end = graph.out_offsets[source + 1];
    for (u32 arc = graph.out_offsets[source] + threadIdx.x; arc < end; arc += blockDim.x) {
        if (graph.heads[arc] != source) take(graph.heads[arc], 1);
    }
}

// Counts the vertices of a level for each source (counts: 32 for each group). `farthest` is the least name of the last
// vertices of those that reach no further.
extern "C" __global__ void tally_level(const __grid_constant__ LevelGraph graph,
                                       const __grid_constant__ LevelBatch batch, u32 level, const u32* names,
                                       u32* counts, u32* farthest) {
    const u32* masks = masks_at(graph, batch, level);
    u32 ending = *live_at(batch, level) & ~*live_at(batch, level + 1), count = 0;
    counts += blockIdx.y * 32;
    farthest += blockIdx.y * 32;
    for (u32 v = blockIdx.x * blockDim.x + threadIdx.x; v - lane() < graph.vertices; v += gridDim.x * blockDim.x) {
        u32 mask = v < graph.vertices ? masks[v] : 0;
        for (u32 bits = __reduce_or_sync(~0u, mask); bits; bits &= bits - 1) {
            u32 source = __ffs(bits) - 1, members = __popc(__ballot_sync(~0u, mask >> source & 1));
            if (lane() == source) count += members;
        }
        for (u32 bits = mask & ending; bits; bits &= bits - 1) {
            u32* name = farthest + __ffs(bits) - 1;
            if (names[v] < load_l2(name)) atomicMin(name, names[v]);
        }
    }
    if (count) atomicAdd(counts + lane(), count);
}
