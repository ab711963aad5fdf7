// Peers over NVLink: each rank's mailbox and inbox lie in its own memory and are mapped by all others
// (CUDA IPC), so that a kernel hands improved distances straight to the ranks that work on from there.
//
// Among peers an arc lies where its *head* is (an incoming edge-cut; see dealt.cu), so that only a rank itself
// improves what it owns. The arcs of a vertex may lie at all peers, and each has a *mirror* of it (Gluon,
// Dathathri et al., PLDI 2018). When a vertex comes into near its owner tells those peers that have arcs of it,
// `leads` says which: the mirrors become as near, most of them, and each peer relaxes its part of the row. So a vertex is told
// about once or a little more often, whatever its degree, a row's arcs are shared out as its heads are, and
// each peer works on distances that are so many times fewer.
//
// An inbox has a ring for each sender. A sender writes entries, then publishes how many it has ever
// written; the other takes them and acknowledges how many it has ever taken. A ring that is full is
// never waited for: a turn that finds it full *shows* what it knows. When it has ended, each peer reads the
// distances of the sender's own vertices where they lie, all of them and in order, and takes what is nearer
// than it knows, up to the sender's threshold. That costs the same whatever was found (20 us a million of
// them), while an entry costs its sender and its taker several accesses in no order.
//
// What has been sent for a thick turn is relaxed as it is where few vertices are sent more than once, and mirrors of short
// rows are not lowered then; else it joins near first.
//
// Quiet is found as between hosts (groute_py/comm/termination.py, where the proof is): rank 0 opens
// votes, every rank states its floor and its counts, and two successive votes that find all idle, as
// many taken as sent, and the same counts, end the run. With each verdict goes the limit up to
// which a rank may work. All ranks share a window, which rank 0 moves when nothing is left in it.
// Where windows grow, the limit is its end, and a rank goes along as soon as it hears of it, whatever it has
// listed meanwhile: else it would relax what peers tell of, and leave what it owns itself for later. Where all are
// alike a rank may work some widths ahead, so that it waits less.
//
// In thin turns, with 32-bit distances, what comes into near by a short row goes by an *express* ring in the other's
// mailbox, of words that say for themselves that they have come: so it is there before the turn has ended and all have
// been told. The block that conducts takes it as it comes, in place of a part of near. What finds that ring full
// goes into the inbox.
//
// Heavy turns, of relaxing and of splitting far, are taken in step: a rank that has ended one waits until the
// heavy turns that its peers are in have ended, and takes what they have found into its next. It loses little
// time, because work is evenly shared out, and saves the work of relaxing from distances that a peer has
// already corrected. Where it is not, because one has found hubs a turn sooner, it goes on when it has waited for half
// as long as its turn took. For what went by express nobody waits. Nor does anybody in light turns, whose time is latency.
#pragma once

#define MAX_PEERS 8

// Every word carries the parity of its vote, so that a ballot is known to be whole without any order
// between its words: the floor, which is never negative, as its sign, the counts as their lowest bit.
struct Ballot {
    u64 floor;
    u64 sent;
    u64 received;
};

// What peers have told. Written by them; lies in the memory of the rank it belongs to.
struct Heard {
    u64 published[MAX_PEERS];  // entries that each sender has put into this rank's inbox, ever
    u64 shown[MAX_PEERS];      // turns after which each rank has shown what it knows, ever; see as_showing
    u64 taken[MAX_PEERS];      // entries of this rank that each peer has taken, ever; see as_taken
    u64 pace[MAX_PEERS];       // of each rank: odd in a heavy turn; changes with every turn
    Ballot ballot[MAX_PEERS];  // at rank 0: the ranks' ballots
    u64 vote;                  // the vote that is open, from 1; 0 until the first verdict
    double limit;              // of the last verdict; likewise
    double from;               // where the window began that ends there, if all share one
    double bound;              // that some rank has set last; see outer.cuh
    u32 quiet;
    u32 stop;                  // some host wants the run to end
};

// Each rank has two. A run clears the one of the next run, into which nobody writes before all have ended this one.
struct Mailbox : Heard {
    u64 ended[MAX_PEERS];             // how each rank has ended, when it has; see take_leave
    u64 express[MAX_PEERS][EXPRESS];  // a ring for each sender; see express.cuh
};

// How a launch has ended. Written where the host sees it as soon as it has: a copy would begin only then.
struct Ending {
    double floor;     // no distance left to work on is smaller; infinite when none is left
    u32 all_quiet;    // all peers have ended so
    u32 overflowed;   // and a sum was no distance, on some of them
    u32 unheard;      // some peer has not said how it has ended
};

