// Lockstep of heavy steps; see exchange/peers.cuh. One warp of the leader block, lane p for peer p.
#pragma once

#include "exchange/leader_state.cuh"
#include "exchange/peers.cuh"
#include "primitives/warp.cuh"

#define PACE_SHARE 2  // a rank waits for the heavy steps of peers at most 1 / PACE_SHARE of the time of its own

// Lane p: publishes to peer p whether this rank is in a heavy step (odd) or not (even).
__device__ __forceinline__ void tell_pace(const Peers& peers, u64 pace) {
    if (is_peer(peers, lane())) store_volatile(&peers.mailbox[lane()]->pace[peers.me], pace);
}

// Lane p: waits until the heavy step of peer p has ended, but at most 1 / PACE_SHARE of the time of this rank's step,
// or until the run is to stop.
__device__ __forceinline__ void await_pace(const Peers& peers, const Desk& desk) {
    const Mailbox* mine = peers.mailbox[peers.me];
    const u64 ended = clock64(), most = (ended - desk.began) / PACE_SHARE;
    u32 p = lane();
    if (is_peer(peers, p) && desk.heard.pace[p] % 2)
        while (load_volatile(&mine->pace[p]) == desk.heard.pace[p] && clock64() - ended < most &&
               !load_volatile(&mine->stop)) {
        }
    __syncwarp();
}
