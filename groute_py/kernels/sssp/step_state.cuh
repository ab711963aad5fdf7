// The state of the step loop, which all blocks keep alike, and what follows from it and from the counters of a step.
#pragma once

#include "exchange/rank.cuh"
#include "exchange/termination.cuh"
#include "sssp/buckets.cuh"
#include "sssp/choose_action.cuh"
#include "sssp/staging.cuh"
#include "sssp/step.cuh"

#define BUSY 4  // mean degree up to which the limit of block-local steps counts entries; above it they may have fewer

// What a launch does not change.
struct Solve {
    const Rank& rank;
    Staging& staged;
    Distance delta, cutoff;  // width of the widest bucket; greatest distance that is kept
    double limit;            // without peers: up to where to relax
    u32 depth;               // levels of a block-local step
    u32& relaxed;            // arcs that this thread has relaxed
};

// Whether the last step split far, and why.
enum class BucketChange { None, Opened, Joined };

struct StepState {
    u32 step, far_side;  // see Seen
    Distance bucket_begin, threshold;
    double width;          // of the bucket; without peers the next one grows from it
    Distance bound, base;  // arcs to `bound` or beyond are deferred, for tails at `base` or more; see pull_deferred.cuh
    bool has_deferred;     // arcs may have been deferred since the bound was set
    bool only_arrivals;    // the last step relaxed arrivals only
    BucketChange change;
    u32 steps;  // of this launch that relaxed

    __device__ __forceinline__ explicit StepState(const Rank& rank)
        : step(rank.seen.step),
          far_side(rank.seen.far_side),
          bucket_begin(rank.control->bucket_begin),
          threshold(rank.control->threshold),
          width(rank.control->exchange.width),
          bound(PULLS ? rank.control->bound : NO_BOUND),
          base(rank.control->base),
          has_deferred(true),
          only_arrivals(false),
          change(BucketChange::None),
          steps(0) {}

    // Whether a pull phase has to come, with `far` entries in far.
    __device__ __forceinline__ bool pulls(u32 far) const {
        return PULLS && bound != NO_BOUND && (has_deferred || far > 0);
    }

    // The smallest distance left beyond near, where far has `far` entries, none before `next`.
    __device__ __forceinline__ double smallest_beyond(u32 far, Distance next) const {
        const double left = far ? (double)next : (double)INFINITE;
        return pulls(far) ? min(left, (double)bound) : left;
    }

    // Whether far is so large that the next bucket may be much wider.
    __device__ __forceinline__ bool is_far_large(const Rank& rank, u32 far) const {
        return far > rank.share.own / MUCH && !is_narrow(rank.work, bucket_begin, threshold);
    }
};

// The work of a step, by counters that were final before the barrier that began it.
struct StepWork {
    u32 near, chunks, arrived;
    u32 far;
    Distance next;  // no far entry is smaller

    __device__ __forceinline__ StepWork(const Rank& rank, const StepState& state) {
        const Seen& seen = rank.seen;
        const bool exchanging = exchanges(rank.peers);
        near = min(exchanging ? seen.plan.near : seen.near_count[state.step % 3], rank.work.capacity);
        chunks = min(seen.chunk_count[state.step % 3], rank.work.chunk_capacity);
        arrived = exchanging ? seen.plan.arrived + seen.plan.ll_arrived : 0;
        far = seen.far_count[state.far_side];
        next = state.change == BucketChange::None ? state.threshold : seen.least_far[state.far_side];
    }

    __device__ __forceinline__ bool is_small(const Work& work) const {
        return chunks == 0 && ((u64)near + arrived) * max(work.mean_degree / BUSY, 1u) <= gridDim.x * LOCAL_ENTRIES;
    }
};

__device__ __forceinline__ StepLists begin_step(const Rank& rank, const StepState& state, const StepWork& found) {
    return begin_step(rank.work, rank.control, state.step, state.far_side, found.near, found.chunks);
}

// Where the bucket that peers share ends for this rank.
__device__ __forceinline__ Distance shared_end(const Rank& rank, const StepState& state) {
    const double limit = rank.seen.plan.limit;
    return limit < (double)state.bound ? (Distance)limit : state.bound;
}

