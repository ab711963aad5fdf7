#pragma once

#include "exchange/push.cuh"
#include "primitives/vertices.cuh"
#include "sssp/min_out_weight.cuh"
#include "sssp/predecessor_record.cuh"
#include "sssp/staging.cuh"

// Lists of a warp. When new entries find no room, all that it holds are written with one atomic and coalesced stores.
struct WarpLists {
    const Rank& rank;
    const StepLists& now;
    Staging& staged;
    Distance bound;                     // arcs that lead there or beyond are left to be pulled; NO_BOUND where none are
    u32 near_count = 0, far_count = 0;  // the same in all lanes
    bool stops_pushing = false;         // this step requests a dense pull, so nothing more is pushed
    bool only_arrivals = false;         // all entries are arrivals, which are not pushed on

    // Whether a vertex has no arc to relax before the bound, by its weight class; then it need not be listed.
    __device__ __forceinline__ bool can_skip(const Ready& ready) const {
        return PULLS && ready.distance < bound && !may_relax_before(rank.share, ready.vertex, ready.distance, bound);
    }

    // Buffers the candidates of all lanes, with one prefix sum for near and far; all lanes call it.
    __device__ __forceinline__ void warp_add(const Candidates& candidates) {
        u32 mine = 0;  // near in the lower half, far in the upper
#pragma unroll
        for (int k = 0; k < ARCS; k++) mine += candidates.near[k] + (candidates.far[k] << 16);
        u32 end = warp_inclusive_sum(mine), all = __shfl_sync(~0u, end, 31), near = all & 0xffff, far = all >> 16;
        if (near_count + near > HELD) warp_flush_near();
        if (far_count + far > HELD) warp_flush_far();
        u32 begin = end - mine, near_place = near_count + (begin & 0xffff), far_place = far_count + (begin >> 16);
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            if (candidates.near[k]) hold(candidates.ready[k], 0, near_place++);
            if (candidates.far[k]) hold(candidates.ready[k], 1, far_place++);
        }
        near_count += near;
        far_count += far;
        if (!has_halo(rank.share)) return;
#pragma unroll
        for (int k = 0; k < ARCS; k++)
            warp_mark_dirty(rank.share, rank.work, rank.control, candidates.ready[k].vertex, candidates.remote[k]);
    }

    __device__ __forceinline__ void warp_flush() {
        if (near_count) warp_flush_near();
        if (far_count) warp_flush_far();
    }

  private:
    __device__ __forceinline__ Entry* held(u32 list) { return staged.held[list][threadIdx.x >> 5]; }

    __device__ __forceinline__ u32* held_tail(u32 list) { return staged.held_tail[list][threadIdx.x >> 5]; }

    __device__ __forceinline__ void hold(const Ready& ready, u32 list, u32 place) {
        held(list)[place] = entry_of(ready);
        if (RECORDS && rank.work.record) held_tail(list)[place] = ready.tail;
    }

    __device__ __forceinline__ void warp_flush_near() {
        if (exchanges(rank.peers) && !only_arrivals) {
            warp_push_near();
            if (PULLS) warp_drop_skippable();
        }
        warp_write(0, near_count, now.near_out);
    }

    __device__ __forceinline__ void warp_flush_far() { warp_write(1, far_count, now.far); }

    __device__ __forceinline__ void warp_write(u32 from, u32& count, const List& list) {
        __syncwarp();
        u32 base = 0;
        if (lane() == 0) base = atomicAdd(list.count, count);
        base = __shfl_sync(~0u, base, 0);
        for (u32 i = lane(); i < count; i += 32) {
            Entry entry = held(from)[i];
            if (!list.far) entry.vertex = vertex_in(entry.vertex);
            put(rank.work, rank.control, list, base + i, entry, held_tail(from)[i]);
        }
        count = 0;
        __syncwarp();
    }

    // Pushes the buffered near entries to peers. A stale entry is skipped, because its vertex has a newer one. The
    // loads for all entries are in flight at once.
    __device__ __forceinline__ void warp_push_near() {
        const int each = HELD / 32;
        u32 to[each];
        Distance known[each];
        if (stops_pushing) return;
        __syncwarp();
#pragma unroll
        for (int k = 0; k < each; k++) {
            const u32 vertex = vertex_in(held(0)[min(32 * k + lane(), near_count - 1)].vertex);
            to[k] = peers_of(rank, vertex);
            known[k] = load_l2(&rank.work.distance[vertex]);
        }
#pragma unroll
        for (int k = 0; k < each; k++) {
            const u32 index = 32 * k + lane();
            const Entry entry = held(0)[index];
            if (index >= near_count || entry.distance != known[k] || weight_class_in(entry.vertex) == DEAD_END)
                to[k] = 0;
        }
        const u32 pull_requested = load_volatile(&rank.control->exchange.pull_requested);
        for (u32 p = 0; p < rank.peers.count; p++) {
            u32 count = 0;
#pragma unroll
            for (int k = 0; k < each; k++) count += __popc(__ballot_sync(~0u, to[k] >> p & 1));
            u64 next = warp_reserve(rank, p, count);
#pragma unroll
            for (int k = 0; k < each; k++) {
                u32 mask = __ballot_sync(~0u, to[k] >> p & 1);
                if (to[k] >> p & 1) write_to(rank, p, next + rank_among(mask), held(0)[32 * k + lane()]);
                next += __popc(mask);
            }
        }
        stops_pushing = __any_sync(~0u, pull_requested);
    }

    // Drops entries without an arc to relax here, after peers have got them.
    __device__ __forceinline__ void warp_drop_skippable() {
        const int each = HELD / 32;
        Ready ready[each];
        bool kept[each];
        __syncwarp();
#pragma unroll
        for (int k = 0; k < each; k++) {
            u32 index = 32 * k + lane();
            kept[k] = index < near_count;
            ready[k] = {};
            if (!kept[k]) continue;
            Entry entry = held(0)[index];
            ready[k] = {entry.distance, entry.vertex, held_tail(0)[index]};
            kept[k] = !can_skip(ready[k]);
            if (!kept[k]) record(rank.work, vertex_in(entry.vertex), entry.distance, ready[k].tail);
        }
        __syncwarp();
        u32 count = 0;
#pragma unroll
        for (int k = 0; k < each; k++) {
            u32 mask = __ballot_sync(~0u, kept[k]);
            if (kept[k]) hold(ready[k], 0, count + rank_among(mask));
            count += __popc(mask);
        }
        near_count = count;
    }
};
