// Near-far Δ-stepping on one share: a persistent cooperative kernel that takes many steps a launch. Davidson,
// Baxter, Garland and Owens, "Work-efficient parallel GPU methods for single-source shortest paths" (IPDPS 2014).
//
// The loop chooses an action for each step (sssp/choose_action.cuh, with the table of conditions) and takes it
// (sssp/actions.cuh). A step that relaxes takes the entries of near and writes the near list of the next step.
// * Block-local step (few entries a block, no row chunks): a block relaxes its part of near. It keeps the near entries
//   that it produces in shared memory and relaxes them at once, level by level, until some block has reached `depth`
//   levels and the grid meets again. On road networks the time of a level is latency, so this saves most barriers. Rows
//   are looked up and prefetched before they are needed.
// * Grid-wide step: warps take groups of entries, keep several arcs a lane in flight, and buffer what they append.
// Rows longer than ROW_CHUNK are cut into chunks for warps of the whole grid. A block-local step leaves them to the
// next step; a grid-wide step relaxes them itself after a barrier. So peers that hold chunks of one hub's row relax
// them in steps that are taken in lockstep, if they are many.
//
// A step with many arcs may defer arcs that lead far beyond its bucket, and pull them later; see
// sssp/pull_deferred.cuh.
//
// When near is empty, or when the bucket that peers share has moved, far is split by a new threshold; buckets may grow
// (groute_py/engine/algorithms/delta_stepping.py). Invariant: a vertex whose distance is below the threshold has an
// entry for that distance in near, or its bit in the spill bitmap, or no arc to relax there (sssp/min_out_weight.cuh),
// or has been relaxed from it; all other reached vertices are far. So entries can be processed in any order, with the
// same final distances.
//
// With peers, vertices that come into near are pushed at once, or pulled by the peers after the step, and a step begins
// with the arrivals; see exchange/PROTOCOL.md. A head in the halo is marked dirty, for messages through the host.

#include "exchange/leader.cuh"
#include "exchange/shutdown.cuh"
#include "sssp/actions.cuh"
#include "sssp/initialize.cuh"

// What this rank has left after a step, for the leader's decisions; `state.step` is the next step already.
__device__ __forceinline__ void leader_get_status(const Rank& rank, const StepState& state, LocalStatus& status) {
    const Control* control = rank.control;
    status.near = load_volatile(&control->near_count[state.step % 3]);
    status.listed = weight_of(status.near, load_volatile(&control->chunk_count[state.step % 3]));
    status.pending = load_volatile(&control->any_spilled);
    const bool is_split = state.change != BucketChange::none;
    const Distance far_begin = is_split ? load_l2(&control->least_far[state.far_side]) : state.threshold;
    const u32 far = load_volatile(&control->far_count[state.far_side]);
    const bool pulls = state.has_deferred(far);
    status.bound = pulls ? (double)state.bound : (double)INFINITE;
    status.reach = rank.work.pull_reach;
    status.far = pulls ? rank.share.own : far;
    status.much = pulls || is_much(rank, state, far);
    status.threshold = (double)state.threshold;
    // entries of near are relaxed even if their bucket begins beyond the bound
    const double bucket_begin = min((double)state.bucket_begin, rank.peers.bound);
    const double beyond = min(far ? (double)far_begin : (double)INFINITE, status.bound);
    status.floor = status.listed || status.pending ? bucket_begin : beyond;
}

// Ends a step: waits for all blocks, while the leader decides about the next step.
__device__ __forceinline__ void grid_end_step(const Rank& rank, const StepState& state) {
    const Peers& peers = rank.peers;
    LeaderState& leader = rank.leader;
    LocalStatus status;
    auto poll = [&] {
        if (exchanges(peers)) leader_poll(peers, leader);
    };
    auto decide = [&] {
        if (!exchanges(peers)) return;
        const StepCounts counts(rank.control->exchange);
        leader_get_status(rank, state, status);
        leader_plan_step(peers, rank.control->exchange, leader, counts, status);
        Copy<StepPlan>(&leader.plan).put(&rank.control->plan);
    };
    auto publish = [&] {
        if (exchanges(peers)) leader_publish(peers, leader, status);
    };
    grid_sync(rank.control, rank.phase, poll, decide, publish);
}

