// What the GPUs of a host share, and what each keeps for the exchange; see exchange/PROTOCOL.md.
#pragma once

#include "layout/worklists.cuh"

#define MAX_PEERS 8

// Each word carries the parity of its vote, so rank 0 knows that a ballot is complete although its words may arrive in
// any order: in the sign bit of the floor, which is never negative, and in the lowest bit of the counters.
struct Ballot {
    u64 floor;
    u64 sent;
    u64 received;
};

// Words that peers write into this rank's memory.
struct MailboxHeader {
    u64 published[MAX_PEERS];    // entries that each sender has put into this rank's inbox, ever
    u64 dense_pulls[MAX_PEERS];  // dense pulls that each rank has requested since the start; see pack_dense_pull
    u64 taken[MAX_PEERS];        // entries of this rank that each peer has taken, ever; see pack_credits
    u64 epoch[MAX_PEERS];        // of each rank: odd in a heavy step; light steps are not published
    Ballot ballot[MAX_PEERS];    // at rank 0: the ranks' ballots
    u64 vote;                    // the vote that is open, from 1; 0 until the first verdict
    double limit;                // of the last verdict; 0 until the first
    double from;                 // start of the shared bucket that ends at the limit
    double bound;                // the pull bound that some rank has set last; see sssp/pull_deferred.cuh
    u32 quiet;
    u32 stop;  // some host wants the run to end
};

// Each rank has two, used alternately. A run clears the one of the next run; nobody writes into it before all ranks
// have ended this run.
struct Mailbox : MailboxHeader {
    u64 ended[MAX_PEERS];              // how each rank has ended, when it has; see leader_shut_down
    u64 ll_ring[MAX_PEERS][LL_WORDS];  // a ring for each sender; see exchange/ll_ring.cuh
};

// How a launch has ended. The kernel writes it to host memory, so the host needs no copy after the end of the kernel.
struct Ending {
    double floor;    // no distance left to work on is smaller; infinite when none is left
    u32 all_quiet;   // all ranks ended by the verdict that all are quiet
    u32 overflowed;  // on some rank a sum did not fit in the distance type
    u32 unreported;  // some peer did not report its end in time
};

// The ranks that exchange inside the kernel: all ranks, or those of one host. Their numbers among all ranks are
// consecutive; here they count from 0. Improved vertices of other ranks are marked dirty and sent after the kernel.
struct Peers {
    Mailbox* mailbox[MAX_PEERS];           // of every one of them
    Mailbox* next;                         // this rank's in the next run
    Entry* outbox[MAX_PEERS];              // this rank's ring in the inbox of every one
    const Entry* inbox;                    // this rank's; the ring of sender p begins at p * capacity
    const Distance* distances[MAX_PEERS];  // in each rank's memory: distances of the vertices that it owns
    u32 owned[MAX_PEERS];                  // number of these vertices
    u32 mirrors[MAX_PEERS];                // where their mirrors begin
    double limit;                          // up to where a rank may work before the first verdict
    double ahead;                          // how far beyond the bucket that all share a rank may work
    double widest;                         // that bucket
    double bound;                          // distances beyond it are not relaxed in this launch
    u32 me;
    u32 count;       // 1 when there is nobody to exchange with in the kernel
    u32 capacity;    // entries of a ring, a power of two
    u32 first;       // the first one's number among all ranks
    Ending* ending;  // in host memory
};

// What a step may exchange with one peer: positions in rings, counted since the start of the run.
struct PeerCursors {
    u64 room;             // where its outbox is full
    u64 ll_room;          // and where its low-latency ring is
    u64 begin;            // its entries to take: from here, where all before have been read, ...
    u64 end;              // ... to
    u32 pulls_done;       // its dense pulls that this rank has done
    u32 pulls_requested;  // its dense pulls requested so far; this step does the new one, ...
    float pull_below;     // ... up to this distance
    u32 unused;
};

// The decisions of the leader block for a step.
struct StepPlan {
    double limit;  // up to where this rank may work
    double from;   // where the bucket begins, if all share one
    double bound;  // that a peer has published; 0 if none has
    u32 quiet;
    u32 stopped;
    u32 arrived;     // entries in the inbox, and distances to look at, at the most as many as fit here
    u32 ll_arrived;  // something has come by a low-latency ring
    u32 sent;        // of what has arrived, entries in the inbox
    u32 near;        // near entries at the start of the step; blocks that start early may already have merged arrivals
    PeerCursors cursors[MAX_PEERS];
};

// State of the leader block between launches. Other blocks write only the counters of sent entries and
// `pull_requested`; the leader writes the rest when the launch ends.
struct Exchange {
    u64 sent[MAX_PEERS];             // places taken in each outbox, ever
    u64 ll_sent[MAX_PEERS];          // and in each low-latency ring
    u64 published_sent[MAX_PEERS];   // the part of `sent` that has been published
    u64 published_taken[MAX_PEERS];  // credits that have been returned to each sender; see pack_credits
    u64 published_pulls;             // the part of `dense_pulls` that has been published
    u64 dense_pulls;                 // dense pulls that this rank has requested since the start
    float pull_below;                // threshold of the last one
    u32 pull_requested;              // 1 if this step requests a dense pull
    double published_bound;          // pull bound that has been published; see sssp/pull_deferred.cuh
    u64 last_vote;                   // the last vote this rank has taken part in
    u64 calm;                        // rank 0: entries sent in all when the last vote was calm, plus one
    u64 epoch;                       // step epoch that has been published
    double width;                    // width of the bucket, on one rank and at rank 0, which moves it for all
};
