// Initialisation of a launch. Nothing here waits for peers, which may begin earlier or later. A rank reads a peer's
// distances only after that peer has pushed an entry or requested a dense pull, so the peer has initialised them.
#pragma once

#include "exchange/push.cuh"
#include "primitives/vertices.cuh"
#include "sssp/distance_filter.cuh"
#include "sssp/predecessor_record.cuh"
#include "sssp/worklists.cuh"

#define GO_ON 0      // continue from the state of the last launch
#define NEW_RUN 1    // a new run of the team within a solve; starts with a dense pull of improvements from other hosts
#define NEW_SOLVE 2  // a new solve: only the source is reached, and it is the only near entry

// Clears the control block except the grid barrier, which is in use; one warp calls it.
__device__ __forceinline__ void warp_clear(Control* control) {
    u32* words = (u32*)control;
    for (u32* word = words + lane(); word < (u32*)&control->barrier; word += 32) *word = 0;
    __syncwarp();
}

// `source` is NO_VERTEX on a rank that does not own it; `width` is of the first bucket.
__device__ void list_source(const Rank& rank, u32 source, Distance width) {
    Control* control = rank.control;
    control->threshold = width;
    control->bound = NO_BOUND;
    control->least_far[0] = control->least_far[1] = control->late = LARGEST_DISTANCE;
    if (source == NO_VERTEX) return;
    control->near_count[0] = 1;
    const Entry entry{0, source};
    put(rank.work, control, near_list(rank.work, control, 0), 0, entry, NO_VERTEX);
    for (u32 to = peers_of(rank, source); to; to &= to - 1) {  // pushed like vertices that come into near later
        u32 p = __ffs(to) - 1;
        put_entry(rank.peers, p, 0, entry);
        control->exchange.sent[p] = 1;
    }
}

__device__ void grid_initialize(const Rank& rank, u32 begins, u32 source, Distance width) {
    const Share& share = rank.share;
    const Work& work = rank.work;
    const Peers& peers = rank.peers;
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    if (thread < 32) {
        if (begins == NEW_SOLVE) warp_clear(rank.control);
        if (lane() == 0) {
            rank.control->plan = StepPlan{};
            rank.control->exchange = Exchange{};
            rank.control->exchange.width = (double)width;
            rank.control->exchange.pull_requested = begins == NEW_RUN;
            for (u32 p = 0; p < MAX_PEERS; p++) {
                rank.control->plan.cursors[p].room = peers.capacity;
                rank.control->plan.cursors[p].ll_room = peers.owned[peers.me] < LAP_BIT ? ll_room(0, 0) : 0;
            }
            if (begins == NEW_SOLVE) list_source(rank, source, width);
            rank.control->plan.near = rank.control->near_count[rank.control->step % 3];
        }
    }
    if (begins == NEW_RUN) return;
    for (u32 i = thread; i < local_count(share); i += stride) work.distance[i] = i == source ? (Distance)0 : UNREACHED;
    for (u32 i = thread; i < share.own; i += stride) {
        if (work.record) work.record[i] = UNRECORDED;
        if (work.filter && i <= share.own >> work.fold) work.filter[i] = ALL_UNKNOWN;
    }
    for (u32 i = thread; i < (share.rows + 31) / 32; i += stride) work.spilled[i] = 0;
    for (u32 i = thread; i < (share.halo + 31) / 32; i += stride) work.dirty_bits[i] = 0;
}
