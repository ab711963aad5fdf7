// Bellman-Ford by min-plus products: distance = min(distance, Aᵀ ⊗ distance) in (min, +), until a round changes
// nothing. A has one of three storages.
//
// * CSR: the incoming arcs of a vertex are a row. `lanes` lanes of a warp take a row together.
// * ELL: every vertex has equally many slots, slot by slot, so that the loads of a warp are coalesced.
// * Dense: the transposed matrix. A block stages the distances in shared memory once a round, and keeps as many of its
//   rows there as fit, for all rounds.
//
// Only the lane that computes a vertex writes it. Distances that have already fallen in the same round may be used;
// that only speeds up convergence. Without a reachable negative cycle the method ends within n rounds.

#include "layout/min_plus.cuh"
#include "primitives/access.cuh"
#include "primitives/arithmetic.cuh"
#include "primitives/grid_barrier.cuh"
#include "primitives/warp.cuh"

// base + weight; UNREACHED, and `overflowed`, if that overflows.
__device__ __forceinline__ Distance step(Distance base, Distance weight, bool& overflowed) {
    if (base == UNREACHED || weight == NO_ARC) return UNREACHED;
    Distance value = plus(base, weight);
    bool fits = weight < 0 ? value <= base : value >= base && value != UNREACHED;
    overflowed |= !fits;
    return fits ? value : UNREACHED;
}

__device__ __forceinline__ Distance least_of(Distance value, u32 lanes) {
    for (u32 step = lanes / 2; step > 0; step >>= 1) {
        Distance other = __shfl_xor_sync(~0u, value, step);
        value = min(value, other);
    }
    return value;
}

// Stores the result of a round for a vertex.
struct Take {
    Distance* distances;
    Distance cutoff;
    bool changed;

    __device__ __forceinline__ void operator()(u32 vertex, Distance before, Distance found) {
        if (found == UNREACHED || found > cutoff || found >= before) return;
        distances[vertex] = found;
        changed = true;
    }
};

struct Csr {
    const Incoming& in;
    u32 own, lanes;

    template <class Taking>
    __device__ __forceinline__ void round(Taking& take, u64& relaxed, bool& overflowed) {
        const u32 rows = blockDim.x / lanes * gridDim.x, part = threadIdx.x % lanes;
        const u32 first = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
        for (u32 base = 0; base < own; base += rows) {
            const u32 vertex = base + first;
            Distance best = UNREACHED, before = UNREACHED;
            if (vertex < own) {
                before = load_l2(&take.distances[vertex]);
                const Offset end = load_read_only(&in.offsets[vertex + 1]);
                for (Offset i = load_read_only(&in.offsets[vertex]) + part; i < end; i += lanes) {
                    Arc arc = load(&in.arcs[i]);
                    best = min(best, step(load_l2(&take.distances[arc.head]), arc.weight, overflowed));
                    relaxed++;
                }
            }
            best = least_of(best, lanes);
            if (vertex < own && part == 0) take(vertex, before, best);
        }
    }
};

struct Ell {
    const Incoming& in;
    u32 own;

    template <class Taking>
    __device__ __forceinline__ void round(Taking& take, u64& relaxed, bool& overflowed) {
        for (u32 vertex = blockIdx.x * blockDim.x + threadIdx.x; vertex < own; vertex += gridDim.x * blockDim.x) {
            Distance before = load_l2(&take.distances[vertex]), best = UNREACHED;
            for (u32 k = 0; k < in.width; k++) {
                Arc arc = load(&in.slots[(u64)k * own + vertex]);
                if (arc.weight == NO_ARC) break;
                best = min(best, step(load_l2(&take.distances[arc.head]), arc.weight, overflowed));
                relaxed++;
            }
            take(vertex, before, best);
        }
    }
};

struct Dense {
    const Incoming& in;
    u32 own;
    Distance* shared;  // own distances, then staged rows

    // A block's rows are its number and every gridDim.x-th after; the first of them stay here.
    __device__ __forceinline__ void stage_rows() {
        for (u32 k = 0; k < in.staged; k++) {
            const u64 vertex = blockIdx.x + (u64)k * gridDim.x;
            for (u32 i = threadIdx.x; vertex < own && i < own; i += blockDim.x)
                shared[(u64)(k + 1) * own + i] = in.matrix[vertex * own + i];
        }
    }

