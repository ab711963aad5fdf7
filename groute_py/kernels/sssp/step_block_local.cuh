// Block-local steps: a block relaxes its part of near, then level by level the entries that it has produced itself.
// (Like the bucket fusion of the GAP Benchmark Suite.)
#pragma once

#include "exchange/poll.cuh"
#include "sssp/block_lists.cuh"
#include "sssp/conditions.cuh"
#include "sssp/relax.cuh"

#define ROWS (32u / LANES)  // of a warp, LANES lanes each
#define LEVELS_A_POLL 4     // levels between two polls of the leader block

struct LocalStep {
    Relax<BlockLists>& relax;
    const u32 pushed =
        exchanges(relax.rank.peers) ? relax.rank.share.own : 0;  // vertices whose out-arcs peers may hold

    // Relaxes `count` entries with the warps of the block, `each` (at most ROWS) a warp at a time. `has_long` says
    // whether some row may be longer than ROW. `fetch(i)` returns entry i with its row.
    template <class Fetch>
    __device__ __forceinline__ void block_relax_entries(u32 count, u32 each, bool has_long, Fetch fetch) {
        for (u32 base = (threadIdx.x >> 5) * each; base < count; base += WARPS * each) {
            u32 index = base + lane() / LANES;
            Ready ready = {};
            const bool wanted = index < count && lane() / LANES < each;
            if (wanted) ready = fetch(index);
            const bool evenly = has_long && __any_sync(~0u, ready.degree > ROW);
            const Prefetch prefetched(relax.rank, ready, wanted);
            if (evenly)
                relax.warp_relax_rows(wanted && lane() % LANES == 0, ready);
            else if (wanted && prefetched.known == ready.distance)
                short_row(ready, prefetched.arc);
            __syncwarp();
        }
    }

    // Relaxes the block's part of near, which `blocks` blocks share. ROWS consecutive entries go to one block, because
    // they are likely to be close in the graph. Rows may be long, so entries are spread evenly over the warps.
    __device__ __forceinline__ void block_relax_near(u32 blocks) {
        const List& list = relax.lists.now.near_in;
        const u32 all = relax.lists.now.near_in_count, before = blockIdx.x * ROWS, rest = all % (blocks * ROWS);
        const u32 count = all / (blocks * ROWS) * ROWS + (rest > before ? min(rest - before, ROWS) : 0);
        block_relax_entries(count, min((count + WARPS - 1) / WARPS, ROWS), true, [&](u32 i) {
            return with_row(relax.rank.share, entry_in(list, i / ROWS * (blocks * ROWS) + before + i % ROWS));
        });
    }

    // Relaxes the staged entries level by level, with one block barrier a level, until some block has reached the depth
    // limit. Returns whether this block has done `depth` levels.
    __device__ __forceinline__ bool block_relax_levels(u32 depth) {
        BlockLists& lists = relax.lists;
        Staging& staged = lists.staged;
        for (; depth > 0; depth--) {
            __syncthreads();
            const u32 count = staged.count[lists.level % 4], has_long = staged.has_long[lists.level % 4];
            if (staged.another_has[lists.level % 2] | (count - 1 >= BLOCK)) break;
            const Staged& mine = staged.list[lists.level % 2];
            lists.level++;
            if (threadIdx.x == 0) staged.count[(lists.level + 1) % 4] = staged.has_long[(lists.level + 1) % 4] = 0;
            // by the last warp, which rarely has entries
            if (threadIdx.x == BLOCK - 1) staged.another_has[lists.level % 2] = is_depth_reached();
            block_relax_entries(count, ROWS, has_long, [&](u32 i) { return mine.at(i); });
        }
        return depth == 0;
    }

    // Leader block: waits for words of low-latency rings and lists them. Returns false when the step has to end,
    // because some block has reached the depth limit, or all other blocks are done and nothing has arrived.
    __device__ __forceinline__ bool block_poll_rings() {
        const Peers& peers = relax.rank.peers;
        Staging& staged = relax.lists.staged;
        const u32& count = staged.count[relax.lists.level % 4];
        do {
            __syncthreads();
            if (threadIdx.x < 32) {
                const u64* taken = relax.rank.leader.ll_taken;
                const bool some = is_peer(peers, lane()) && has_arrived(peers, lane(), (u32)taken[lane()]);
                const bool others_work = load_volatile(&relax.rank.control->barrier.arrived) != gridDim.x - 1;
                const bool arrived = __any_sync(~0u, some), ends = is_depth_reached() || count > BLOCK;
                if (lane() == 0) {
                    staged.ll_arrived = arrived;
                    staged.continues = !ends && (others_work || arrived);
                }
            }
            __syncthreads();
            if (!staged.continues) return false;
        } while (!staged.ll_arrived && count == 0);
        if (COUNTS_POLLS && staged.ll_arrived && threadIdx.x == 0) relax.rank.control->polls++;
        if (staged.ll_arrived) relax.block_list_ll_arrivals();
        return true;
    }

