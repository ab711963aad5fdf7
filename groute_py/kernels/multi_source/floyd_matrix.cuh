// The matrices of Floyd-Warshall: the unreached distance, and the sizes of tiles.
#pragma once

#include "layout/types.cuh"

// Unreached. The sum of two does not wrap; sums that come here do not count as paths.
#if DISTANCE == 0
#define BEYOND 1073741823
#elif DISTANCE == 1
#define BEYOND 4611686018427387903ll
#else
#define BEYOND LARGEST_DISTANCE
#endif

#define TILE 128  // a block's results are TILE × TILE
#define SIDE 8    // a thread's are SIDE × SIDE: 16 × 16 threads
#define SQUARE 256
#define MIDDLES 8  // middle vertices in shared memory at once

#if DISTANCE == 0 || DISTANCE == 2
#define FLOYD_BLOCKS 2
typedef int4 Vector;
#else
#define FLOYD_BLOCKS 1
typedef longlong2 Vector;
#endif
#define WIDTH (16 / (int)sizeof(Distance))  // of a vector: one 16-byte access
#define VECTORS (SIDE / WIDTH)              // a thread's results a side, in vectors

union Pack {
    Vector vector;
    Distance each[WIDTH];
};
