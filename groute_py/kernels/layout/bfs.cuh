#pragma once

#include "layout/types.cuh"

struct Search {
    const Offset* incoming;  // own + 1: where the incoming arcs of a vertex begin in `tails`
    const u32* tails;
    const u32* unreachable;  // bit a vertex: it has no incoming arcs
    u32* seen;               // bit a vertex: reached, or not reachable
    u32* frontier[2];        // bit a vertex
    uint2* chunks[2];        // (vertex, chunk) of the frontier's rows
    u32* parent;
};

struct Progress {
    u64 arcs[3];      // that leave the frontier; by level: read, written, cleared
    u64 unexplored;   // arcs of vertices that were not reached
    u64 looked;       // arcs looked at
    u32 listed[3];    // chunks, likewise
    u32 vertices[3];  // of the frontier, likewise
    u32 level;        // of the frontier
    u32 bottom_up;    // the frontier is a bitmap
};
