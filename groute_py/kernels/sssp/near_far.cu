// Near-far Δ-stepping on one share: a persistent cooperative kernel that takes many steps a launch. Davidson,
// Baxter, Garland and Owens, "Work-efficient parallel GPU methods for single-source shortest paths" (IPDPS 2014).
//
// A step relaxes the entries of near and writes the near list of the next step.
// * Block-local step (few entries a block, no row chunks): a block relaxes its part of near. It keeps the near entries
// that it
//   produces in shared memory and relaxes them at once, level by level, until some block has reached `depth` levels and
//   the grid meets again. On road networks the time of a level is latency, so this saves most barriers. Rows are
//   looked up and prefetched before they are needed.
// * Grid-wide step: warps take groups of entries, keep several arcs a lane in flight, and buffer what they append.
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
#include "sssp/initialize.cuh"
#include "sssp/spill.cuh"
#include "sssp/split_far.cuh"
#include "sssp/step_block_local.cuh"
#include "sssp/step_grid.cuh"

#define BUSY 4  // mean degree up to which the limit of block-local steps counts entries; above it they may have fewer

// Whether the last step split far, and why: for a new bucket of this rank, or to join the bucket of peers.
#define OPENED 1
#define CAUGHT_UP 2

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
    Exchange& exchange = control->exchange;
    const Rank rank{share, work, peers, control, seen, phase, leader};
    const bool exchanging = exchanges(peers);
    if (threadIdx.x < MAX_PEERS) leader.ll_taken[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        leader.began = clock64();
        phase = current_phase(control);
    }
    __syncthreads();
    if (begins != GO_ON) {
        grid_initialize(rank, begins, source, first);
        grid_sync(control, phase);
    }
    if (max_steps == 0) return;
    if (exchanging && blockIdx.x == 0) block_clear(peers.next);
    if (exchanging && is_leader_block() && threadIdx.x < 32) leader_restore(control, leader);
    block_load_seen(control, seen, peers);

    u32 step = seen.step, far_side = seen.far_side;
    const u32 last_step = step + max_steps;
    Distance threshold = control->threshold, bucket_begin = control->bucket_begin;
    double width = exchange.width;
    double floor = 0;
    u32 relaxed = 0, steps = 0;  // of this launch; relaxed by this thread
    u32 after_split = 0;
    // Arcs to distances of `bound` or more are deferred, for tails at `base` or more. NO_BOUND: no arcs are deferred.
    Distance bound = PULLS ? control->bound : NO_BOUND, base = control->base;
    bool may_defer = true;  // arcs may have been deferred since the bound was set
    auto pulls = [&](u32 far) { return PULLS && bound != NO_BOUND && (may_defer || far > 0); };
    bool served = false;  // the last step had arrivals only
    // Sets the pull bound if this step has many arcs, or if a peer has set one.
    auto set_pull_bound = [&](u64 arcs) {
        if (!PULLS || bound != NO_BOUND || !is_narrow(work, bucket_begin, threshold)) return;
        const double peers_bound = exchanging ? seen.plan.bound : 0;
        const bool joins = peers_bound > 0 && peers_bound >= (double)threshold;
        if (!joins && arcs < work.pull_from_arcs) return;
        base = bucket_begin;
        bound = max(joins ? (Distance)peers_bound : end_of(threshold, work.pull_reach / 2), threshold);
        width = max(width, work.pull_reach / 4.0);
    };
    auto up_to = [&] { return seen.plan.limit; };  // the shared limit
    auto open = [&](Distance from, bool much) {    // opens the bucket that begins at `from`
        bucket_begin = from;
        if (exchanging) {
            threshold = end_of(from, (double)delta);
            if (up_to() < (double)threshold) threshold = (Distance)up_to();
        } else {
            if (bound == NO_BOUND) width = wider(width, (double)delta, much);
            threshold = end_of(from, width);
        }
        threshold = min(threshold, bound);
        // a bucket always contains the distance at which it begins
        threshold = max(threshold, just_above(from));
    };

    while (true) {
        const u32 near_count = min(exchanging ? seen.plan.near : seen.near_count[step % 3], work.capacity);
        const u32 chunk_count = min(seen.chunk_count[step % 3], work.chunk_capacity);
        auto begun = [&] { return begin_step(work, control, step, far_side, near_count, chunk_count); };
        u32 far_count = seen.far_count[far_side];
        Distance least_far = seen.least_far[far_side];
        const u32 arrived = exchanging ? seen.plan.arrived + seen.plan.ll_arrived : 0;
        bool last = step == last_step && !exchanging;
        if (exchanging) {
            if (seen.plan.quiet || seen.plan.stopped) {
                Distance beyond = after_split ? least_far : threshold;
                floor = far_count ? (double)beyond : (double)INFINITE;
                if (pulls(far_count)) floor = min(floor, (double)bound);
                if (seen.plan.stopped) floor = (double)bucket_begin;
                break;
            }
        }
        grid_clear_ahead(control, step, far_side);
        bool listed = near_count + chunk_count > 0;
        auto end = [&] { return up_to() < (double)bound ? (Distance)up_to() : bound; };
        // the shared bucket has moved, and this rank has work in it
        const bool behind = exchanging && peers.ahead == 0 && (listed || arrived) && end() > threshold;
        if (!behind && (listed || (arrived && (!served || seen.any_spilled)))) {
            floor = (double)bucket_begin;
            if (last) break;
            set_pull_bound(arcs_due(work, (u64)near_count + arrived, chunk_count));
            may_defer = true;
            if (chunk_count == 0 &&
                ((u64)near_count + arrived) * max(work.mean_degree / BUSY, 1u) <= gridDim.x * LOCAL_ENTRIES)
                grid_take_local_step(rank, begun, staged, depth, bucket_begin, threshold, cutoff, bound, relaxed);
            else
                grid_take_wide_step(rank, begun(), staged, arrived > 0, bucket_begin, threshold, cutoff, bound, relaxed,
                                    after_split == CAUGHT_UP, set_pull_bound);
            steps++;
            after_split = 0;
            served = !listed;
        } else {
            StepLists now = begun();
            grid_sync(control, phase);  // all blocks have read the counters that decide about the bucket
            served = false;
            if (!behind && seen.any_spilled) {
                floor = (double)bucket_begin;
                if (last) break;
                if (blockIdx.x == 0 && threadIdx.x == 0) control->any_spilled = 0;
                grid_sync(control, phase);  // cleared before vertices that find no place set it again
                grid_recover_spilled(share, work, control, now);
            } else if (!behind && pulls(far_count) &&
                       (far_count == 0 || (after_split ? least_far : threshold) >= bound)) {
                floor = (double)bound;
                bool idle = exchanging ? is_beyond(peers, floor, up_to()) : floor > limit;
                if (last || (idle && !exchanging)) break;
                if (!idle) {
                    if (blockIdx.x == 0 && threadIdx.x == 0) control->least_far[far_side] = LARGEST_DISTANCE;
                    far_side ^= 1;
                    now.far = far_list(work, control, far_side);
                    const Distance beyond = bound;
                    bound = NO_BOUND;
                    width = max(width, (double)work.pull_reach);
                    open(beyond, true);
                    // with weight classes most near vertices have no arc to relax if long arcs are deferred again
                    if (share.unit > 0 && is_narrow(work, bucket_begin, threshold)) bound = threshold;
                    grid_pull_deferred(rank, now, staged, base, beyond, threshold, bound, cutoff, far_side, relaxed);
                    base = bucket_begin;
                    may_defer = false;
                    after_split = OPENED;
                }
            } else {
                const Distance before = threshold, from = after_split ? least_far : threshold;
                floor = far_count ? (double)from : (double)INFINITE;
                bool idle =
                    far_count == 0 || (!behind && (exchanging ? is_beyond(peers, floor, up_to()) : floor > limit));
                if (last || (idle && !exchanging)) break;
                if (behind) {
                    bucket_begin =
                        max(bucket_begin, min((Distance)seen.plan.from, end()));  // either word may arrive first
                    threshold = end();
                } else if (!idle) {
                    open(from, far_count > share.own / MUCH && !is_narrow(work, bucket_begin, threshold));
                }
                if (!idle) {
                    if (blockIdx.x == 0 && threadIdx.x == 0) {
                        control->least_far[far_side] = LARGEST_DISTANCE;
                        control->unlisted = 0;
                    }
                    const List far = now.far;
                    far_side ^= 1;
                    now.far = far_list(work, control, far_side);
                    if (behind) now.near_out = now.near_in;
                    Distance* least = &control->least_far[far_side];
                    grid_split_far(rank, far, far_count, now, staged, before, threshold, bound, least);
                    after_split = behind ? CAUGHT_UP : OPENED;
                }
                if (behind) {  // relax the entries of near and of the split in the step that follows
                    auto count = [&] {
                        if (lane() == 0) control->plan.near = load_volatile(now.near_in.count);
                    };
                    grid_sync(control, phase, [] {}, count, [] {});
                    block_load_seen(control, seen, peers);
                    continue;
                }
            }
            if (arrived) {
                grid_merge_arrivals(rank, now, staged, bucket_begin, bound);
                may_defer = true;
            }
        }
        step++;
        LocalStatus status;
        auto poll = [&] {
            if (exchanging) leader_poll(peers, leader);
        };
        auto decide = [&] {
            if (!exchanging) return;
            const StepCounts counts(exchange);
            status.near = load_volatile(&control->near_count[step % 3]);
            status.listed = weight_of(status.near, load_volatile(&control->chunk_count[step % 3]));
            status.pending = load_volatile(&control->any_spilled);
            Distance next = after_split ? load_l2(&control->least_far[far_side]) : threshold;
            u32 far = load_volatile(&control->far_count[far_side]);
            double left = far ? (double)next : (double)INFINITE;
            status.bound = pulls(far) ? (double)bound : (double)INFINITE;
            status.reach = work.pull_reach;
            left = min(left, status.bound);
            status.far = pulls(far) ? share.own : far;
            status.much = pulls(far) || (far > share.own / MUCH && !is_narrow(work, bucket_begin, threshold));
            status.threshold = (double)threshold;
            // entries of near are relaxed even if their bucket begins beyond the bound
            double listed = min((double)bucket_begin, peers.bound);
            status.floor = status.listed || status.pending ? listed : left;
            leader_plan_step(peers, exchange, leader, counts, status);
            Copy<StepPlan>(&leader.plan).put(&control->plan);
        };
        grid_sync(control, phase, poll, decide, [&] {
            if (exchanging) leader_publish(peers, leader, status);
        });
        block_load_seen(control, seen, peers);
    }
    if (exchanging && is_leader_block() && threadIdx.x < 32) {
        Copy<Exchange>(&leader.own).put(&exchange);
        leader_shut_down(peers, control, seen.plan.stopped, floor);
    }
    warp_add_to(&control->relaxations, relaxed);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        control->steps += steps;
        control->step = step;
        control->far_side = far_side;
        control->threshold = threshold;
        control->bucket_begin = bucket_begin;
        if (PULLS) {
            control->bound = bound;
            control->base = base;
        }
        if (!exchanging) control->exchange.width = width;
        control->floor = floor;
    }
}