// Those that exchange in the kernel follow each other among all ranks, and number themselves from 0: all
// ranks, or those of one host. What belongs to a rank beyond them is marked dirty, as without peers, and
// leaves when the kernel has ended.
//
// Mirrored in device/layout.py, like the structs of share.cuh.
struct Peers {
    Mailbox* mailbox[MAX_PEERS];  // of every one of them
    Mailbox* next;                // this rank's in the next run
    Entry* outbox[MAX_PEERS];     // this rank's ring in the inbox of every one
    const Entry* inbox;           // this rank's; the ring of sender p begins at p * capacity
    const Distance* shown[MAX_PEERS];  // in the memory of every one: the distances of what it owns
    u32 owned[MAX_PEERS];              // how many these are
    u32 mirrors[MAX_PEERS];            // where their mirrors begin
    double limit;   // up to where a rank may work before the first verdict
    double ahead;   // how far beyond the window that all share a rank may work
    double widest;  // that window
    double bound;  // what lies beyond is left alone in this launch
    u32 me;
    u32 count;     // 1 when there is nobody to exchange with in the kernel
    u32 capacity;  // entries of a ring, a power of two
    u32 first;     // the first one's number among all ranks
    Ending* ending;  // in host memory
};

// What a turn may exchange with a peer.
struct Traffic {
    u64 room;         // where its outbox is full
    u64 express_room; // and where its express ring is
    u64 begin;        // its entries to take: from ...
    u64 end;          // ... to
    u32 seen;         // of its turns that have shown, what this rank has looked at
    u32 to_see;       // and what it looks at this turn, ...
    float see_below;  // ... up to where
    u32 unused;
};

// What the block that conducts has settled for a turn.
struct Orders {
    double limit;  // up to where this rank may work
    double from;   // where the window begins, if all share one
    double bound;  // that a peer has told of; 0 if none has
    u32 quiet;
    u32 stopped;
    u32 arrived;   // entries in the inbox, and distances to look at, at the most as many as fit here
    u32 express;   // something has come by an express ring
    u32 sent;      // of what has arrived, entries in the inbox
    u32 near;      // entries of near as the turn begins: a block that comes late may find more, joined from an inbox
    Traffic with[MAX_PEERS];
};

// What it remembers, and what the others leave for it: they count what is sent and say that something is to be shown, the
// rest is written when the launch ends.
struct Exchange {
    u64 sent[MAX_PEERS];        // places taken in each outbox, ever
    u64 express_sent[MAX_PEERS];  // and in each express ring
    u64 told_sent[MAX_PEERS];   // of those in outboxes, what their owners have been told of
    u64 told_taken[MAX_PEERS];  // what each sender has been told is taken; see as_taken
    u64 told_shown;             // what peers know of
    u64 shown;                  // turns after which this rank has shown what it knows, ever
    float below;                // and up to where, the last time
    u32 showing;                // this turn shows what it knows
    double told_bound;          // that peers have been told of; see outer.cuh
    u64 balloted;               // the last vote this rank has taken part in
    u64 calm;                   // rank 0: entries sent in all when the last vote was calm, plus one
    u64 pace;                   // what peers have been told of this rank's
    double width;               // of the window; alone, and at rank 0, which moves it for all
};

// How often a rank has shown what it knows, and up to where, in one word: a float that is not less.
__device__ __forceinline__ u64 as_showing(u64 count, float below) {
    return count << 32 | __float_as_uint(below);
}

// How many entries have been taken, and how many of an express ring, in one word: the lower bits of the latter.
__device__ __forceinline__ u64 as_taken(u64 taken, u32 express) {
    return taken << EXPRESS_BITS | (express & ((1u << EXPRESS_BITS) - 1));
}

// Whether there are others to exchange with.
__device__ __forceinline__ bool exchanges(const Peers& peers) { return EXCHANGES && peers.count > 1; }

// Whether a rank has to wait with what lies at `floor`. Up to the bound it may work, but not at a limit below
// that: there the next window begins.
__device__ __forceinline__ bool waits(const Peers& peers, double floor, double limit) {
    return floor > limit || (floor == limit && limit < peers.bound);
}

// To a peer; what was written before the last fence is seen by who sees this.
__device__ __forceinline__ void say(u64* place, u64 value) { *(volatile u64*)place = value; }
