// Wakes the links between GPUs. A link that has been idle for some tens of ms sleeps, and takes 0.1 ms to wake. So this
// kernel reads peers' memory before a solve, while the hosts prepare it, at enough addresses to use all links.

#include "exchange/remote.cuh"

// A block a peer.
extern "C" __global__ void wake(const __grid_constant__ Peers peers) {
    const u32 p = blockIdx.x;
    if (!is_peer(peers, p)) return;
    touch(peers, p, threadIdx.x, BLOCK);
}
