// The work of the leader block during the grid barrier. One warp does it; lane p serves peer p.
// * While other blocks are still arriving it polls this rank's mailbox (`hear`).
// * When all have arrived it decides about the next step (`conduct`).
// * After it has released them it publishes counters, a ballot, a verdict (`report`). So no block waits until peers can
//   see these words.
//
// Each round trip to L2 or to a peer costs time here. So the state of the run stays in shared memory, all words are
// requested at once, and words to peers are written in no particular order: reading one before another does no harm.
#pragma once

struct Desk {  // in shared memory
    Orders orders;
    Exchange own;   // as of the end of the last step
    Heard heard;    // this rank's mailbox as of the last poll
    u64 express_at[MAX_PEERS];  // words taken from each peer's express ring since the start
    u64 began;         // start of the step, by this multiprocessor's clock
    u32 express_come;  // 1 if some express ring holds words that have not been taken
    u32 come[BLOCK / 32];  // for each warp the number of consecutive valid words of a ring
};

// Copies a struct with all loads in flight at once, a few words a lane.
template <class T>
struct Copy {
    static_assert(sizeof(T) % 8 == 0, "words of 8 bytes");
    static constexpr u32 words = sizeof(T) / 8, each = (words + 31) / 32;
    u64 kept[each];

    __device__ __forceinline__ explicit Copy(const T* from) {
#pragma unroll
        for (u32 k = 0; k < each; k++)
            if (32 * k + lane() < words) kept[k] = anew((const u64*)from + 32 * k + lane());
    }

    __device__ __forceinline__ void put(T* to) const {
#pragma unroll
        for (u32 k = 0; k < each; k++)
            if (32 * k + lane() < words) ((u64*)to)[32 * k + lane()] = kept[k];
    }
};

// Reads this rank's mailbox, two words a lane. The counters are acquired, so the data that they publish is visible.
struct Mail {
    static constexpr u32 told = 4 * MAX_PEERS, words = sizeof(Heard) / 8;
    static_assert(told == 32 && words <= 64, "two words a lane, the first of the counts");
    u64 counts, votes;

    __device__ __forceinline__ explicit Mail(const Peers& peers) {
        const u64* from = (const u64*)peers.mailbox[peers.me];
        votes = told + lane() < words ? anew(from + told + lane()) : 0;
        counts = acquire_from_peers(from + lane());
    }

    __device__ __forceinline__ void put(Heard* to) const {
        ((u64*)to)[lane()] = counts;
        if (told + lane() < words) ((u64*)to)[told + lane()] = votes;
    }
};

__device__ __forceinline__ bool is_peer(const Peers& peers, u32 p) {
    return p < peers.count && p != peers.me;
}

__device__ __forceinline__ void hear(const Peers& peers, Desk& desk) {
    bool come = is_peer(peers, lane()) && has_come(peers, lane(), (u32)desk.express_at[lane()]);
    Mail(peers).put(&desk.heard);
    come = __any_sync(~0u, come);
    if (lane() == 0) {
        desk.express_come = come;
        // before the first verdict
        if (desk.heard.vote == 0) desk.heard.vote = 1;
        if (desk.heard.limit == 0) desk.heard.limit = peers.limit;
    }
    __syncwarp();
}

// All threads of a block call it.
__device__ __forceinline__ void clear(Mailbox* mailbox) {
    for (u32 i = threadIdx.x; i < sizeof(Mailbox) / 8; i += blockDim.x) ((u64*)mailbox)[i] = 0;
}

