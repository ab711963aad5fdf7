// Exchange between the GPUs of a host. Each rank's mailbox and inbox lie in its own memory and are mapped by all peers
// (CUDA IPC), so a kernel writes improved distances directly into the memory of the ranks that continue from there.
//
// Edge cut. An arc lies on the rank that owns its *head* (incoming edge-cut; see exchange/redistribute.cu), so only the
// owner lowers a distance. The out-arcs of a vertex may lie on all peers, and each of them has a *mirror* of the vertex
// (Gluon, Dathathri et al., PLDI 2018). When a vertex comes into near, its owner pushes it to the peers that hold
// out-arcs of it (`leads`). Most receivers lower their mirror; each relaxes its part of the row. So a vertex is pushed
// about once, whatever its degree, and each rank lowers only the distances that it owns.
//
// Rings. An inbox has a ring for each sender. The sender writes entries and publishes how many it has written since
// the start; the receiver takes them and returns credits, the number it has taken. Nobody waits for a full ring: the
// step that finds it full requests a *dense pull* (`dense_pulls`). After that step each peer reads the distances of all
// vertices that the sender owns, in order, and takes those that are smaller than its own, up to the sender's threshold.
// A dense pull takes 20 us a million vertices, however few improved. A pushed entry costs several random accesses.
//
// Received entries are relaxed directly in a thick step if few vertices were sent more than once; the mirrors of short
// rows are not lowered then. Otherwise they are merged into near first.
//
// Termination follows groute_py/comm/termination.py, which has the proof. Rank 0 opens votes; each rank states its
// floor and its counters; two consecutive votes in which all are idle, all entries sent have been taken, and no counter
// has changed end the run. Each verdict carries the limit up to which a rank may work. All ranks share a window, which
// rank 0 moves when nothing is left in it.
// * If windows grow, the limit is the end of the window. A rank moves to it as soon as it reads it, whatever it still
//   has in near. Otherwise it would relax entries from peers and delay those that it owns.
// * If all windows have one width, a rank may work some widths ahead, so that it waits less.
//
// Low-latency rings. In thin steps, with 32-bit distances, entries with short rows go through an *express* ring in the
// peer's mailbox (exchange/ll_ring.cuh). They arrive before the step ends and before any counter is published. The
// leader block of the receiver polls for them; it has no part of near. If the ring is full, the entry goes into the
// inbox.
//
// Lockstep. After a heavy step (relaxation or split) a rank waits until the heavy steps of its peers have ended, and
// merges their results into its next step. Work is evenly distributed, so it loses little time, and it does not relax
// distances that a peer has already corrected. It waits at most half as long as its own step took, because one rank may
// reach hubs a step earlier. Nobody waits for words of express rings, nor after light steps, whose time is latency.
#pragma once

#include "layout/exchange.cuh"
#include "primitives/memory_order.cuh"

// The number of dense pulls requested and their threshold in one word; the threshold is rounded up to a float.
__device__ __forceinline__ u64 pack_dense_pull(u64 count, float below) { return count << 32 | __float_as_uint(below); }

// Credits in one word: entries taken from the inbox ring, and the lower bits of the words taken from the express ring.
__device__ __forceinline__ u64 pack_credits(u64 taken, u32 express) {
    return taken << EXPRESS_BITS | (express & ((1u << EXPRESS_BITS) - 1));
}

// Whether there are peers to exchange with inside the kernel.
__device__ __forceinline__ bool exchanges(const Peers& peers) { return EXCHANGES && peers.count > 1; }

// Whether a rank must not yet work at distance `floor`. It may work up to the bound inclusively, but only below a limit
// that is less than the bound, because the next window begins at that limit.
__device__ __forceinline__ bool waits(const Peers& peers, double floor, double limit) {
    return floor > limit || (floor == limit && limit < peers.bound);
}

__device__ __forceinline__ bool is_peer(const Peers& peers, u32 p) { return p < peers.count && p != peers.me; }
