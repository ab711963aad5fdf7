// From rows with global heads to a share: the vertices of other ranks that arcs lead to become its halo, and heads get
// local numbers; see groute_py/partition/share.py. The rank owns vertices low to high - 1.

#include "layout/types.cuh"
#include "primitives/warp.cuh"

// Marks each vertex of another rank that an arc leads to.
extern "C" __global__ void mark_heads(const u32* heads, u64 count, u32 low, u32 high, u32* marks) {
    for (u64 i = grid_thread(); i < count; i += grid_threads()) {
        const u32 head = heads[i];
        if ((head < low || head >= high) && !marks[head]) marks[head] = 1;
    }
}

// Lists the halo of an owner, whose vertices are first to last - 1: with their global numbers, and those at the owner.
// before[v] counts marked vertices below v.
extern "C" __global__ void list_halo(const u32* before, u32 first, u32 last, i64* halo, u32* home) {
    const u32 v = first + grid_thread();
    if (v >= last || before[v] == before[v + 1]) return;
    halo[before[v]] = v;
    home[before[v]] = v - first;
}

// Replaces global numbers of heads by local ones.
extern "C" __global__ void number_heads(u32* heads, u64 count, u32 low, u32 high, const u32* before) {
    for (u64 i = grid_thread(); i < count; i += grid_threads()) {
        const u32 head = heads[i];
        heads[i] = head >= low && head < high ? head - low : high - low + before[head];
    }
}
