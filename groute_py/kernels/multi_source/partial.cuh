// The numbers that rows of distances are reduced to, as some vertices of a row make them.
#pragma once

#include "layout/types.cuh"

#if DISTANCE < 2
typedef i64 Wide;
#define WIDE_LARGEST 9223372036854775807ll
#else
typedef double Wide;
#define WIDE_LARGEST INFINITE
#endif

// The sum of integers is high * 2^32 + low, so that nothing is lost; that of floats is in high.
struct Partial {
    u64 low;
    Wide high, greatest;
    u32 reached, farthest;
};

// Of two vertices that are equally far the one with the lower number counts.
__device__ __forceinline__ void take_farther(Partial& mine, Wide distance, u32 vertex) {
    const bool farther = distance > mine.greatest || (distance == mine.greatest && vertex < mine.farthest);
    if (mine.reached > 0 && !farther) return;
    mine.greatest = distance;
    mine.farthest = vertex;
}

__device__ __forceinline__ void take(Partial& mine, Wide distance, u32 vertex) {
#if DISTANCE < 2
    mine.low += (u32)distance;
    mine.high += distance >> 32;
#else
    mine.high += distance;
#endif
    take_farther(mine, distance, vertex);
    mine.reached++;
}

__device__ __forceinline__ void join(Partial& mine, const Partial& other) {
    mine.low += other.low;
    mine.high += other.high;
    if (other.reached > 0) take_farther(mine, other.greatest, other.farthest);
    mine.reached += other.reached;
}
