// Near-far Δ-stepping on one share: a persistent cooperative kernel that takes many steps a launch. Davidson,
// Baxter, Garland and Owens, "Work-efficient parallel GPU methods for single-source shortest paths" (IPDPS 2014).
//
// The loop is a state machine: sssp/choose_action.cuh chooses what a step does, by facts that all blocks know
// (sssp/step_state.cuh), and sssp/actions.cuh does it. A step that relaxes takes the entries of near and writes the
// near list of the next step.
//
// * Block-local step (few entries a block, no row chunks): a block relaxes its part of near. It keeps the near entries
//   that it produces in shared memory and relaxes them at once, level by level, until some block has reached `depth`
//   levels; then comes the barrier. On road networks the time of a level is latency, so this saves most barriers. Rows
//   are looked up and prefetched before they are needed.
// * Grid-wide step: warps take groups of entries, keep several arcs a lane in flight, and buffer what they append.
//
// Rows longer than ROW_CHUNK are cut into chunks for warps of the whole grid. A block-local step leaves them to the
// next step; a grid-wide step relaxes them itself after a barrier. So peers that hold chunks of one hub's row relax
// them in steps that are taken in lockstep, if they are many.
//
// A step with many arcs may defer arcs that lead far beyond its bucket, and pull them later; see
// sssp/pull_deferred.cuh.
//
// When near is empty, or when the bucket that peers share has moved, far is split by a new threshold; buckets may grow
// (groute_py/algorithms/delta_stepping.py). Invariant: a vertex whose distance is below the threshold has an entry for
// that distance in near, or its bit in the spill bitmap, or no arc to relax there
// (sssp/min_out_weight.cuh), or has been relaxed from it; all other reached vertices are far. So entries can be
// processed in any order, with the same final distances.
//
// With peers, vertices that come into near are pushed at once, or pulled by the peers after the step, and a step begins
// with the arrivals; see exchange/PROTOCOL.md. A head in the halo is marked dirty, for messages through the host.

#include "exchange/leader.cuh"
#include "exchange/shutdown.cuh"
#include "sssp/actions.cuh"
#include "sssp/initialize.cuh"

// Initialises a solve or a run, and loads the state of the launch before. Returns whether there are steps to take.
__device__ __forceinline__ bool grid_begin_launch(const Rank& rank, u32 max_steps, u32 begins, u32 source,
                                                  Distance first) {
    if (threadIdx.x < MAX_PEERS) rank.leader.ll_taken[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        rank.leader.began = clock64();
        rank.phase = current_phase(rank.control);
    }
    __syncthreads();
    if (begins != GO_ON) {
        grid_initialize(rank, begins, source, first);
        grid_sync(rank.control, rank.phase);
    }
    if (max_steps == 0) return false;
    if (exchanges(rank.peers) && blockIdx.x == 0) block_clear(rank.peers.next);
    if (exchanges(rank.peers) && is_leader_block() && threadIdx.x < 32) leader_restore(rank.control, rank.leader);
    return true;
}

// The barrier after a step, in which the leader plans the next one.
__device__ __forceinline__ void grid_end_step(const Rank& rank, StepState& state) {
    state.step++;
    const bool exchanging = exchanges(rank.peers);
    LocalStatus status;
    auto poll = [&] {
        if (exchanging) leader_poll(rank.peers, rank.leader);
    };
    auto decide = [&] {
        if (!exchanging) return;
        const StepCounts counts(rank.control->exchange);
        status = leader_status(rank, state);
        leader_plan_step(rank.peers, rank.control->exchange, rank.leader, counts, status);
        Copy<StepPlan>(&rank.leader.plan).put(&rank.control->plan);
    };
    grid_sync(rank.control, rank.phase, poll, decide, [&] {
        if (exchanging) leader_publish(rank.peers, rank.leader, status);
    });
}

// Leaves the state to the next launch, and agrees with the peers on how the run has ended.
__device__ __forceinline__ void grid_end_launch(const Rank& rank, const StepState& state, u32 relaxed, double floor) {
    Control* control = rank.control;
    const bool exchanging = exchanges(rank.peers);
    if (exchanging && is_leader_block() && threadIdx.x < 32) {
        Copy<Exchange>(&rank.leader.own).put(&control->exchange);
        leader_shut_down(rank.peers, control, rank.seen.plan.stopped, floor);
    }
    warp_add_to(&control->relaxations, relaxed);
    if (blockIdx.x || threadIdx.x) return;
    control->steps += state.steps;
    control->step = state.step;
    control->far_side = state.far_side;
    control->threshold = state.threshold;
    control->bucket_begin = state.bucket_begin;
    if (PULLS) {
        control->bound = state.bound;
        control->base = state.base;
    }
    if (!exchanging) control->exchange.width = state.width;
    control->floor = floor;
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
    __shared__ LeaderState leader;
    __shared__ BarrierPhase phase;
    const Rank rank{share, work, peers, control, seen, phase, leader};
    if (!grid_begin_launch(rank, max_steps, begins, source, first)) return;
    block_load_seen(control, seen, peers);
    u32 relaxed = 0;
    const Solve solve{rank, staged, delta, cutoff, limit, depth, relaxed};
    StepState state(rank);
    const u32 last_step = state.step + max_steps;
    double floor;
    while (true) {
        const StepWork found(rank, state);
        const Action action = choose_action(facts_of(solve, state, found));
        grid_clear_ahead(control, state.step, state.far_side);
        if (action == Action::Finish || (state.step == last_step && !exchanges(peers))) {
            floor = floor_at_end(rank, state, found, action);
            break;
        }
        if (action == Action::RelaxLocally || action == Action::RelaxWide) {
            grid_relax(solve, state, found, action);
        } else {
            StepLists now = begin_step(rank, state, found);
            grid_sync(control, phase);  // all blocks have read the counters that decide about the bucket
            state.only_arrivals = false;
            if (action == Action::RecoverSpilled)
                grid_recover(rank, now);
            else if (action == Action::PullDeferred)
                grid_pull(solve, state, now);
            else if (action != Action::AwaitPeers)
                grid_change_bucket(solve, state, found, now, action);
            if (action == Action::JoinBucket) {
                grid_recount_near(rank, now);
                block_load_seen(control, seen, peers);
                continue;
            }
            if (found.arrived) {
                grid_merge_arrivals(solve, state, now);
                state.has_deferred = true;
            }
        }
        grid_end_step(rank, state);
        block_load_seen(control, seen, peers);
    }
    grid_end_launch(rank, state, relaxed, floor);
}
