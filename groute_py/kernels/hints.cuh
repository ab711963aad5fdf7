// What is known of distances in one byte a vertex, for graphs whose distances do not fit in L2 but whose
// bytes do.
//
// A hint is the level of some distance that its vertex has had: no nearer than the one it has now. Levels
// rise with distances, so a sum of a higher level improves nothing, and its vertex need not be looked at.
// Hints that are written in another order than distances fell, or not at all, only say less.
#pragma once

#define UNKNOWN 255u  // also of all that is too far to tell

__device__ __forceinline__ u32 level_of(const Work& work, Distance distance) {
    float level = (float)distance * work.levels;
    return level < UNKNOWN ? (u32)max(level, 0.0f) : UNKNOWN;
}

__device__ __forceinline__ u32 hint_of(const Work& work, u32 vertex) {
    return __ldcg((const u8*)&work.hints[vertex]);
}

__device__ __forceinline__ void leave_hint(const Work& work, u32 vertex, Distance distance) {
    if (work.hints) work.hints[vertex] = (u8)level_of(work, distance);
}
