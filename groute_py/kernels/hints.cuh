// What is known of distances in few bits a vertex, for graphs whose distances do not fit in L2 but
// whose bits do.
//
// A hint is the level of some distance that its vertex has had: no nearer than the one it has now. Levels
// rise with distances from where the window begins, so a sum of a higher level improves nothing, and its
// vertex need not be looked at. A hint may say less than it could, never more: one that was written in
// another order than distances fell, or not at all; one of a window before, which began nearer (the same
// level is farther away now); one that shares its byte with another that is being written, and becomes
// what it was when that byte was looked at.
#pragma once

#define ALL_UNKNOWN 255  // a byte of hints

__device__ __forceinline__ u32 hint_bits(const Work& work) { return 8 >> work.fold; }

// The highest level, which is also of all that is too far to tell.
__device__ __forceinline__ u32 unknown(const Work& work) { return (1u << hint_bits(work)) - 1; }

// Rounded down it is the level of what is not nearer than the window's beginning.
__device__ __forceinline__ float height_of(const Work& work, Distance window, Distance distance) {
    return (float)(distance - window) * work.levels;
}

// Where in its byte a vertex's hint begins.
__device__ __forceinline__ u32 shift_of(const Work& work, u32 vertex) {
    return (vertex & ((1u << work.fold) - 1)) * hint_bits(work);
}

// The byte that a vertex's hint is in.
__device__ __forceinline__ u32 hints_with(const Work& work, u32 vertex) {
    return __ldcg((const u8*)&work.hints[vertex >> work.fold]);
}

// Whether a sum may improve a vertex whose hint is in that byte.
__device__ __forceinline__ bool may_improve(const Work& work, Distance window, u32 vertex, Distance sum, u32 hints) {
    u32 hint = hints >> shift_of(work, vertex) & unknown(work);
    return height_of(work, window, sum) < (float)(hint + 1) || hint == unknown(work);
}

// `hints` is the byte as it was when it was looked at.
__device__ __forceinline__ void leave_hint(const Work& work, Distance window, u32 vertex, Distance distance,
                                           u32 hints) {
    float height = height_of(work, window, distance);
    u32 level = height < (float)unknown(work) ? (u32)max(height, 0.0f) : unknown(work);
    u32 shift = shift_of(work, vertex), others = hints & ~(unknown(work) << shift);
    work.hints[vertex >> work.fold] = (u8)(others | level << shift);
}
