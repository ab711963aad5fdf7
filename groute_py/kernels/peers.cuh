// Exchange between the GPUs of a host. Each rank's mailbox and inbox lie in its own memory and are mapped by all peers
// (CUDA IPC), so a kernel writes improved distances directly into the memory of the ranks that continue from there.
//
// Edge cut. An arc lies on the rank that owns its *head* (incoming edge-cut; see dealt.cu), so only the owner lowers a
// distance. The out-arcs of a vertex may lie on all peers, and each of them has a *mirror* of the vertex (Gluon,
// Dathathri et al., PLDI 2018). When a vertex comes into near, its owner pushes it to the peers that hold out-arcs of
// it (`leads`). Most receivers lower their mirror; each relaxes its part of the row. So a vertex is pushed about once,
// whatever its degree, and each rank lowers only the distances that it owns.
//
// Rings. An inbox has a ring for each sender. The sender writes entries and publishes how many it has written since
// the start; the receiver takes them and returns credits, the number it has taken. Nobody waits for a full ring: the
// step that finds it full requests a *dense pull* (`shown`). After that step each peer reads the distances of all
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
// peer's mailbox (express.cuh). They arrive before the step ends and before any counter is published. The leader block
// of the receiver polls for them; it has no part of near. If the ring is full, the entry goes into the inbox.
//
// Lockstep. After a heavy step (relaxation or split) a rank waits until the heavy steps of its peers have ended, and
// merges their results into its next step. Work is evenly distributed, so it loses little time, and it does not relax
// distances that a peer has already corrected. It waits at most half as long as its own step took, because one rank may
// reach hubs a step earlier. Nobody waits for words of express rings, nor after light steps, whose time is latency.
#pragma once

#define MAX_PEERS 8

// Each word carries the parity of its vote, so rank 0 knows that a ballot is complete although its words may arrive in
// any order: in the sign bit of the floor, which is never negative, and in the lowest bit of the counters.
struct Ballot {
    u64 floor;
    u64 sent;
    u64 received;
};

// Words that peers write into this rank's memory.
struct Heard {
    u64 published[MAX_PEERS];  // entries that each sender has put into this rank's inbox, ever
    u64 shown[MAX_PEERS];      // dense pulls that each rank has requested since the start; see as_showing
    u64 taken[MAX_PEERS];      // entries of this rank that each peer has taken, ever; see as_taken
    u64 pace[MAX_PEERS];       // of each rank: odd in a heavy turn; changes with every turn
    Ballot ballot[MAX_PEERS];  // at rank 0: the ranks' ballots
    u64 vote;                  // the vote that is open, from 1; 0 until the first verdict
    double limit;              // of the last verdict; 0 until the first
    double from;               // start of the shared window that ends at the limit
    double bound;              // the pull bound that some rank has set last; see outer.cuh
    u32 quiet;
    u32 stop;                  // some host wants the run to end
};

// Each rank has two, used in turn. A run clears the one of the next run; nobody writes into it before all ranks have
// ended this run.
struct Mailbox : Heard {
    u64 ended[MAX_PEERS];             // how each rank has ended, when it has; see take_leave
    u64 express[MAX_PEERS][EXPRESS];  // a ring for each sender; see express.cuh
};

// How a launch has ended. The kernel writes it to host memory, so the host needs no copy after the end of the kernel.
struct Ending {
    double floor;     // no distance left to work on is smaller; infinite when none is left
    u32 all_quiet;    // all ranks ended by the verdict that all are quiet
    u32 overflowed;   // on some rank a sum did not fit in the distance type
    u32 unheard;      // some peer did not report its end in time
};

