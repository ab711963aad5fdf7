// The peers of a rank, and the words in which they state counts. PROTOCOL.md describes the exchange.
//
// Received entries are relaxed directly in a grid-wide step if few vertices were sent more than once; the mirrors of
// short rows are not lowered then. Otherwise they are merged into near first.
#pragma once

#include "layout/exchange.cuh"
#include "primitives/memory_order.cuh"

// The number of dense pulls requested and their threshold in one word; the threshold is rounded up to a float.
__device__ __forceinline__ u64 pack_dense_pull(u64 count, float below) { return count << 32 | __float_as_uint(below); }

// Credits in one word: entries taken from the inbox ring, and the lower bits of the words taken from the low-latency
// ring.
__device__ __forceinline__ u64 pack_credits(u64 taken, u32 ll_taken) {
    return taken << CREDIT_BITS | (ll_taken & ((1u << CREDIT_BITS) - 1));
}

// Whether there are peers to exchange with inside the kernel.
__device__ __forceinline__ bool exchanges(const Peers& peers) { return EXCHANGES && peers.count > 1; }

// Whether a rank must not yet work at distance `floor`. It may work up to the bound inclusively, but only below a limit
// that is less than the bound, because the next bucket begins at that limit.
__device__ __forceinline__ bool is_beyond(const Peers& peers, double floor, double limit) {
    return floor > limit || (floor == limit && limit < peers.bound);
}

__device__ __forceinline__ bool is_peer(const Peers& peers, u32 p) { return p < peers.count && p != peers.me; }
