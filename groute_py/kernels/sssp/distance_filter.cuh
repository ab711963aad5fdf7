// A filter with few bits a vertex, for graphs whose distances do not fit in L2 but whose filter does.
//
// A vertex has the level of a distance that it has had, so the current distance is not greater. Levels rise with
// the distance from the start of the bucket. A sum of a higher level cannot improve the vertex, so its distance need
// not be read. Races and old values only make the filter weaker, never wrong:
// * a level that is missing, or overwritten by an older one, is a greater level;
// * a level of an earlier bucket, which began at a smaller distance, stands for a greater distance now;
// * a level that shares its byte with another one that is being written may fall back to its earlier value.
#pragma once

#include "layout/worklists.cuh"
#include "primitives/memory_order.cuh"

#define ALL_UNKNOWN 255  // a byte of the filter

__device__ __forceinline__ u32 level_bits(const Work& work) { return 8 >> work.fold; }

// The highest level; it also stands for all distances beyond it.
__device__ __forceinline__ u32 unknown(const Work& work) { return (1u << level_bits(work)) - 1; }

// The level of a distance as a float; to be rounded down if the distance is not before the bucket.
__device__ __forceinline__ float height_of(const Work& work, Distance bucket_begin, Distance distance) {
#if MAXIMA
    return (float)((i64)distance - (i64)bucket_begin) * work.levels;
#else
    return (float)(distance - bucket_begin) * work.levels;
#endif
}

// The first bit of a vertex's level in its byte.
__device__ __forceinline__ u32 shift_of(const Work& work, u32 vertex) {
    return (vertex & ((1u << work.fold) - 1)) * level_bits(work);
}

// The byte that a vertex's level is in.
__device__ __forceinline__ u32 filter_byte(const Work& work, u32 vertex) {
    return load_l2((const u8*)&work.filter[vertex >> work.fold]);
}

// Whether a sum may improve a vertex whose level is in that byte.
__device__ __forceinline__ bool may_improve(const Work& work, Distance bucket_begin, u32 vertex, Distance sum,
                                            u32 byte) {
    u32 level = byte >> shift_of(work, vertex) & unknown(work);
    return height_of(work, bucket_begin, sum) < (float)(level + 1) || level == unknown(work);
}

// Stores the level of a distance. `byte` is the byte as it was read before.
__device__ __forceinline__ void store_level(const Work& work, Distance bucket_begin, u32 vertex, Distance distance,
                                            u32 byte) {
    float height = height_of(work, bucket_begin, distance);
    u32 level = height < (float)unknown(work) ? (u32)max(height, 0.0f) : unknown(work);
    u32 shift = shift_of(work, vertex), others = byte & ~(unknown(work) << shift);
    work.filter[vertex >> work.fold] = (u8)(others | level << shift);
}
