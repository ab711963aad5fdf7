// Splitting far by a new threshold: entries below it become near.
#pragma once

#include "sssp/buckets.cuh"
#include "sssp/warp_lists.cuh"

// Splits `count` entries by the threshold: those below it go to near, the others to the far list of `to`. `fetch(i)`
// returns entry i; entries without `wanted(entry)` are dropped. `least_far` becomes the smallest far distance.
template <class Fetch, class Wanted>
__device__ __forceinline__ void grid_split(const Rank& rank, u32 count, const StepLists& to, Staging& staged,
                                           Distance threshold, Distance bound, Distance* least_far, Fetch fetch,
                                           Wanted wanted) {
    WarpLists lists{rank, to, staged, bound};
    Distance least = LARGEST_DISTANCE;
    const u32 stretch = 32 * grid_warps();
    for (u32 base = 32 * grid_warp(); base < count; base += ARCS * stretch) {
        Ready ready[ARCS];
        bool live[ARCS];
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            u32 index = base + k * stretch + lane();
            live[k] = index < count;
            ready[k] = {};
            if (live[k]) ready[k] = fetch(index);
        }
#pragma unroll
        for (int k = 0; k < ARCS; k++)
            live[k] = live[k] && wanted(ready[k]) && (exchanges(rank.peers) || !lists.can_skip(ready[k]));
        Candidates candidates = {};
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            candidates.ready[k] = ready[k];
            candidates.near[k] = live[k] && ready[k].distance < threshold;
            candidates.far[k] = live[k] && !candidates.near[k];
            if (candidates.far[k] && ready[k].distance < least) least = ready[k].distance;
        }
        lists.warp_add(candidates);
    }
    lists.warp_flush();
    warp_lower(least_far, least);
}

// Writes the predecessor records of the valid entries of far's list, before a scan of all vertices replaces the list:
// entries that a scan makes have no tail.
__device__ __forceinline__ void grid_record_far(const Rank& rank, const List& far, u32 count) {
    const u32 stretch = 32 * grid_warps();
    for (u32 base = 32 * grid_warp(); base < count; base += ARCS * stretch) {
        Ready ready[ARCS];
        Distance known[ARCS];
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            const u32 index = base + k * stretch + lane();
            ready[k] = index < count ? entry_in(far, index) : without_row({}, NO_VERTEX);
        }
#pragma unroll
        for (int k = 0; k < ARCS; k++)
            known[k] = ready[k].tail == NO_VERTEX ? LARGEST_DISTANCE : load_l2(&rank.work.distance[ready[k].vertex]);
#pragma unroll
        for (int k = 0; k < ARCS; k++)
            if (ready[k].distance == known[k]) record(rank.work, ready[k].vertex, ready[k].distance, ready[k].tail);
    }
}

// Splits far by its list if that is short and complete, otherwise by a scan of all vertices. The scan takes the
// vertices at or above the threshold `before`: they have not been relaxed from their distances yet.
__device__ void grid_split_far(const Rank& rank, const List& far, u32 count, const StepLists& to, Staging& staged,
                               Distance before, Distance threshold, Distance bound, Distance* least_far) {
    const Distance* distance = rank.work.distance;
    if (count <= rank.work.far_few && !(PULLS && rank.seen.unlisted)) {
        auto listed = [&](u32 i) { return entry_in(far, i); };
        auto fresh = [&](const Ready& ready) { return ready.distance == load_l2(&distance[vertex_in(ready.vertex)]); };
        grid_split(rank, count, to, staged, threshold, bound, least_far, listed, fresh);
    } else {
        if (!PULLS && RECORDS && far.tails) grid_record_far(rank, far, min(count, far.capacity));
        auto vertex = [&](u32 i) { return Ready{load_l2(&distance[i]), i, NO_VERTEX}; };
        auto unrelaxed = [&](const Ready& ready) { return ready.distance >= before && ready.distance != UNREACHED; };
        grid_split(rank, rank.share.own, to, staged, threshold, bound, least_far, vertex, unrelaxed);
    }
}