// The ranks that exchange inside the kernel: all ranks, or those of one host. Their numbers among all ranks are
// consecutive; here they count from 0. Improved vertices of other ranks are marked dirty and sent after the kernel.
//
// Mirrored in device/layout.py, like the structs of share.cuh.
struct Peers {
    Mailbox* mailbox[MAX_PEERS];  // of every one of them
    Mailbox* next;                // this rank's in the next run
    Entry* outbox[MAX_PEERS];     // this rank's ring in the inbox of every one
    const Entry* inbox;           // this rank's; the ring of sender p begins at p * capacity
    const Distance* shown[MAX_PEERS];  // in each rank's memory: distances of the vertices that it owns
    u32 owned[MAX_PEERS];              // number of these vertices
    u32 mirrors[MAX_PEERS];            // where their mirrors begin
    double limit;   // up to where a rank may work before the first verdict
    double ahead;   // how far beyond the window that all share a rank may work
    double widest;  // that window
    double bound;  // distances beyond it are not relaxed in this launch
    u32 me;
    u32 count;     // 1 when there is nobody to exchange with in the kernel
    u32 capacity;  // entries of a ring, a power of two
    u32 first;     // the first one's number among all ranks
    Ending* ending;  // in host memory
};

// What a step may exchange with one peer: positions in rings, counted since the start of the run.
struct Traffic {
    u64 room;         // where its outbox is full
    u64 express_room; // and where its express ring is
    u64 begin;        // its entries to take: from ...
    u64 end;          // ... to
    u32 seen;         // its dense pulls that this rank has done
    u32 to_see;       // its dense pulls requested so far; this step does the new one, ...
    float see_below;  // ... up to this distance
    u32 unused;
};

// The decisions of the leader block for a step.
struct Orders {
    double limit;  // up to where this rank may work
    double from;   // where the window begins, if all share one
    double bound;  // that a peer has told of; 0 if none has
    u32 quiet;
    u32 stopped;
    u32 arrived;   // entries in the inbox, and distances to look at, at the most as many as fit here
    u32 express;   // something has come by an express ring
    u32 sent;      // of what has arrived, entries in the inbox
    u32 near;      // near entries at the start of the step; blocks that start early may already have merged arrivals
    Traffic with[MAX_PEERS];
};

// State of the leader block between launches. Other blocks write only the counters of sent entries and `showing`; the
// leader writes the rest when the launch ends.
struct Exchange {
    u64 sent[MAX_PEERS];        // places taken in each outbox, ever
    u64 express_sent[MAX_PEERS];  // and in each express ring
    u64 told_sent[MAX_PEERS];   // the part of `sent` that has been published
    u64 told_taken[MAX_PEERS];  // credits that have been returned to each sender; see as_taken
    u64 told_shown;             // the part of `shown` that has been published
    u64 shown;                  // dense pulls that this rank has requested since the start
    float below;                // threshold of the last one
    u32 showing;                // 1 if this step requests a dense pull
    double told_bound;          // pull bound that has been published; see outer.cuh
    u64 balloted;               // the last vote this rank has taken part in
    u64 calm;                   // rank 0: entries sent in all when the last vote was calm, plus one
    u64 pace;                   // step epoch that has been published
    double width;               // width of the window, on one rank and at rank 0, which moves it for all
};

// The number of dense pulls requested and their threshold in one word; the threshold is rounded up to a float.
__device__ __forceinline__ u64 as_showing(u64 count, float below) {
    return count << 32 | __float_as_uint(below);
}

// Credits in one word: entries taken from the inbox ring, and the lower bits of the words taken from the express ring.
__device__ __forceinline__ u64 as_taken(u64 taken, u32 express) {
    return taken << EXPRESS_BITS | (express & ((1u << EXPRESS_BITS) - 1));
}

// Whether there are peers to exchange with inside the kernel.
__device__ __forceinline__ bool exchanges(const Peers& peers) { return EXCHANGES && peers.count > 1; }

// Whether a rank must not yet work at distance `floor`. It may work up to the bound inclusively, but only below a limit
// that is less than the bound, because the next window begins at that limit.
__device__ __forceinline__ bool waits(const Peers& peers, double floor, double limit) {
    return floor > limit || (floor == limit && limit < peers.bound);
}

// Stores a word in a peer's memory. A thread that acquires it also sees what was written before the writer's last fence.
__device__ __forceinline__ void say(u64* place, u64 value) { *(volatile u64*)place = value; }