// Begins a step again after a bucket has been joined: it relaxes what the split has added to near.
__device__ __forceinline__ void grid_begin_again(const Rank& rank, const StepState& state) {
    Control* control = rank.control;
    auto count = [&] {
        if (lane() == 0) control->plan.near = load_volatile(&control->near_count[state.step % 3]);
    };
    grid_sync(control, rank.phase, [] {}, count, [] {});
}

// Initialises a launch; all blocks have the state that it begins with then.
__device__ __forceinline__ void grid_begin(const Rank& rank, u32 begins, u32 source, Distance first) {
    if (threadIdx.x < MAX_PEERS) rank.leader.ll_taken[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        rank.leader.began = clock64();
        rank.phase = current_phase(rank.control);
    }
    __syncthreads();
    if (begins == GO_ON) return;
    grid_initialize(rank, begins, source, first);
    grid_sync(rank.control, rank.phase);
}

// Ends a launch. `relaxed`: arcs that this thread has relaxed.
__device__ __forceinline__ void grid_end(const Conditions& now, u32 relaxed) {
    const Rank& rank = now.rank;
    Control* control = rank.control;
    const double floor = now.floor();
    if (now.has_peers() && is_leader_block() && threadIdx.x < 32) {
        Copy<Exchange>(&rank.leader.own).put(&control->exchange);
        leader_shut_down(rank.peers, control, rank.seen.plan.stopped, floor);
    }
    warp_add_to(&control->relaxations, relaxed);
    if (blockIdx.x || threadIdx.x) return;
    control->floor = floor;
    store_state(now.state, control, now.has_peers());
}

// The main kernel. Without peers it works until nothing up to `limit` is left or `max_steps` steps are done; with peers
// until all are quiet up to `peers.bound` or a host sets the stop flag. With `max_steps` 0 it only initialises.
// `begins`, `source` and `first` (the width of the first bucket): see sssp/initialize.cuh. State between launches: see
// Control.
extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS)
    relax(const __grid_constant__ Share share, const __grid_constant__ Work work, const __grid_constant__ Peers peers,
          Control* control, Distance delta, Distance cutoff, double limit, u32 max_steps, u32 depth, u32 begins,
          u32 source, Distance first) {
    __shared__ Staging staged;
    __shared__ Seen seen;
    __shared__ StepState state;
    __shared__ LeaderState leader;
    __shared__ BarrierPhase phase;
    const Rank rank{share, work, peers, control, seen, phase, leader};
    grid_begin(rank, begins, source, first);
    if (max_steps == 0) return;
    if (exchanges(peers) && blockIdx.x == 0) block_clear(peers.next);
    if (exchanges(peers) && is_leader_block() && threadIdx.x < 32) leader_restore(control, leader);
    block_load_seen(control, seen, peers);

    const Launch launch{delta, cutoff, limit, depth};
    const Conditions now{rank, state, launch};
    block_load_state(state, control, seen, max_steps);
    u32 relaxed = 0;
    while (true) {
        const Action action = choose_action(now);
        if (action == Action::end) return grid_end(now, relaxed);
        grid_clear_ahead(control, state.step, state.far_side);
        if (action == Action::local_step || action == Action::grid_step)
            grid_relax(action, now, state, staged, relaxed);
        else
            grid_refill(action, now, state, staged, relaxed);
        if (action == Action::join_bucket)
            grid_begin_again(rank, state);
        else
            grid_end_step(rank, state);
        block_load_seen(control, seen, peers);
    }
}
