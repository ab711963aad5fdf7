// The lists and counters of one step. Those of near and row chunks rotate with the number of the step, so that no block
// reads a counter that a faster block may be writing: they were final before the barrier that began the step. Words
// that do not rotate (`far_count`, `any_spilled`) may decide only between actions that begin with the barrier
// of `grid_refill`: none of these writes before all blocks have come there.
//
// Each block copies the counters to shared memory once a step. If every warp read them from L2, the one cache line that
// holds them would be the bottleneck of block-local steps.
#pragma once

#include "exchange/peers.cuh"
#include "layout/control.cuh"
#include "primitives/warp.cuh"
#include "sssp/worklists.cuh"

// Copies the control words to shared memory, with the leader's decisions (`StepPlan`) if there are peers; all threads
// of a block call it.
__device__ __forceinline__ void block_load_seen(const Control* control, Seen& seen, const Peers& peers) {
    const u32 plan = exchanges(peers) ? sizeof(StepPlan) - (MAX_PEERS - peers.count) * sizeof(PeerCursors) : 0;
    const u32 bytes = sizeof(Seen) - sizeof(StepPlan) + plan;
    const u32* from = (const u32*)(const Seen*)control;
    u32* to = (u32*)&seen;
    static_assert(sizeof(Seen) / 4 <= BLOCK, "a word a thread");
    if (threadIdx.x < bytes / 4) to[threadIdx.x] = load_l2(&from[threadIdx.x]);
    __syncthreads();
}

struct StepLists {
    u32 number;  // from 1
    List near_in;
    u32 near_in_count;
    u32* taken;  // near entries handed out to warps so far ...
    const RowChunk* chunks_in;
    u32 chunks_in_count;
    u32* chunks_taken;  // ... and row chunks
    List near_out;
    RowChunk* chunks_out;
    u32* chunks_out_count;  // row chunks for the next step
    u32* cut_count;         // row chunks that this step relaxes itself
    List far;
};

// The lists and counters of the step after `step`, with the given numbers of near entries and row chunks.
__device__ __forceinline__ StepLists begin_step(const Work& work, Control* control, u32 step, u32 far_side,
                                                u32 near_count, u32 chunk_count) {
    u32 next = step + 1;
    StepLists now;
    now.number = next;
    now.near_in = near_list(work, control, step);
    now.near_in_count = near_count;
    now.taken = &control->taken[step % 3];
    now.chunks_in = work.chunks[step % 2];
    now.chunks_in_count = chunk_count;
    now.chunks_taken = &control->chunks_taken[step % 3];
    now.near_out = near_list(work, control, next);
    now.chunks_out = work.chunks[next % 2];
    now.chunks_out_count = &control->chunk_count[next % 3];
    now.cut_count = &control->cut_count[step % 2];
    now.far = far_list(work, control, far_side);
    return now;
}

// Entries and row chunks as a measure of work, in entries; a row chunk counts as ROW_CHUNK / 4 entries.
__device__ __forceinline__ u64 weight_of(u32 entries, u32 chunks) { return entries + ROW_CHUNK / 4 * (u64)chunks; }

// Clears the counters that the previous step read: the step after next writes them.
__device__ __forceinline__ void grid_clear_ahead(Control* control, u32 step, u32 far_side) {
    if (blockIdx.x || threadIdx.x) return;
    control->near_count[(step + 2) % 3] = 0;
    control->taken[(step + 2) % 3] = 0;
    control->chunks_taken[(step + 2) % 3] = 0;
    control->chunk_count[(step + 2) % 3] = 0;
    control->cut_count[(step + 1) % 2] = 0;
    control->far_count[far_side ^ 1] = 0;
}

#define CHUNK_GROUPS 4  // groups a warp that the row chunks of a step are divided into
#define NEAR_GROUPS 8   // the same for near entries

// How many places of a list a warp takes at once: count / (shares * warps), but at least `least` and at most `most`.
__device__ __forceinline__ u32 places_at_once(u32 count, u32 shares, u32 least, u32 most) {
    return min(max(count / (shares * grid_warps()), least), most);
}

// Calls `visit(first)` for the places of a list, `each` at a time, on the warps of the grid. The first `rounds` groups
// of a warp are assigned statically, later ones by an atomic ticket, which is drawn while the warp works on the group
// before. `taken` is the shared ticket counter, from 0.
template <class Visit>
__device__ __forceinline__ void grid_for_dynamic(u32* taken, u32 count, u32 each, u32 rounds, Visit visit) {
    const int round = grid_warps() * each, fixed = rounds * round;
    for (int next = (int)(grid_warp() * each) - fixed; (u32)(next + fixed) < count;) {  // counted from the first ticket
        int after = next + round;
        if (lane() == 0 && after >= 0) after = atomicAdd(taken, each);
        visit(next + fixed);
        next = __shfl_sync(~0u, after, 0);
    }
}