    template <class Taking>
    __device__ __forceinline__ void round(Taking& take, u64& relaxed, bool& overflowed) {
        for (u32 i = threadIdx.x; i < own; i += blockDim.x) shared[i] = load_l2(&take.distances[i]);
        __syncthreads();
        for (u32 k = threadIdx.x / 32;; k += blockDim.x / 32) {
            const u64 vertex = blockIdx.x + (u64)k * gridDim.x;
            if (vertex >= own) break;
            const Distance* row = k < in.staged ? &shared[(u64)(k + 1) * own] : &in.matrix[vertex * own];
            Distance best = UNREACHED;
            for (u32 i = lane(); i < own; i += 32) best = min(best, step(shared[i], row[i], overflowed));
            best = least_of(best, 32);
            if (lane() == 0) {
                take((u32)vertex, shared[vertex], best);
                relaxed += own;
            }
        }
        __syncthreads();
    }
};

template <class Storage>
__device__ __forceinline__ void sweep_rounds(Storage& storage, Distance* distances, Control* control, Sweep* sweep,
                                             Distance cutoff, u32 max_rounds) {
    __shared__ BarrierPhase phase;
    if (threadIdx.x == 0) phase = current_phase(control);
    __syncthreads();
    u64 round = sweep->rounds, relaxed = 0;
    const u64 last = round + max_rounds;
    bool overflowed = false;
    while (round < last && load_l2(&sweep->changed[round % 3])) {
        Take take{distances, cutoff, false};
        storage.round(take, relaxed, overflowed);
        if (__any_sync(~0u, take.changed) && lane() == 0) sweep->changed[(round + 1) % 3] = 1;
        grid_sync(control, phase);
        if (blockIdx.x == 0 && threadIdx.x == 0) sweep->changed[round % 3] = 0;
        round++;
    }
    warp_add_to(&sweep->relaxations, relaxed);
    if (overflowed && cutoff == NO_CUTOFF) sweep->overflowed = 1;
    grid_sync(control, phase);  // all have read the words that change next
    if (blockIdx.x == 0 && threadIdx.x == 0) sweep->rounds = round;
}

#define PULL_PARAMETERS                                                                                        \
    const __grid_constant__ Incoming in, Distance *distances, Control *control, Sweep *sweep, Distance cutoff, \
        u32 own, u32 max_rounds

extern "C" __global__ void __launch_bounds__(BLOCK) pull_csr(PULL_PARAMETERS, u32 lanes) {
    Csr storage{in, own, lanes};
    sweep_rounds(storage, distances, control, sweep, cutoff, max_rounds);
}

extern "C" __global__ void __launch_bounds__(BLOCK) pull_ell(PULL_PARAMETERS) {
    Ell storage{in, own};
    sweep_rounds(storage, distances, control, sweep, cutoff, max_rounds);
}

extern "C" __global__ void __launch_bounds__(WIDE_BLOCK, 1) pull_dense(PULL_PARAMETERS) {
    DYNAMIC_SHARED(u8, room);
    Dense storage{in, own, (Distance*)room};
    storage.stage_rows();
    sweep_rounds(storage, distances, control, sweep, cutoff, max_rounds);
}

// Lowers the matrix, all NO_ARC, to the lightest arc of each pair.
extern "C" __global__ void fill_matrix(const __grid_constant__ Incoming in, Distance* matrix, u32 own) {
    const u32 warps = gridDim.x * blockDim.x / 32;
    for (u32 vertex = (blockIdx.x * blockDim.x + threadIdx.x) / 32; vertex < own; vertex += warps)
        for (Offset i = in.offsets[vertex] + lane(); i < in.offsets[vertex + 1]; i += 32)
            atomic_min(&matrix[(u64)vertex * own + in.arcs[i].head], in.arcs[i].weight);
}

// Copies the rows to slots; all slots are NO_ARC before.
extern "C" __global__ void fill_slots(const __grid_constant__ Incoming in, Arc* slots, u32 own) {
    for (u32 vertex = blockIdx.x * blockDim.x + threadIdx.x; vertex < own; vertex += gridDim.x * blockDim.x) {
        const Offset begin = in.offsets[vertex], end = in.offsets[vertex + 1];
        for (u32 k = 0; k < in.width; k++) {
            Arc arc = {};
            arc.weight = NO_ARC;
            if (begin + k < end) arc = in.arcs[begin + k];
            slots[(u64)k * own + vertex] = arc;
        }
    }
}