// Whether credits must be returned: 1 / UNTOLD of a ring has been taken since the last time.
__device__ __forceinline__ bool is_due(u64 taken, u64 told, u32 capacity) {
    u32 express = ((u32)taken - (u32)told) & ((1u << EXPRESS_BITS) - 1);
    return express >= EXPRESS / UNTOLD || (taken >> EXPRESS_BITS) - (told >> EXPRESS_BITS) >= max(capacity / UNTOLD, 1u);
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
    order_with_peers();
    if (peer) {
        Mailbox* theirs = peers.mailbox[p];
        if (wrote) say(&theirs->published[peers.me], own.sent[p]);
        if (took) say(&theirs->taken[peers.me], taken);
        if (shown) say(&theirs->shown[peers.me], as_showing(own.shown, own.below));
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
    if (is_peer(peers, lane())) say((u64*)&peers.mailbox[lane()]->bound, (u64)__double_as_longlong(bound));
    __syncwarp();
    if (lane() == 0) desk.own.told_bound = bound;
    __syncwarp();
}

#define PACE_SHARE 2  // a rank waits for the heavy steps of peers at most 1 / PACE_SHARE of the time of its own

// Lane p: publishes to peer p whether this rank is in a heavy step (odd) or not (even).
__device__ __forceinline__ void tell_pace(const Peers& peers, u64 pace) {
    if (is_peer(peers, lane())) say(&peers.mailbox[lane()]->pace[peers.me], pace);
}

// Lane p: waits until the heavy step of peer p has ended, but at most 1 / PACE_SHARE of the time of this rank's step, or
// until the run is to stop.
__device__ __forceinline__ void await_pace(const Peers& peers, const Desk& desk) {
    const Mailbox* mine = peers.mailbox[peers.me];
    const u64 ended = clock64(), most = (ended - desk.began) / PACE_SHARE;
    u32 p = lane();
    if (is_peer(peers, p) && desk.heard.pace[p] % 2)
        while (anew(&mine->pace[p]) == desk.heard.pace[p] && clock64() - ended < most && !anew(&mine->stop)) {}
    __syncwarp();
}

// Lane p: entries that blocks have counted for peer p, with or without room, and whether some had no room.
struct Written {
    u64 sent, express_sent;
    u32 showing;

    __device__ __forceinline__ explicit Written(const Exchange& exchange)
        : sent(anew(&exchange.sent[lane() % MAX_PEERS])),
          express_sent(anew(&exchange.express_sent[lane() % MAX_PEERS])),
          showing(anew(&exchange.showing)) {}
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

#define SPLIT_AT_ONCE ARCS  // splitting this many far entries is as much work as relaxing one near entry
#define MUCH 16  // far is large if it holds more than 1 / MUCH of the vertices

// The width of the next window. It doubles until the densest part of the graph has been reached, which
// fills far. Few arcs are left then, and a few wide windows are enough.
__device__ __forceinline__ double wider(double width, double widest, bool much) {
    return min(width * (much ? 8 : 2), widest);
}

// States this rank's floor and counts in the open vote, once. All lanes call it.
__device__ __forceinline__ void take_part(const Peers& peers, Desk& desk, double floor) {
    const u64 vote = desk.heard.vote, parity = vote & 1;
    if (vote == desk.own.balloted) return;
    const Exchange& own = desk.own;
    const u32 p = lane() % MAX_PEERS;
    const Traffic& with = desk.orders.with[p];
    const u64 sent = sum_over_peers(peers, own.sent[p] + own.express_sent[p] + own.shown);
    const u64 received = sum_over_peers(peers, with.begin + desk.express_at[p] + with.seen);
    if (lane()) return;
    Ballot* mine = &peers.mailbox[0]->ballot[peers.me];
    say(&mine->floor, (u64)__double_as_longlong(floor) | parity << 63);
    say(&mine->sent, 2 * sent + parity);
    say(&mine->received, 2 * received + parity);
    desk.own.balloted = vote;
}

// The work that a rank has left, apart from arrivals.
struct Prospect {
    u32 near;      // entries in near
    u64 listed;    // work in near and in row chunks, in entries; see weight_of
    bool pending;  // the overflow bitmap is not empty
    double floor;  // smallest distance left to work on
    double threshold;  // distances pushed to peers lie below it
    u32 far;       // entries of the far list, or vertices that are far
    bool much;     // far is large, and need not be pulled first
    double bound;  // pull bound, see outer.cuh; infinite if no arcs are deferred
    double reach;  // width of windows after the bound; before it they have a quarter
};

// Rank 0: when all ballots are complete, writes the verdict to all ranks and opens the next vote. The window moves when
// nothing is left in it; a window that grows only when also no entry is in flight, because that may lie in it. Up to
// the pull bound of a rank windows stay narrow. The words of a verdict may be read in any order: limits only rise, so a
// rank that reads the new vote with the old limit only waits longer.
__device__ __forceinline__ void judge(const Peers& peers, Desk& desk, const Prospect& prospect) {
    u32 p = lane();
    bool voter = p < peers.count;
    u64 parity = desk.heard.vote & 1;
    Ballot ballot = desk.heard.ballot[voter ? p : 0];
    bool whole = ballot.floor >> 63 == parity && (ballot.sent & 1) == parity &&
                 (ballot.received & 1) == parity;
    if (!__all_sync(~0u, !voter || whole)) return;
    double floor = INFINITE;
    if (voter) floor = __longlong_as_double((i64)(ballot.floor & ~(1ull << 63)));
    u64 sent = voter ? ballot.sent / 2 : 0, received = voter ? ballot.received / 2 : 0;
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) {
        floor = min(floor, __shfl_xor_sync(~0u, floor, step));
        sent += __shfl_xor_sync(~0u, sent, step);
        received += __shfl_xor_sync(~0u, received, step);
    }
    bool idle = floor == INFINITE || floor > peers.bound;
    bool calm = idle && sent == received;
    bool quiet = calm && desk.own.calm == sent + 1;
    double width = desk.own.width, end = desk.heard.limit - peers.ahead;
    bool settled = sent == received || peers.ahead > 0, moves = floor != INFINITE && floor >= end && settled;
    if (moves) {
        const double told = desk.heard.bound, bound = told > floor ? min(told, prospect.bound) : prospect.bound;
        const bool pulls = PULLS && bound != INFINITE, before = pulls && floor < bound;
        if (pulls) width = max(width, before ? prospect.reach / 4 : prospect.reach);
        if (!before) width = wider(width, peers.widest, prospect.much);
        end = max(floor + width, nextafter(floor, INFINITE));
        if (before) end = min(end, bound);
    }
    __syncwarp();
    if (p == 0) {
        desk.own.calm = calm ? sent + 1 : 0;
        desk.own.width = width;
    }
    if (!voter) return;
    volatile Mailbox& theirs = *peers.mailbox[p];
    if (moves) theirs.from = floor;
    if (floor != INFINITE) theirs.limit = min(end + peers.ahead, peers.bound);
    theirs.quiet = quiet;
    say(&peers.mailbox[p]->vote, desk.heard.vote + 1);
}

// Publishes the results of `conduct`.
__device__ __forceinline__ void report(const Peers& peers, Desk& desk, const Prospect& prospect) {
    u32 p = lane();
    tell_counts(peers, desk);
    tell_bound(peers, desk, prospect.bound);
    take_part(peers, desk, prospect.floor);
    if (peers.me == 0) judge(peers, desk, prospect);
    // a host sets the flag in its own rank's mailbox only
    if (desk.heard.stop && p < peers.count) *(volatile u32*)&peers.mailbox[p]->stop = 1;
    __syncwarp();
}

// Loads the state that the launch before, or `begin`, has left.
__device__ __forceinline__ void take_over(const Control* control, Desk& desk) {
    Copy<Orders> orders(&control->orders);
    Copy<Exchange>(&control->exchange).put(&desk.own);
    orders.put(&desk.orders);
}

// Decides about the next step; loops until the rank has work, all ranks are quiet, or the run is stopped. The mailbox
// has been polled before.
__device__ __forceinline__ void conduct(const Peers& peers, Exchange& exchange, Desk& desk, const Written& written,
                                        const Prospect& prospect) {
    Exchange& own = desk.own;
    Orders& orders = desk.orders;
    settle(peers, exchange, desk, written, prospect.threshold);
    __syncwarp();
    if (own.pace % 2) {
        tell_counts(peers, desk);
        tell_pace(peers, own.pace + 1);
        __syncwarp();  // all are told before one is waited for
        await_pace(peers, desk);
        hear(peers, desk);
    }
    while (true) {
        see_counts(peers, desk);
        const u64 found = arrivals(peers, orders), arrived = (u32)found + (found >> 32);
        const u64 work = prospect.listed + arrived + desk.express_come;
        bool beyond = prospect.floor == INFINITE || waits(peers, prospect.floor, desk.heard.limit);
        bool idle = !work && !prospect.pending && beyond && !desk.heard.quiet && !desk.heard.stop;
        __syncwarp();
        if (lane() == 0) {
            orders.arrived = (u32)min(arrived, 1ull << 31);
            orders.express = desk.express_come;
            orders.sent = (u32)found;
            orders.limit = desk.heard.limit;
            orders.from = desk.heard.from;
            orders.bound = desk.heard.bound;
            orders.near = prospect.near;
            orders.quiet = desk.heard.quiet;
            orders.stopped = desk.heard.stop;
            bool splits = !prospect.listed && !prospect.pending && !beyond;
            // peers do not wait for thick steps with fewer entries, although these may have many arcs
            bool heavy = work + (splits ? prospect.far / SPLIT_AT_ONCE : 0) > gridDim.x * THIN;
            own.pace = own.pace / 2 * 2 + (heavy ? 3 : 2);
        }
        __syncwarp();
        if (!idle) break;
        report(peers, desk, prospect);
        hear(peers, desk);
    }
    if (own.pace % 2) tell_pace(peers, own.pace);
    if (lane() == 0) desk.began = clock64();
}

// How a rank has ended: by the verdict that all are quiet, or by the stop flag.
#define QUIET 1
#define STOPPED 2
#define OVERFLOWED 4  // with one of these: a sum did not fit in the distance type

#define PATIENCE (1u << 20)  // polls, about a second

// Shutdown handshake: writes to all peers how this rank has ended, and waits for theirs if it ended quiet. Each peer
// reads the same verdict or the stop flag, so either all ranks know that all are quiet, and whether some sum overflowed,
// or none does. If the stop flag is set and a peer does not answer (its kernel has failed or does not run), the wait
// ends after PATIENCE polls. The outcome of that peer is unknown then, and the job has to end.
__device__ __forceinline__ void take_leave(const Peers& peers, const Control* control, bool stopped, double floor) {
    const Mailbox* mine = peers.mailbox[peers.me];
    const u32 p = lane();
    const bool waits = p < peers.count && !stopped;
    u64 ending = (stopped ? STOPPED : QUIET) | (anew(&control->overflowed) ? OVERFLOWED : 0);
    if (p < peers.count) say(&peers.mailbox[p]->ended[peers.me], ending);
    __syncwarp();  // all are told before one is waited for
    if (waits) {
        u32 patience = PATIENCE;
        while (!(ending = acquire_from_peers(&mine->ended[p])) && (!anew(&mine->stop) || patience--)) {}
    }
    const bool all_quiet = __all_sync(~0u, !waits || (ending & (QUIET | STOPPED)) == QUIET) && !stopped;
    const bool overflowed = __any_sync(~0u, ending & OVERFLOWED), unheard = __any_sync(~0u, waits && !ending);
    if (p == 0) *peers.ending = {floor, all_quiet, overflowed, unheard};
}
