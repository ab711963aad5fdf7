#pragma once

#include "exchange/push.cuh"
#include "primitives/vertices.cuh"
#include "sssp/min_out_weight.cuh"
#include "sssp/staging.cuh"

// Lists of a block. Entries that find no place go directly to the global lists. So do near entries with long rows: the
// whole grid relaxes them in the next step, so that no block works by itself in the densest part of the graph.
struct BlockLists {
    const Rank& rank;
    const StepLists& now;
    Staging& staged;
    u32 level = 0;  // the staged near that is written

    // Block-local steps have few entries, so no entry is dropped.
    __device__ __forceinline__ bool can_skip(const Ready&) const { return false; }

    // All lanes call it.
    __device__ __forceinline__ void warp_add(const Candidates& candidates) {
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            bool near = candidates.near[k], far = candidates.far[k], remote = candidates.remote[k];
            if (!__any_sync(~0u, near || far || remote)) continue;
            Ready ready = candidates.ready[k];
            ready.vertex = vertex_in(ready.vertex);
            warp_add_near(near, ready);
            warp_put(far, ready, FAR, LISTED, now.far);
            if (has_halo(rank.share)) warp_mark_dirty(rank.share, rank.work, rank.control, ready.vertex, remote);
        }
    }

    // `warp_add` for a single lane, with row and peers already looked up. Near and far share one code path, so that
    // lanes do not diverge.
    __device__ __forceinline__ void add(const Ready& ready, bool near, u32 peers) {
        if (near && ready.degree) prefetch_l2(&rank.share.arcs[ready.begin]);
        u32 place = STAGED;
        if (!near || ready.degree <= HEAVY) place = atomicAdd(&staged.count[near ? level % 4 : LISTED], 1u);
        if (near && ready.degree > ROW) note_long();
        if (place < STAGED)
            staged.list[near ? level % 2 : FAR].put(place, ready);
        else
            append(ready, near ? now.near_out : now.far);
        if (near) push(rank, peers, entry_of(ready));
    }

    __device__ __forceinline__ void mark_remote(const Ready& ready) {
        mark_dirty(rank.share, rank.work, rank.control, ready.vertex);
    }

    // Writes the staged entries to the global lists; all threads of the block call it.
    __device__ __forceinline__ void block_flush() {
        __syncthreads();
        u32 near_count = min(staged.count[level % 4], (u32)STAGED);
        u32 far_count = min(staged.count[LISTED], (u32)STAGED);
        if (near_count + far_count == 0) return;
        // by two warps, so that the two round trips overlap
        if (threadIdx.x == 0) staged.near_base = atomicAdd(now.near_out.count, near_count);
        if (threadIdx.x == 32) staged.far_base = atomicAdd(now.far.count, far_count);
        __syncthreads();
        block_write(staged.list[level % 2], near_count, now.near_out, staged.near_base);
        block_write(staged.list[FAR], far_count, now.far, staged.far_base);
    }

  private:
    __device__ __forceinline__ void warp_add_near(bool wanted, Ready ready) {
        if (exchanges(rank.peers)) warp_push(rank, wanted ? peers_of(rank, ready.vertex) : 0, entry_of(ready));
        if (wanted) ready = with_row(rank.share, ready);
        bool heavy = wanted && ready.degree > HEAVY;
        if (wanted && ready.degree > ROW) note_long();
        warp_put(wanted && !heavy, ready, level % 2, level % 4, now.near_out);
        warp_append(heavy, ready, now.near_out);
    }

    __device__ __forceinline__ void note_long() { atomicOr(&staged.has_long[level % 4], 1u); }

    // Puts an entry into a list of the block or, if that is full, into the global list.
    __device__ __forceinline__ void warp_put(bool wanted, const Ready& ready, u32 which, u32 counted,
                                             const List& list) {
        u32 place = warp_slot(&staged.count[counted], wanted);
        bool fits = place < STAGED;
        if (wanted && fits) staged.list[which].put(place, ready);
        warp_append(wanted && !fits, ready, list);
    }

    // Appends an entry to a global list.
    __device__ __forceinline__ void warp_append(bool wanted, const Ready& ready, const List& list) {
        if (__any_sync(~0u, wanted)) ::warp_append(rank.work, rank.control, list, entry_of(ready), ready.tail, wanted);
    }

    __device__ __forceinline__ void append(const Ready& ready, const List& list) {
        put(rank.work, rank.control, list, atomicAdd(list.count, 1u), entry_of(ready), ready.tail);
    }

    __device__ __forceinline__ void block_write(const Staged& here, u32 count, const List& list, u32 base) {
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            const Ready ready = here.at(i);
            put(rank.work, rank.control, list, base + i, entry_of(ready), ready.tail);
        }
    }
};
