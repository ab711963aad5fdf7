// Lockstep of heavy steps; see exchange/PROTOCOL.md. One warp of the leader block, lane p for peer p.
#pragma once

#include "exchange/leader_state.cuh"
#include "exchange/remote.cuh"
#include "primitives/warp.cuh"

#define WAIT_SHARE 2  // a rank waits for the heavy steps of peers at most 1 / WAIT_SHARE of the time of its own

// Lane p: publishes to peer p whether this rank is in a heavy step (odd) or not (even).
__device__ __forceinline__ void leader_publish_epoch(const Peers& peers, u64 epoch) {
    if (is_peer(peers, lane())) RemoteMailbox(peers, lane()).put(&Mailbox::epoch, epoch);
}

// Lane p: waits until the heavy step of peer p has ended, but at most 1 / WAIT_SHARE of the time of this rank's step,
// or until the run is to stop.
__device__ __forceinline__ void leader_await_heavy_steps(const Peers& peers, const LeaderState& leader) {
    const Mailbox* mine = peers.mailbox[peers.me];
    const u64 ended = clock64(), most = (ended - leader.began) / WAIT_SHARE;
    u32 p = lane();
    if (is_peer(peers, p) && leader.mailbox.epoch[p] % 2)
        while (load_volatile(&mine->epoch[p]) == leader.mailbox.epoch[p] && clock64() - ended < most &&
               !load_volatile(&mine->stop)) {
        }
    __syncwarp();
}
