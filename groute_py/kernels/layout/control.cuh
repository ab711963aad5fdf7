// The control block of one rank.
#pragma once

#include "layout/exchange.cuh"

// Words of the grid barrier. Blocks count arrivals in one word and wait for one of RELEASE_WORDS others: if all blocks
// polled one word, its slice of L2 would be the bottleneck. Each word has a cache line of its own.
#define RELEASE_WORDS 16

struct alignas(128) BarrierWord {
    u32 round;
};

struct GridBarrier {
    alignas(128) u32 arrived;
    BarrierWord released[RELEASE_WORDS];
};

// The part of the control block that every block reads at the start of a step.
struct Seen {
    Distance least_far[2];  // of the far list of that side, after a split
    Distance late;          // least distance before its bucket that arrived or was relaxed since the last pull
    u32 step;               // number of steps and splits so far; selects the current lists and counters
    u32 far_side;           // which far list is current
    u32 near_count[3];      // rotating: read, written, cleared
    u32 chunk_count[3];     // likewise
    u32 far_count[2];
    u32 any_spilled;
    u32 unlisted;  // 1 if far has no list: a split scans all vertices
    StepPlan plan;
};

// All counters of one share. The host reads it after each slice.
struct Control : Seen {
    Exchange exchange;
    u64 relaxations;
    u64 steps;
    double floor;           // lower bound of the distances left to work on; infinite if none are left
    Distance threshold;     // entries below it are near
    Distance bucket_begin;  // start of the bucket that ends at the threshold
    Distance bound;         // where deferred arcs are pulled, or NO_BOUND; see sssp/pull_deferred.cuh
    Distance base;          // start of the bucket in which arcs were first deferred
    u32 taken[3];           // near entries handed out to warps of a grid-wide step; rotates: read, written, cleared
    u32 chunks_taken[3];    // the same for row chunks
    u32 cut_count[2];       // row chunks that a step relaxes itself; alternates: counted, cleared
    u32 depth_reached_in;   // last step, from 1, in which a block other than a listening leader reached the depth limit
    u32 dirty_count;
    u32 overflowed;  // 1 if a sum did not fit in the distance type
    u32 level;       // 1 if some tight arc is level
    u32 claimed_count;
    u32 unrecorded;  // reached vertices without a record
    u32 polls;       // how often the leader has taken words from low-latency rings, if COUNTS_POLLS
    GridBarrier barrier;
};
