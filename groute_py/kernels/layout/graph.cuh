// A rank's share of the graph.
//
// Local vertex numbers: first the owned vertices, then the mirrors (all vertices that peers own, in order), then the
// halo (vertices of other ranks that are heads of arcs here). Without peers there are no mirrors.
#pragma once

#include "layout/types.cuh"

// An arc in one load: 8 bytes with 32-bit distances, 16 with 64-bit ones.
struct alignas(2 * sizeof(Distance)) Arc {
    Distance weight;
    u32 head;
};

struct Share {
    const Offset* offsets;     // rows + 1
    const Arc* arcs;           // heads in local numbers: owned, or of the halo
    const u8* leads;           // own, or null: bit p if peer p holds out-arcs of the vertex
    const u32* degrees;        // own, or null: out-degrees, counting the arcs at all peers
    const Offset* in_offsets;  // own + 1, or null; see sssp/pull_deferred.cuh
    const Arc* in_arcs;        // transposed arcs, sorted by head; their `head` fields hold the tails
    const u32* halo_home;      // the number a halo vertex has at its owner
    const u32* halo_starts;    // peers + 1; the halo of owner p is halo_starts[p] .. halo_starts[p + 1]
    u64 first;                 // global number of vertex 0
    u32 own;
    u32 rows;  // own, and mirrors of the peers' vertices
    u32 halo;
    u32 before;  // mirrors whose global numbers are below `first`
    u32 peers;   // number of all ranks, including other hosts
    float unit;  // unit of weight classes, a power of two, or 0 for none; see sssp/min_out_weight.cuh
};
