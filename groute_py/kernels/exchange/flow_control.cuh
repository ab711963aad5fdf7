// What has been written to each peer and taken from it, and how the peers learn of it: one warp of the leader block,
// lane p for peer p.
#pragma once

#include "exchange/poll.cuh"

// Whether credits must be returned: 1 / UNTOLD of a ring has been taken since the last time.
__device__ __forceinline__ bool is_due(u64 taken, u64 told, u32 capacity) {
    u32 express = ((u32)taken - (u32)told) & ((1u << EXPRESS_BITS) - 1);
    return express >= EXPRESS / UNTOLD ||
           (taken >> EXPRESS_BITS) - (told >> EXPRESS_BITS) >= max(capacity / UNTOLD, 1u);
}

// Lane p: publishes to peer p how far this rank has written and taken, after a fence for the writes of all blocks.
// Credits alone are held back until they are due: the fence waits until all writes to peers have arrived.
__device__ __forceinline__ void tell_counts(const Peers& peers, Desk& desk) {
    Exchange& own = desk.own;
    u32 p = lane();
    bool peer = is_peer(peers, p), shown = own.shown != own.told_shown;
    u64 taken = peer ? as_taken(desk.orders.with[p].begin, (u32)desk.express_at[p]) : 0;
    bool wrote = peer && own.sent[p] != own.told_sent[p], took = peer && taken != own.told_taken[p];
    bool due = took && is_due(taken, own.told_taken[p], peers.capacity);
    if (!__any_sync(~0u, wrote || due || shown)) return;
    fence_system();
    if (peer) {
        Mailbox* theirs = peers.mailbox[p];
        if (wrote) store_volatile(&theirs->published[peers.me], own.sent[p]);
        if (took) store_volatile(&theirs->taken[peers.me], taken);
        if (shown) store_volatile(&theirs->shown[peers.me], as_showing(own.shown, own.below));
        own.told_sent[p] = own.sent[p];
        own.told_taken[p] = taken;
    }
    __syncwarp();
    if (p == 0) own.told_shown = own.shown;
    __syncwarp();
}

// Lane p: publishes to peer p the pull bound that this rank has set, so that all ranks pull at the same bound.
__device__ __forceinline__ void tell_bound(const Peers& peers, Desk& desk, double bound) {
    if (!PULLS || bound == INFINITE || bound == desk.own.told_bound) return;
    if (is_peer(peers, lane())) store_volatile((u64*)&peers.mailbox[lane()]->bound, (u64)__double_as_longlong(bound));
    __syncwarp();
    if (lane() == 0) desk.own.told_bound = bound;
    __syncwarp();
}

// Lane p: entries that blocks have counted for peer p, with or without room, and whether some had no room.
struct Written {
    u64 sent, express_sent;
    u32 showing;

    __device__ __forceinline__ explicit Written(const Exchange& exchange)
        : sent(load_volatile(&exchange.sent[lane() % MAX_PEERS])),
          express_sent(load_volatile(&exchange.express_sent[lane() % MAX_PEERS])),
          showing(load_volatile(&exchange.showing)) {}
};

// Lane p: accounts for the step that has ended. It has taken all entries of peer p up to `end`, and written at most as
// many as there was room for. If there was no room for some, it requests a dense pull up to its threshold.
__device__ __forceinline__ void settle(const Peers& peers, Exchange& exchange, Desk& desk, const Written& written,
                                       double threshold) {
    Exchange& own = desk.own;
    u32 p = lane();
    if (p == 0 && written.showing) {
        own.shown++;
        own.below = __double2float_ru(threshold);
        own.showing = exchange.showing = 0;
    }
    if (!is_peer(peers, p)) return;
    Traffic& with = desk.orders.with[p];
    own.sent[p] = min(written.sent, with.room);
    own.express_sent[p] = min(written.express_sent, with.express_room);
    if (own.sent[p] != written.sent) exchange.sent[p] = own.sent[p];
    if (own.express_sent[p] != written.express_sent) exchange.express_sent[p] = own.express_sent[p];
    with.begin = with.end;
    with.seen = with.to_see;
}

// Lane p: takes over from the mailbox how far peer p has written and taken.
__device__ __forceinline__ void see_counts(const Peers& peers, Desk& desk) {
    u32 p = lane();
    if (!is_peer(peers, p)) return;
    Traffic& with = desk.orders.with[p];
    with.end = desk.heard.published[p];
    with.room = (desk.heard.taken[p] >> EXPRESS_BITS) + peers.capacity;
    bool fits = peers.owned[peers.me] < LAP_MARK;
    with.express_room = fits ? express_room(desk.own.express_sent[p], (u32)desk.heard.taken[p]) : 0;
    with.to_see = (u32)(desk.heard.shown[p] >> 32);
    with.see_below = __uint_as_float((u32)desk.heard.shown[p]);
}

// The sum over peers of the values of their lanes; all lanes call it.
__device__ __forceinline__ u64 sum_over_peers(const Peers& peers, u64 mine) {
    if (!is_peer(peers, lane())) mine = 0;
    for (u32 apart = MAX_PEERS / 2; apart; apart /= 2) mine += __shfl_xor_sync(~0u, mine, apart);
    return __shfl_sync(~0u, mine, 0);
}

__device__ __forceinline__ bool shows(const Traffic& with) { return with.to_see != with.seen; }

// Arrivals for the next step: in the lower half the entries sent, in the upper half the distances to read in dense
// pulls. A pull of a peer that owns no vertices counts as one, because the peer waits until all have done it. All lanes
// call it.
__device__ __forceinline__ u64 arrivals(const Peers& peers, const Orders& orders) {
    const u32 p = lane() % MAX_PEERS;
    const Traffic& with = orders.with[p];
    return sum_over_peers(peers, with.end - with.begin + (shows(with) ? (u64)max(peers.owned[p], 1u) << 32 : 0));
}
