// Number types. The host defines these macros (options() in source.py); 0 compiles the code out:
// * DISTANCE: 0 int32, 1 int64, 2 float32, 3 float64
// * MAXIMA: 1 if the distances are ranks, of which a path has the greatest of its arcs; see primitives/algebra.cuh
// * WIDE_OFFSETS: 1 if the largest share has 2^31 arcs or more
// * EXCHANGES: 1 if kernels of several GPUs exchange distances; HALO: 1 if arcs may lead to vertices of other ranks
// * PULLS: 1 if long arcs may be pulled, see sssp/pull_deferred.cuh
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#if DISTANCE == 0 && MAXIMA
typedef u32 Distance;
#define LARGEST_DISTANCE 0xffffffffu
#elif DISTANCE == 0
typedef int Distance;
#define LARGEST_DISTANCE 2147483647
#elif DISTANCE == 1
typedef i64 Distance;
#define LARGEST_DISTANCE 9223372036854775807ll
#elif DISTANCE == 2
typedef float Distance;
#define LARGEST_DISTANCE __int_as_float(0x7f800000)
#else
typedef double Distance;
#define LARGEST_DISTANCE __longlong_as_double(0x7ff0000000000000ll)
#endif

// Meanings of the largest distance, which is also the minimum of no distances.
#define UNREACHED LARGEST_DISTANCE  // the distance of a vertex that has not been reached
#define NO_BOUND LARGEST_DISTANCE   // as a pull bound: no arcs are deferred
#define NO_CUTOFF LARGEST_DISTANCE  // all distances are kept
#define NO_ARC LARGEST_DISTANCE     // the weight of an arc that does not exist

#define RECORDS (DISTANCE == 0 || DISTANCE == 2)  // whether predecessors can be recorded

#define INFINITE __longlong_as_double(0x7ff0000000000000ll)

#if WIDE_OFFSETS
typedef u64 Offset;
#else
typedef u32 Offset;
#endif

#define NO_VERTEX 0xffffffffu  // no vertex: the rest of a row had no place; an unknown tail
