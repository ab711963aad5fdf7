// Grid-wide steps: each warp of the grid takes groups of entries of near and of the inbox, first statically, then by an
// atomic ticket.
#pragma once

#include "sssp/conditions.cuh"
#include "sssp/move_bucket.cuh"
#include "sssp/relax.cuh"
#include "sssp/warp_lists.cuh"

// Merges the arrivals into the worklists without relaxing them.
__device__ __forceinline__ void grid_merge_arrivals(const Rank& rank, const StepLists& to, Staging& staged,
                                                    Distance bucket_begin, Distance bound) {
    WarpLists lists{rank, to, staged, bound};
    lists.only_arrivals = true;
    u32 none = 0;
    Relax<WarpLists> relax{rank, to, lists, bucket_begin, LARGEST_DISTANCE, NO_CUTOFF, bound, none};
    relax.grid_list_arrivals();
    if (is_leader_block()) relax.block_list_ll_arrivals();
    lists.warp_flush();
}

// Merges the arrivals into the near list of this step, before it is relaxed: if a vertex arrives several times, only
// its last entry is relaxed.
__device__ __forceinline__ void grid_join_arrivals(const Rank& rank, StepLists& now, Staging& staged,
                                                   Distance bucket_begin, Distance bound) {
    StepLists to = now;
    to.near_out = now.near_in;
    grid_merge_arrivals(rank, to, staged, bucket_begin, bound);
    grid_sync(rank.control, rank.phase);
    now.near_in_count = min(load_l2(now.near_in.count), rank.work.capacity);
}

#define FEW 4u  // largest group if the list is short
#define DYNAMIC_SHARE \
    4  // all but 1 / DYNAMIC_SHARE of the groups are static: atomics on one word may take longer than short rows

// Relaxes near and the first `sent` entries of the inbox.
__device__ __forceinline__ void grid_relax_entries(Relax<WarpLists>& relax, u32 sent) {
    const u32 listed = relax.now.near_in_count, count = listed + sent, warps = grid_warps();
    const u32 each = places_at_once(count, NEAR_GROUPS, min(count / warps + 1, FEW), 32);
    const u32 groups = count / (warps * each);
    grid_for_dynamic(relax.now.taken, count, each, max(groups - groups / DYNAMIC_SHARE, 1u), [&](u32 first) {
        const u32 index = first + lane();
        const bool wanted = lane() < each && index < count;
        const bool is_sent = exchanges(relax.rank.peers) && index >= listed;
        Ready ready = {};
        if (wanted && is_sent)
            ready = without_row(relax.sent_entry(index - listed), NO_VERTEX);
        else if (wanted)
            ready = entry_in(relax.now.near_in, index);
        if (wanted) ready = with_row(relax.rank.share, ready);
        relax.warp_relax_rows(wanted, ready, is_sent);
    });
}

// A grid-wide step: arrivals, near, then row chunks. Entries from rings are relaxed directly, because few vertices are
// sent more than once. They are merged into near first if (a) this rank has just joined a bucket that peers opened
// (`along`), (b) long arcs may be deferred (PULLS), or (c) the rank has arcs to other hosts: each launch begins with a
// dense pull there, which would relax once more what the mirrors do not have.
// After long rows have been cut the pull bound may be set, by the number of arcs due.
__device__ __forceinline__ void grid_take_wide_step(const Conditions& conditions, StepState& state, Staging& staged,
                                                    u32& relaxed) {
    const Rank& rank = conditions.rank;
    StepLists now = begin_step(conditions);
    const Distance cutoff = conditions.launch.cutoff;
    const bool arrived = conditions.has_arrivals(), along = state.change == BucketChange::joined;
    const StepPlan& plan = rank.seen.plan;
    const bool once =
        !PULLS && arrived && !along && !has_halo(rank.share) && plan.sent == plan.arrived && !plan.ll_arrived;
    if (arrived && !once) grid_join_arrivals(rank, now, staged, state.bucket_begin, state.bound);
    {
        StepLists to = now;
        to.chunks_out_count = now.cut_count;
        WarpLists lists{rank, to, staged, state.bound};
        Relax<WarpLists> relax{rank, to, lists, state.bucket_begin, state.threshold, cutoff, state.bound, relaxed};
        grid_relax_entries(relax, once ? plan.sent : 0);
        lists.warp_flush();
    }
    grid_sync(rank.control, rank.phase);
    block_end_relaxing(conditions, state);
    const u32 cut = min(load_l2(now.cut_count), rank.work.chunk_capacity);
    block_set_pull_bound(rank, state, arcs_due(rank.work, 0, now.chunks_in_count + cut));
    WarpLists lists{rank, now, staged, state.bound};
    Relax<WarpLists> relax{rank, now, lists, state.bucket_begin, state.threshold, cutoff, state.bound, relaxed};
    relax.grid_relax_chunks(cut);
    lists.warp_flush();
}
