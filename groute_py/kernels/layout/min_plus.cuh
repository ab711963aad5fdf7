#pragma once

#include "layout/graph.cuh"

struct Incoming {
    const Offset* offsets;   // CSR: own + 1
    const Arc* arcs;         // CSR: heads are the tails
    const Arc* slots;        // ELL: slot k of vertex v at k * own + v; a weight of NO_ARC is none
    const Distance* matrix;  // dense: weight of the arc u -> v at v * own + u, NO_ARC where none is
    u32 width;               // ELL: slots a vertex
    u32 staged;              // dense: rows a block keeps in shared memory
};

struct Sweep {
    u64 relaxations;
    u64 rounds;
    u32 changed[3];  // by round: read, written, cleared
    u32 overflowed;
};