    __device__ __forceinline__ bool is_depth_reached() const {
        return load_volatile(&relax.rank.control->depth_reached_in) == relax.lists.now.number;
    }

  private:
    // Speculative loads of a lane: the distance of its tail and its first arc.
    struct Prefetch {
        Distance known = UNREACHED;
        Arc arc = {};

        __device__ __forceinline__ Prefetch(const Rank& rank, const Ready& ready, bool wanted) {
            if (wanted) known = load_volatile(&rank.work.distance[ready.vertex]);
            if (lane() % LANES < ready.degree) arc = load_volatile(&rank.share.arcs[ready.begin + lane() % LANES]);
        }
    };

    // Relaxes a short row with LANES lanes; the first arc of each lane has been requested already. A level takes two
    // round trips to L2: arc and tail's distance, then head's distance and row. So all loads of a round trip are issued
    // before the result of any is used. The atomic is issued first; independent work overlaps with it.
    __device__ __forceinline__ void short_row(const Ready& ready, Arc arc) {
        const Share& share = relax.rank.share;
        u32 k = lane() % LANES;
        while (k < ready.degree) {
            Ready next = {};
            next.vertex = vertex_in(arc.head);
            next.tail = ready.vertex;
            next.distance = extend(ready.distance, arc.weight);
            const bool wrapped = wraps(ready.distance, arc.weight, next.distance);
            const bool fits = next.distance <= relax.cutoff && !wrapped;
            Distance known = atomic_min(&relax.rank.work.distance[next.vertex], fits ? next.distance : UNREACHED);
            Row row = {};
            if (!leaves(share, next.vertex)) row = row_of(share, next.vertex);
            u32 peers = next.vertex < pushed ? load_volatile(&share.leads[next.vertex]) : 0;
            Arc later = {};
            if (k + LANES < ready.degree) later = load_volatile(&share.arcs[ready.begin + k + LANES]);
            relax.relaxed++;
            if (k == 0) record(relax.rank.work, ready.vertex, ready.distance, ready.tail);
            if (fits && next.distance < known) {
                set_row(next, row);
                list(next, peers);
            }
            if ((wrapped || (known == UNREACHED && next.distance == UNREACHED)) && relax.cutoff == NO_CUTOFF)
                relax.rank.control->overflowed = 1;
            arc = later;
            k += LANES;
        }
        if (k == 0) record(relax.rank.work, ready.vertex, ready.distance, ready.tail);  // it has no arcs
    }

    __device__ __forceinline__ void list(const Ready& ready, u32 peers) {
        if (leaves(relax.rank.share, ready.vertex)) return relax.lists.mark_remote(ready);
        const bool near = ready.distance < relax.threshold;
        if (PULLS && !near) record(relax.rank.work, ready.vertex, ready.distance, ready.tail);
        relax.lists.add(ready, near, peers);
    }
};

// A block-local step: arrivals, near, and up to `depth` further levels. One thread stores the lists in shared memory,
// so that rarely used fields take no registers.
__device__ __forceinline__ void grid_take_local_step(const Conditions& conditions, StepState& state, Staging& staged,
                                                     u32& relaxed) {
    const Rank& rank = conditions.rank;
    const Launch& launch = conditions.launch;
    const StepLists& now = staged.now;
    if (threadIdx.x <= LISTED) staged.count[threadIdx.x] = 0;
    if (threadIdx.x < 4) staged.has_long[threadIdx.x] = 0;
    if (threadIdx.x < 2) staged.another_has[threadIdx.x] = 0;
    if (threadIdx.x == 0) staged.now = begin_step(conditions);
    __syncthreads();
    block_end_relaxing(conditions, state);
    BlockLists lists{rank, now, staged};
    Relax<BlockLists> relax{rank, now, lists, state.bucket_begin, state.threshold, launch.cutoff, state.bound, relaxed};
    if (exchanges(rank.peers) && rank.seen.plan.arrived) relax.grid_list_arrivals();
    LocalStep local{relax};
    // with peers the leader block polls the low-latency rings, and leaves near to the other blocks, if there are any
    const bool polls_rings = exchanges(rank.peers) && is_leader_block();
    const u32 blocks = exchanges(rank.peers) && gridDim.x > 1 ? gridDim.x - 1 : gridDim.x;
    if (blockIdx.x < blocks) local.block_relax_near(blocks);
    bool all;
    do all = local.block_relax_levels(polls_rings ? LEVELS_A_POLL : launch.depth);
    while (polls_rings && local.block_poll_rings());
    if (all && !polls_rings && threadIdx.x == 0) rank.control->depth_reached_in = now.number;
    lists.block_flush();
}
