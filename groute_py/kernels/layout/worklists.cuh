// The worklists and working arrays of one rank.
#pragma once

#include "layout/graph.cuh"

// A worklist entry. It is stale, and skipped, if the vertex has a smaller distance by now: that distance has an
// entry of its own. So a vertex may be listed twice, and no flags are needed. In far the vertex may carry a weight
// class; see vertex_in.
struct alignas(2 * sizeof(Distance)) Entry {
    Distance distance;
    u32 vertex;
};

// A chunk of a long row: at most ROW_CHUNK arcs, from arc `number` * ROW_CHUNK of the row.
struct alignas(16) RowChunk {
    Distance distance;
    u32 vertex;
    u32 number;
};

struct Work {
    Distance* distance;  // rows + halo
    Entry* near[2];      // entries below the threshold: read from one, written to the other
    u32* near_tail[2];   // for each near entry the tail of the arc that produced it, or null; see
                         // sssp/predecessor_record.cuh
    Entry* far[2];       // entries at or above the threshold
    u32* far_tail[2];
    u32* spilled;            // spill bitmap, a bit a row: near had no place for an entry of the vertex
    u32* dirty;              // halo vertices that improved since the last outbox, each once
    u32* dirty_bits;         // bit a halo vertex
    RowChunk* chunks[2];     // chunks of long rows, like near
    i64* parent;             // rows + halo; global number, or -1; for a mirror only whether it has a predecessor
    u64* record;             // own, or null; see sssp/predecessor_record.cuh
    u8* filter;              // (own >> fold) + 1, or null; see sssp/distance_filter.cuh
    u32* claimed;            // rows; vertices that may claim onward
    Distance* box_distance;  // halo; the outboxes, owner by owner
    i64* box_parent;
    u32* box_vertex;
    u32* box_count;    // peers
    u32 capacity;      // of near lists
    u32 far_capacity;  // of far lists; `far_count` also counts entries that had no place
    u32 far_few;       // at most far_capacity; with more entries than this a split scans all vertices, not the list
    u32 chunk_capacity;
    float levels;  // to a unit of distance
    u32 fold;      // a byte has the levels of 1 << fold vertices
    u32 mean_degree;
    float pull_below_width;  // buckets of this width or more have few deferred arcs
    float pull_reach;        // a width; the pull bound lies half of it beyond the bucket
    u64 pull_from_arcs;      // a step with this many arcs defers those that lead far; 0: never
};
