// What the block that conducts does for its rank, by one warp, a lane a peer. While others are still to come it hears what
// peers tell, and while all wait it decides how to go on; what it has to tell (how much was sent and taken, a ballot, a
// verdict) it tells when they have been let go, and so they do not wait until peers see what they have written.
//
// Every round trip to L2 or to a peer counts here. So what a run remembers stays in shared memory, what others have left
// is asked for at once, and what is told is in no order: a peer that sees one word before another loses nothing.
#pragma once

struct Desk {  // in shared memory
    Orders orders;
    Exchange own;   // as the last turn has left it
    Heard heard;    // this rank's, as of the last look
    u64 express_at[MAX_PEERS];  // of each peer's express ring, how much has been taken, ever
    u64 began;         // when the turn did, by this processor's clock
    u32 express_come;  // there is more to take of some
    u32 come[BLOCK / 32];  // of each warp's words of a ring, how many in a row
};

// A few words a lane, all under way at once.
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

// What this rank's mailbox says, likewise; and what peers have written before they told of it.
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

// Whether so much of a ring has been taken since its sender was told that it might find it full: one place in UNTOLD.
__device__ __forceinline__ bool is_due(u64 taken, u64 told, u32 capacity) {
    u32 express = ((u32)taken - (u32)told) & ((1u << EXPRESS_BITS) - 1);
    return express >= EXPRESS / UNTOLD || (taken >> EXPRESS_BITS) - (told >> EXPRESS_BITS) >= max(capacity / UNTOLD, 1u);
}

// Lane p: tells peer p how far this rank has written and taken, after what all blocks have written. What has been taken
// waits for something else to tell until it is much: for each word to a peer this GPU waits until all that it has
// written to peers is there.
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

// Lane p: tells peer p of the bound that this rank has set, so that they pull at one.
__device__ __forceinline__ void tell_bound(const Peers& peers, Desk& desk, double bound) {
    if (!PULLS || bound == INFINITE || bound == desk.own.told_bound) return;
    if (is_peer(peers, lane())) say((u64*)&peers.mailbox[lane()]->bound, (u64)__double_as_longlong(bound));
    __syncwarp();
    if (lane() == 0) desk.own.told_bound = bound;
    __syncwarp();
}

#define PACE_SHARE 2  // of a heavy turn's time a rank waits no more than one in so many for those of peers

// Lane p: tells peer p whether this rank is in a heavy turn.
__device__ __forceinline__ void tell_pace(const Peers& peers, u64 pace) {
    if (is_peer(peers, lane())) say(&peers.mailbox[lane()]->pace[peers.me], pace);
}

// Lane p: waits until the heavy turn that peer p is in has ended, or has taken a good part of this rank's longer, or the
// run is to stop.
__device__ __forceinline__ void await_pace(const Peers& peers, const Desk& desk) {
    const Mailbox* mine = peers.mailbox[peers.me];
    const u64 ended = clock64(), most = (ended - desk.began) / PACE_SHARE;
    u32 p = lane();
    if (is_peer(peers, p) && desk.heard.pace[p] % 2)
        while (anew(&mine->pace[p]) == desk.heard.pace[p] && clock64() - ended < most && !anew(&mine->stop)) {}
    __syncwarp();
}

// Lane p: what blocks have counted of what they had for peer p, room or not, and whether some of it had none.
struct Written {
    u64 sent, express_sent;
    u32 showing;

    __device__ __forceinline__ explicit Written(const Exchange& exchange)
        : sent(anew(&exchange.sent[lane() % MAX_PEERS])),
          express_sent(anew(&exchange.express_sent[lane() % MAX_PEERS])),
          showing(anew(&exchange.showing)) {}
};

// Lane p: the turn that has ended has taken all it was to take from peer p, and written no more to it
// than there was room for; if there was more it shows what it knows, up to its threshold.
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

// Lane p: sees how far peer p has written and taken.
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

// What lane p brings for peer p, in sum; all lanes call it.
__device__ __forceinline__ u64 sum_over_peers(const Peers& peers, u64 mine) {
    if (!is_peer(peers, lane())) mine = 0;
    for (u32 apart = MAX_PEERS / 2; apart; apart /= 2) mine += __shfl_xor_sync(~0u, mine, apart);
    return __shfl_sync(~0u, mine, 0);
}

__device__ __forceinline__ bool shows(const Traffic& with) { return with.to_see != with.seen; }

// How many entries have been sent for the turn to come, in the lower half, and distances are there to look at; one at least
// where a peer has none to show, because it waits until all have looked. All lanes call it.
__device__ __forceinline__ u64 arrivals(const Peers& peers, const Orders& orders) {
    const u32 p = lane() % MAX_PEERS;
    const Traffic& with = orders.with[p];
    return sum_over_peers(peers, with.end - with.begin + (shows(with) ? (u64)max(peers.owned[p], 1u) << 32 : 0));
}

#define SPLIT_AT_ONCE ARCS  // entries of far whose split is as much work as one of near
#define MUCH 16  // far is much if it holds more than one vertex in so many

// The width of the next window. It doubles until the densest part of the graph has been found, which
// fills far; then few arcs are left, and a few wide windows are enough.
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

// What a rank has to do next, apart from what arrives.
struct Prospect {
    u32 near;      // entries in near
    u64 listed;    // the same, and items
    bool pending;  // something else is due in any case
    double floor;  // the smallest distance left to work on
    double threshold;  // what peers have been told of lies below it
    u32 far;       // entries of the far list, or vertices that are far
    bool much;     // they are a good part of all vertices, and not to be pulled first
    double bound;  // where outer arcs are pulled, see outer.cuh; infinite if none are
    double reach;  // how wide windows are after it; a quarter of that before
};

// Rank 0: when all have taken part, tells all the verdict and opens the next vote. The window moves
// when nothing is left in it; one that grows, when nothing is under way either, which may lie in it.
// Up to where a rank pulls, and most likely all do, windows stay narrow.
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

// Tells what `conduct` has settled.
__device__ __forceinline__ void report(const Peers& peers, Desk& desk, const Prospect& prospect) {
    u32 p = lane();
    tell_counts(peers, desk);
    tell_bound(peers, desk, prospect.bound);
    take_part(peers, desk, prospect.floor);
    if (peers.me == 0) judge(peers, desk, prospect);
    // a host's wish to stop reaches all ranks
    if (desk.heard.stop && p < peers.count) *(volatile u32*)&peers.mailbox[p]->stop = 1;
    __syncwarp();
}

// What the launch before has left, or the beginning of this one.
__device__ __forceinline__ void take_over(const Control* control, Desk& desk) {
    Copy<Orders> orders(&control->orders);
    Copy<Exchange>(&control->exchange).put(&desk.own);
    orders.put(&desk.orders);
}

// Goes on until the rank has something to do, all are quiet, or the run is stopped. Peers have been heard.
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
            // thick turns of fewer entries than that, which have many arcs, are not waited for
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

// How a rank has ended: by the verdict that all are quiet, or because it was told to stop.
#define QUIET 1
#define STOPPED 2
#define OVERFLOWED 4  // and some sum of its was no distance

#define PATIENCE (1u << 20)  // looks, about a second

// Tells all peers how this rank has ended. One that is quiet hears the same of all, who have seen the verdict too or are
// told to stop: so either each rank knows that all are quiet, and whether some sum was no distance, or none does. Only
// one that is told to stop and hears nothing of a peer, whose kernel has failed or does not run, waits no longer. It does
// not know then what others do, and the job has to end.
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