__device__ __forceinline__ StepFacts facts_of(const Solve& solve, const StepState& state, const StepWork& found) {
    const Rank& rank = solve.rank;
    const StepPlan& plan = rank.seen.plan;
    const bool exchanging = exchanges(rank.peers);
    const double left = state.smallest_beyond(found.far, found.next);
    StepFacts facts;
    facts.over = exchanging && (plan.quiet || plan.stopped);
    facts.near = found.near + found.chunks > 0;
    facts.arrivals = found.arrived > 0;
    facts.again = state.only_arrivals;
    facts.spilled = rank.seen.any_spilled;
    facts.moved = exchanging && rank.peers.ahead == 0 && shared_end(rank, state) > state.threshold;
    facts.small = found.is_small(rank.work);
    facts.pull = state.pulls(found.far) && (found.far == 0 || found.next >= state.bound);
    facts.far = found.far > 0;
    facts.beyond = exchanging ? is_beyond(rank.peers, left, plan.limit) : left > solve.limit;
    facts.peers = exchanging;
    return facts;
}

// A lower bound of the distances left to work on when the loop ends, instead of `next` if it does so early.
__device__ __forceinline__ double floor_at_end(const Rank& rank, const StepState& state, const StepWork& found,
                                               Action next) {
    const bool has_near = exchanges(rank.peers) ? rank.seen.plan.stopped != 0
                                                : next == Action::RelaxLocally || next == Action::RelaxWide ||
                                                      next == Action::RecoverSpilled;
    return has_near ? (double)state.bucket_begin : state.smallest_beyond(found.far, found.next);
}

// Sets the pull bound if a step has many arcs to relax, or if a peer has set one.
__device__ __forceinline__ void defer_long_arcs(const Rank& rank, StepState& state, u64 arcs) {
    const Work& work = rank.work;
    if (!PULLS || state.bound != NO_BOUND || !is_narrow(work, state.bucket_begin, state.threshold)) return;
    const double peers_bound = exchanges(rank.peers) ? rank.seen.plan.bound : 0;
    const bool joins = peers_bound > 0 && peers_bound >= (double)state.threshold;
    if (!joins && arcs < work.pull_from_arcs) return;
    state.base = state.bucket_begin;
    state.bound = max(joins ? (Distance)peers_bound : end_of(state.threshold, work.pull_reach / 2), state.threshold);
    state.width = max(state.width, work.pull_reach / 4.0);
}

// Moves to the bucket that begins at `from`; `is_wide` if it may be much wider than the last one.
__device__ __forceinline__ void open_bucket(const Solve& solve, StepState& state, Distance from, bool is_wide) {
    state.bucket_begin = from;
    if (exchanges(solve.rank.peers)) {
        const double limit = solve.rank.seen.plan.limit;
        state.threshold = end_of(from, (double)solve.delta);
        if (limit < (double)state.threshold) state.threshold = (Distance)limit;
    } else {
        if (state.bound == NO_BOUND) state.width = wider(state.width, (double)solve.delta, is_wide);
        state.threshold = end_of(from, state.width);
    }
    state.threshold = min(state.threshold, state.bound);
    // a bucket always contains the distance at which it begins
    state.threshold = max(state.threshold, just_above(from));
}

// Moves to the bucket of the peers.
__device__ __forceinline__ void join_bucket(const Rank& rank, StepState& state) {
    const Distance end = shared_end(rank, state);
    state.bucket_begin = max(state.bucket_begin, min((Distance)rank.seen.plan.from, end));  // either may arrive first
    state.threshold = end;
}

// What the leader knows of its rank when a step has ended.
__device__ __forceinline__ LocalStatus leader_status(const Rank& rank, const StepState& state) {
    const Control* control = rank.control;
    LocalStatus status;
    status.near = load_volatile(&control->near_count[state.step % 3]);
    status.listed = weight_of(status.near, load_volatile(&control->chunk_count[state.step % 3]));
    status.pending = load_volatile(&control->any_spilled);
    const Distance next =
        state.change == BucketChange::None ? state.threshold : load_l2(&control->least_far[state.far_side]);
    const u32 far = load_volatile(&control->far_count[state.far_side]);
    status.bound = state.pulls(far) ? (double)state.bound : (double)INFINITE;
    status.reach = rank.work.pull_reach;
    status.far = state.pulls(far) ? rank.share.own : far;
    status.much = state.pulls(far) || state.is_far_large(rank, far);
    status.threshold = (double)state.threshold;
    // entries of near are relaxed even if their bucket begins beyond the bound
    const double listed = min((double)state.bucket_begin, rank.peers.bound);
    status.floor = status.listed || status.pending ? listed : state.smallest_beyond(far, next);
    return status;
}
