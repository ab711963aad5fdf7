// How the bucket of a rank moves. Only its state changes; splitting far and pulling follow. Thread 0 of a block calls
// the functions that change it.
#pragma once

#include "exchange/peers.cuh"
#include "sssp/buckets.cuh"
#include "sssp/step_state.cuh"

// An estimate of the arcs that a step has to relax.
__device__ __forceinline__ u64 arcs_due(const Work& work, u64 entries, u64 chunks) {
    return entries * work.mean_degree + chunks * ROW_CHUNK;
}

// Whether far is large, so that the bucket may grow faster.
__device__ __forceinline__ bool is_much(const Rank& rank, const StepState& state, u32 far_count) {
    return far_count > rank.share.own / MUCH && !is_narrow(rank.work, state.bucket_begin, state.threshold);
}

// Sets the pull bound if this step has many arcs, or if a peer has set one.
__device__ __forceinline__ void set_pull_bound(const Rank& rank, StepState& state, u64 arcs) {
    const Work& work = rank.work;
    if (state.bound != NO_BOUND || !is_narrow(work, state.bucket_begin, state.threshold)) return;
    const double peers_bound = exchanges(rank.peers) ? rank.seen.plan.bound : 0;
    const bool joins = peers_bound > 0 && peers_bound >= (double)state.threshold;
    if (!joins && arcs < work.pull_from_arcs) return;
    state.base = state.bucket_begin;
    state.bound = max(joins ? (Distance)peers_bound : end_of(state.threshold, work.pull_reach / 2), state.threshold);
    state.width = next_width(state.width, state.width, work.pull_reach, BucketBegin::before_bound, false);
}

// The same, if arcs may be deferred at all; all threads of a block call it.
__device__ __forceinline__ void block_set_pull_bound(const Rank& rank, StepState& state, u64 arcs) {
    if (PULLS) block_change([&] { set_pull_bound(rank, state, arcs); });
}

// Opens the bucket that begins at `from`, before the pull bound or where `begin` says; `much`: see is_much.
__device__ __forceinline__ void open_bucket(const Rank& rank, StepState& state, Distance delta, Distance from,
                                            BucketBegin begin, bool much) {
    state.bucket_begin = from;
    if (exchanges(rank.peers)) {
        const double limit = rank.seen.plan.limit;
        state.threshold = end_of(from, (double)delta);
        if (limit < (double)state.threshold) state.threshold = (Distance)limit;
    } else {
        if (state.bound == NO_BOUND)
            state.width = next_width(state.width, (double)delta, rank.work.pull_reach, begin, much);
        state.threshold = end_of(from, state.width);
    }
    state.threshold = min(state.threshold, state.bound);
    // a bucket always contains the distance at which it begins
    state.threshold = max(state.threshold, just_above(from));
}

// Opens the bucket at the pull bound. Its arcs are deferred again if it is narrow and weight classes are known: most
// near vertices have no arc to relax then.
__device__ __forceinline__ void open_bucket_at_bound(const Rank& rank, StepState& state, Distance delta) {
    const Distance from = state.bound;
    state.bound = NO_BOUND;
    open_bucket(rank, state, delta, from, BucketBegin::at_bound, true);
    if (rank.share.unit > 0 && is_narrow(rank.work, state.bucket_begin, state.threshold)) state.bound = state.threshold;
    state.base = state.bucket_begin;
}

// Takes over the bucket that peers share. Its two words may arrive in either order.
__device__ __forceinline__ void join_bucket(const Rank& rank, StepState& state) {
    const Distance end = shared_end(state, rank.seen);
    state.bucket_begin = max(state.bucket_begin, min((Distance)rank.seen.plan.from, end));
    state.threshold = end;
}
