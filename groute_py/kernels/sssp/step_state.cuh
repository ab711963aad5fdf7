// What a rank keeps from step to step.
//
// Each block has a copy in shared memory; all copies are equal. One thread of a block changes it, when all its threads
// have met since they chose the action, and before they meet again. In registers it would not fit beside a step: the
// compiler would keep part of it in local memory, which the leader reads between the arrival of the last block and the
// release of all.
#pragma once

#include "exchange/rank.cuh"

// What a launch was given. Without peers it ends when nothing up to `limit` is left.
struct Launch {
    Distance delta, cutoff;  // the widest bucket; the largest distance that is kept
    double limit;
    u32 depth;  // levels of a block-local step
};

// How the bucket has changed since the last step that relaxed. Unless it is `none`, `least_far` is exact.
enum class BucketChange : u32 { none, opened, joined };

struct StepState {
    u32 step;                          // number of steps and splits so far; selects the current lists and counters
    u32 end;                           // without peers this launch ends before this step
    u32 steps;                         // of this launch: steps that relaxed
    u32 far_side;                      // which far list is current
    Distance bucket_begin, threshold;  // the bucket
    Distance bound;                    // arcs that lead there or beyond are deferred; NO_BOUND: none are
    Distance base;                     // tails before it have no deferred arcs
    bool may_defer;                    // arcs may have been deferred since the bound was set
    bool served;                       // the last step had arrivals only
    BucketChange change;
    double width;  // of the bucket on one rank; see also Exchange

    // Whether deferred arcs have to be pulled at the bound; `far_count` of far's entries are beyond it.
    __device__ __forceinline__ bool has_deferred(u32 far_count) const {
        return PULLS && bound != NO_BOUND && (may_defer || far_count > 0);
    }
};

// Lets thread 0 of a block change the state; all threads of the block call it.
template <class Change>
__device__ __forceinline__ void block_change(Change change) {
    __syncthreads();  // all have read what they need of the old state
    if (threadIdx.x == 0) change();
    __syncthreads();
}

// Loads the state that the launch before, or `grid_initialize`, has left.
__device__ __forceinline__ void block_load_state(StepState& state, const Control* control, const Seen& seen,
                                                 u32 max_steps) {
    if (threadIdx.x == 0) {
        state = {};
        state.step = seen.step;
        state.end = seen.step + max_steps;
        state.far_side = seen.far_side;
        state.bucket_begin = control->bucket_begin;
        state.threshold = control->threshold;
        state.bound = PULLS ? control->bound : NO_BOUND;
        state.base = control->base;
        state.may_defer = true;
        state.width = control->exchange.width;
    }
    __syncthreads();
}

// Stores the state for the next launch.
__device__ __forceinline__ void store_state(const StepState& state, Control* control, bool has_peers) {
    control->step = state.step;
    control->steps += state.steps;
    control->far_side = state.far_side;
    control->bucket_begin = state.bucket_begin;
    control->threshold = state.threshold;
    if (PULLS) {
        control->bound = state.bound;
        control->base = state.base;
    }
    if (!has_peers) control->exchange.width = state.width;
}

// The smallest distance that far may hold, as of the start of the step: what a split has found, or the threshold.
__device__ __forceinline__ Distance far_begin(const StepState& state, const Seen& seen) {
    return state.change != BucketChange::none ? seen.least_far[state.far_side] : state.threshold;
}

// The end of the bucket that peers share; a rank goes no farther than its pull bound.
__device__ __forceinline__ Distance shared_end(const StepState& state, const Seen& seen) {
    return seen.plan.limit < (double)state.bound ? (Distance)seen.plan.limit : state.bound;
}
