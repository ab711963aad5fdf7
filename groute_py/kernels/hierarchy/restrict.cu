// The vertices that paths to some vertices may come down through: those above them.

#include "layout/types.cuh"

// Marks the heads of the marked places of a level, those from `begin` to `end`. They lie in levels before it, so levels
// are gone through outermost first. marked: 1 for each marked place.
extern "C" __global__ void mark_above(const u32* offsets, const u32* heads, u32 begin, u32 end, u32* marked) {
    for (u32 place = begin + blockIdx.x * blockDim.x + threadIdx.x; place < end; place += gridDim.x * blockDim.x) {
        if (!marked[place]) continue;
        for (u32 arc = offsets[place]; arc < offsets[place + 1]; arc++) marked[heads[arc]] = 1;
    }
}
