// The actions of the step loop (sssp/choose_action.cuh), one function each. All threads of the grid call them.
#pragma once

#include "sssp/pull_deferred.cuh"
#include "sssp/spill.cuh"
#include "sssp/split_far.cuh"
#include "sssp/step_block_local.cuh"
#include "sssp/step_grid.cuh"

// RelaxLocally and RelaxWide.
__device__ __forceinline__ void grid_relax(const Solve& solve, StepState& state, const StepWork& found, Action action) {
    defer_long_arcs(solve.rank, state, arcs_due(solve.rank.work, (u64)found.near + found.arrived, found.chunks));
    state.has_deferred = true;
    state.only_arrivals = found.near + found.chunks == 0;
    state.steps++;
    if (action == Action::RelaxLocally)
        grid_relax_locally(solve, state, found);
    else
        grid_relax_wide(solve, state, found);
    state.change = BucketChange::None;
}

// RecoverSpilled.
__device__ __forceinline__ void grid_recover(const Rank& rank, const StepLists& now) {
    if (blockIdx.x == 0 && threadIdx.x == 0) rank.control->any_spilled = 0;
    grid_sync(rank.control, rank.phase);  // cleared before vertices that find no place set it again
    grid_recover_spilled(rank.share, rank.work, rank.control, now);
}

// PullDeferred. If weight classes are known and the new bucket is narrow, long arcs are deferred again at once: most
// near vertices have no arc to relax then.
__device__ __forceinline__ void grid_pull(const Solve& solve, StepState& state, StepLists& now) {
    const Rank& rank = solve.rank;
    Control* control = rank.control;
    if (blockIdx.x == 0 && threadIdx.x == 0) control->least_far[state.far_side] = LARGEST_DISTANCE;
    state.far_side ^= 1;
    now.far = far_list(rank.work, control, state.far_side);
    const Distance beyond = state.bound;
    state.bound = NO_BOUND;
    state.width = max(state.width, (double)rank.work.pull_reach);
    open_bucket(solve, state, beyond, true);
    if (rank.share.unit > 0 && is_narrow(rank.work, state.bucket_begin, state.threshold)) state.bound = state.threshold;
    grid_pull_deferred(rank, now, solve.staged, state.base, beyond, state.threshold, state.bound, solve.cutoff,
                       state.far_side, solve.relaxed);
    state.base = state.bucket_begin;
    state.has_deferred = false;
    state.change = BucketChange::Opened;
}

// OpenBucket and JoinBucket. A rank that joins adds what it splits to the near list of this step.
__device__ __forceinline__ void grid_change_bucket(const Solve& solve, StepState& state, const StepWork& found,
                                                   StepLists& now, Action action) {
    const Rank& rank = solve.rank;
    Control* control = rank.control;
    const bool joins = action == Action::JoinBucket;
    const Distance before = state.threshold;
    if (joins)
        join_bucket(rank, state);
    else
        open_bucket(solve, state, found.next, state.is_far_large(rank, found.far));
    if (found.far == 0) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        control->least_far[state.far_side] = LARGEST_DISTANCE;
        control->unlisted = 0;
    }
    const List far = now.far;
    state.far_side ^= 1;
    now.far = far_list(rank.work, control, state.far_side);
    if (joins) now.near_out = now.near_in;
    grid_split_far(rank, far, found.far, now, solve.staged, before, state.threshold, state.bound,
                   &control->least_far[state.far_side]);
    state.change = joins ? BucketChange::Joined : BucketChange::Opened;
}

// Ends JoinBucket: the same step goes on with the entries of near and of the split.
__device__ __forceinline__ void grid_recount_near(const Rank& rank, const StepLists& now) {
    auto count = [&] {
        if (lane() == 0) rank.control->plan.near = load_volatile(now.near_in.count);
    };
    grid_sync(rank.control, rank.phase, [] {}, count, [] {});
}
