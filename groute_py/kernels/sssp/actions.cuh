// What the actions of sssp/choose_action.cuh do, all but `end`.
#pragma once

#include "sssp/choose_action.cuh"
#include "sssp/conditions.cuh"
#include "sssp/move_bucket.cuh"
#include "sssp/pull_deferred.cuh"
#include "sssp/spill.cuh"
#include "sssp/split_far.cuh"
#include "sssp/step_block_local.cuh"
#include "sssp/step_grid.cuh"

// Actions local_step and grid_step: relaxes near, row chunks and arrivals.
__device__ __forceinline__ void grid_relax(Action action, const Conditions& now, StepState& state, Staging& staged,
                                           u32& relaxed) {
    block_set_pull_bound(now.rank, state, arcs_due(now.rank.work, now.entries(), now.chunk_count()));
    if (action == Action::local_step)
        grid_take_local_step(now, state, staged, relaxed);
    else
        grid_take_wide_step(now, state, staged, relaxed);
}

// Action recover_spilled.
__device__ __forceinline__ void grid_recover(const Rank& rank, const StepLists& lists) {
    if (blockIdx.x == 0 && threadIdx.x == 0) rank.control->any_spilled = 0;
    grid_sync(rank.control, rank.phase);  // cleared before vertices that find no place set it again
    grid_recover_spilled(rank.share, rank.work, rank.control, lists);
}

// By thread 0 of a block: makes the other far list current, for a split or a pull. It is empty: its count was cleared
// by `grid_clear_ahead`, and its least distance when it was left.
__device__ __forceinline__ void swap_far(const Rank& rank, StepState& state) {
    if (blockIdx.x == 0) rank.control->least_far[state.far_side] = LARGEST_DISTANCE;
    state.far_side ^= 1;
}

// Action pull_deferred.
__device__ __forceinline__ void grid_pull(const Conditions& now, StepState& state, StepLists& lists, Staging& staged,
                                          u32& relaxed) {
    const Rank& rank = now.rank;
    const Distance base = state.base, beyond = state.bound;
    block_change([&] {
        swap_far(rank, state);
        open_bucket_at_bound(rank, state, now.launch.delta);
        state.may_defer = false;
        state.change = BucketChange::opened;
    });
    lists.far = far_list(rank.work, rank.control, state.far_side);
    grid_pull_deferred(rank, lists, staged, base, beyond, state.threshold, state.bound, now.launch.cutoff,
                       state.far_side, relaxed);
}

// Actions open_bucket and join_bucket: moves the bucket and splits far. A rank that joins a bucket adds what the split
// finds to the near entries that it has.
__device__ __forceinline__ void grid_move_bucket(Action action, const Conditions& now, StepState& state,
                                                 StepLists& lists, Staging& staged) {
    const Rank& rank = now.rank;
    const bool joins = action == Action::join_bucket;
    const u32 far_count = now.far_count();
    const List far = lists.far;
    const Distance before = state.threshold;
    block_change([&] {
        if (joins)
            join_bucket(rank, state);
        else
            open_bucket(rank, state, now.launch.delta, far_begin(state, rank.seen), BucketBegin::without_bound,
                        is_much(rank, state, far_count));
        if (far_count == 0) return;
        swap_far(rank, state);
        state.change = joins ? BucketChange::joined : BucketChange::opened;
        if (blockIdx.x == 0) rank.control->unlisted = 0;
    });
    if (far_count == 0) return;
    lists.far = far_list(rank.work, rank.control, state.far_side);
    if (joins) lists.near_out = lists.near_in;
    grid_split_far(rank, far, far_count, lists, staged, before, state.threshold, state.bound,
                   &rank.control->least_far[state.far_side]);
}

// The other actions: fills near, then lists the arrivals. All actions but join_bucket must take the arrivals, because
// the leader counts them as taken at the end of the step.
__device__ __forceinline__ void grid_refill(Action action, const Conditions& now, StepState& state, Staging& staged,
                                            u32& relaxed) {
    const Rank& rank = now.rank;
    const bool merges = action != Action::join_bucket && now.has_arrivals();
    StepLists lists = begin_step(now);
    grid_sync(rank.control, rank.phase);  // all blocks have read the counters that decide about the bucket
    if (action == Action::recover_spilled)
        grid_recover(rank, lists);
    else if (action == Action::pull_deferred)
        grid_pull(now, state, lists, staged, relaxed);
    else if (action != Action::idle)
        grid_move_bucket(action, now, state, lists, staged);
    if (merges) grid_merge_arrivals(rank, lists, staged, state.bucket_begin, state.bound);
    if (threadIdx.x) return;
    if (action != Action::join_bucket) state.step++;
    state.served = false;
    if (merges) state.may_defer = true;
}
