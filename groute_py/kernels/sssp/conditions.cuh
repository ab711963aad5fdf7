// The conditions that decide about a step; see the table in sssp/choose_action.cuh.
#pragma once

#include "exchange/peers.cuh"
#include "sssp/step.cuh"
#include "sssp/step_state.cuh"

#define BUSY 4  // mean degree up to which the limit of block-local steps counts entries; above it they may have fewer

// Counters are those of the start of the step. Each condition is evaluated when it is asked, from words in shared
// memory, so that none takes a register during the step.
struct Conditions {
    const Rank& rank;
    const StepState& state;
    const Launch& launch;

    __device__ __forceinline__ bool has_peers() const { return exchanges(rank.peers); }

    // All ranks are quiet or a host has set the stop flag; without peers, this launch has taken its steps.
    __device__ __forceinline__ bool is_over() const {
        return has_peers() ? rank.seen.plan.quiet || rank.seen.plan.stopped : state.step == state.end;
    }

    // The shared bucket has moved, and this rank has work in it.
    __device__ __forceinline__ bool is_behind() const {
        return has_peers() && rank.peers.ahead == 0 && (has_listed() || has_arrivals()) &&
               shared_end(state, rank.seen) > state.threshold;
    }

    // Near entries, or row chunks.
    __device__ __forceinline__ bool has_listed() const { return near_count() + chunk_count() > 0; }

    __device__ __forceinline__ bool has_arrivals() const { return arrived(); }

    // The last step had arrivals only.
    __device__ __forceinline__ bool has_served() const { return state.served; }

    // Near had no place for some entries.
    __device__ __forceinline__ bool has_spilled() const { return rank.seen.any_spilled; }

    // Few entries, and no row chunks, which are for the whole grid.
    __device__ __forceinline__ bool is_short() const {
        return chunk_count() == 0 && entries() * max(rank.work.mean_degree / BUSY, 1u) <= gridDim.x * LOCAL_ENTRIES;
    }

    // Arcs have been deferred, and nothing is left before the bound.
    __device__ __forceinline__ bool is_pull_due() const {
        return state.has_deferred(far_count()) && (!has_far() || far_begin(state, rank.seen) >= state.bound);
    }

    __device__ __forceinline__ bool has_far() const { return far_count() > 0; }

    // This rank must not work at the pull bound yet, ...
    __device__ __forceinline__ bool is_bound_beyond() const { return is_beyond_limit(state.bound); }

    // ... or where far begins.
    __device__ __forceinline__ bool is_far_beyond() const { return is_beyond_limit(far_begin(state, rank.seen)); }

    // Near entries and arrivals.
    __device__ __forceinline__ u64 entries() const { return (u64)near_count() + arrived(); }

    __device__ __forceinline__ u32 near_count() const {
        const u32 count = has_peers() ? rank.seen.plan.near : rank.seen.near_count[state.step % 3];
        return min(count, rank.work.capacity);
    }

    __device__ __forceinline__ u32 chunk_count() const {
        return min(rank.seen.chunk_count[state.step % 3], rank.work.chunk_capacity);
    }

    __device__ __forceinline__ u32 far_count() const { return rank.seen.far_count[state.far_side]; }

    // No distance left to work on is smaller, when the launch ends.
    __device__ __forceinline__ double floor() const {
        if (has_peers() ? rank.seen.plan.stopped : has_listed() || has_spilled()) return (double)state.bucket_begin;
        const double least = has_far() ? (double)far_begin(state, rank.seen) : (double)INFINITE;
        return state.has_deferred(far_count()) ? min(least, (double)state.bound) : least;
    }

  private:
    __device__ __forceinline__ u32 arrived() const {
        return has_peers() ? rank.seen.plan.arrived + rank.seen.plan.ll_arrived : 0;
    }

    __device__ __forceinline__ bool is_beyond_limit(Distance distance) const {
        return has_peers() ? is_beyond(rank.peers, (double)distance, rank.seen.plan.limit)
                           : (double)distance > launch.limit;
    }
};

// Changes the state for the step after one that relaxes; all threads of a block call it, when they have met since they
// chose the action. The last one does it, because its warp rarely has entries.
__device__ __forceinline__ void block_end_relaxing(const Conditions& now, StepState& state) {
    if (threadIdx.x != BLOCK - 1) return;
    state.served = !now.has_listed();
    state.may_defer = true;
    state.change = BucketChange::none;
    state.steps++;
    state.step++;
}

// The lists and counters of the next step.
__device__ __forceinline__ StepLists begin_step(const Conditions& now) {
    const StepState& state = now.state;
    return begin_step(now.rank.work, now.rank.control, state.step, state.far_side, now.near_count(), now.chunk_count());
}
