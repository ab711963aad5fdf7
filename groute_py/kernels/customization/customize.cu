// Customization: lengths of the arcs of a hierarchy from the weights of a graph (Dibbelt, Strasser and Wagner,
// "Customizable contraction hierarchies", 2016). The order of elimination and the triangles do not depend on weights;
// see hierarchy/separators/customizable.py.
//
// A level of the elimination tree is a range of vertices, of their arcs, and of the triangles whose lowest vertex is
// one of them. Levels come one after another, the deepest first; within a level each thread takes a triangle.

#include "customization/lengths.cuh"
#include "customization/levels.cuh"
#include "primitives/warp.cuh"

// Lists the triangles of each vertex: two of its arcs upward, and the arc between their heads, of which the first one's
// is the tail. A warp takes a vertex. Heads descend in each row.
// starts: where the triangles of each vertex begin, vertices + 1.
extern "C" __global__ void list_triangles(u32 vertices, const u32* offsets, const u32* heads, const u32* starts,
                                          u32* first, u32* second, u32* top) {
    const u32 warps = gridDim.x * (blockDim.x / 32);
    for (u32 low = (blockIdx.x * blockDim.x + threadIdx.x) / 32; low < vertices; low += warps) {
        const u32 begin = offsets[low], stop = offsets[low + 1];
        u32 triangle = starts[low];
        for (u32 i = begin; i + 1 < stop; i++) {
            const u32 row = offsets[heads[i]], row_stop = offsets[heads[i] + 1];
            for (u32 j = i + 1 + lane(); j < stop; j += 32) {
                u32 from = row, to = row_stop - 1;
                while (from < to) {
                    const u32 middle = (from + to) / 2;
                    if (heads[middle] > heads[j])
                        from = middle + 1;
                    else
                        to = middle;
                }
                const u32 place = triangle + j - i - 1;
                first[place] = i;
                second[place] = j;
                top[place] = from;
            }
            triangle += stop - i - 1;
        }
    }
}

// No arc has a length.
extern "C" __global__ void begin_lengths(Length* lengths, u64 count, u32* flags) {
    const u64 thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread == 0) *flags = 0;
    for (u64 i = thread; i < count; i += gridDim.x * blockDim.x) lengths[i] = NOTHING;
}

// Lowers lengths to the weights of the graph's arcs. Slots: twice the arc upward, and one more for the way down; below
// 0 for loops. A weight above LIMIT stays above it.
extern "C" __global__ void fold_weights(const i64* weights, const int* slots, u32 count, Length* lengths) {
    for (u32 arc = blockIdx.x * blockDim.x + threadIdx.x; arc < count; arc += gridDim.x * blockDim.x) {
        const int slot = slots[arc];
        if (slot >= 0) atomicMin(lengths + slot, (Length)min((u64)weights[arc], (u64)LIMIT + 1));
    }
}

// The triangles of some levels, the deepest first. Those that lower the same arc meet at it; no thread reads an arc
// that another one of its level lowers.
extern "C" __global__ void __launch_bounds__(LEVEL_BLOCK)
    relax_levels(const u32* bounds, u32 first_level, u32 last_level, const u32* first, const u32* second,
                 const u32* top, Both* lengths) {
    each_level<false>(bounds, first_level, last_level, [&](u32, u32 begin, u32 end) {
        for (u32 triangle = begin + grid_thread(); triangle < end; triangle += grid_threads()) {
            const Both low = load_both(lengths + first[triangle]), high = load_both(lengths + second[triangle]);
            Both* place = lengths + top[triangle];
            const Both known = load_both(place);
            const Length up = sum_of(low.down, high.up), down = sum_of(high.down, low.up);
            if (up < known.up) atomicMin(&place->up, up);
            if (down < known.down) atomicMin(&place->down, down);
        }
    });
}

// Reports lengths that are too great for their type.
extern "C" __global__ void check_lengths(const Length* lengths, u64 count, u32* flags) {
    bool wide = false;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        wide |= is_wide(lengths[i]);
    if (wide) atomicOr(flags, TOO_WIDE);
}
