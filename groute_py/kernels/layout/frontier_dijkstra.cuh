#pragma once

#include "layout/types.cuh"

struct Frontier {
    Distance* lightest;  // of a vertex's incoming arcs
    u32* closed;         // CLOSED, or 0
    u32* skip;           // arcs at the beginning of a row that lead to closed vertices
    u32* open[2];        // read from one, written to the other; own entries
};

struct Tally {
    Distance least[3];  // L; by round: read, written, cleared
    Distance bound[3];  // D
    u32 open_count[3];  // likewise
};

struct Rounds {
    u64 relaxations;
    u64 settled;
    u64 rounds;
    u32 overflowed;
    u32 padding;
    Tally tally;
};
