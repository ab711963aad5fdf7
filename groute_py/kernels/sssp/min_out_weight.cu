// Computes weight classes; see sssp/min_out_weight.cuh. Rows ascend by weight, and in-rows and out-rows hold
// the same arcs.

#include "primitives/access.cuh"
#include "primitives/warp.cuh"
#include "sssp/min_out_weight.cuh"

// The lightest arc of a row: its head, its weight class, and the weight class of the lightest arc to another vertex.
struct Lightest {
    u32 head;
    u16 first, elsewhere;
};

extern "C" __global__ void find_lightest(const __grid_constant__ Share share, Lightest* lightest) {
    u32 stride = gridDim.x * blockDim.x;
    for (u32 v = blockIdx.x * blockDim.x + threadIdx.x; v < share.own; v += stride) {
        Offset place = share.in_offsets[v], end = share.in_offsets[v + 1];
        Lightest found = {NO_VERTEX, DEAD_END, DEAD_END};
        if (place < end) {
            Arc first = load(&share.in_arcs[place]), other = first;
            while (other.head == first.head && ++place < end) other = load(&share.in_arcs[place]);
            found.head = first.head;
            found.first = (u16)weight_class_of(share, first.weight);
            if (place < end) found.elsewhere = (u16)weight_class_of(share, other.weight);
        }
        lightest[v] = found;
    }
}

// Stores the weight class of each arc in the upper bits of its head.
extern "C" __global__ void store_weight_classes(const __grid_constant__ Share share, const Lightest* lightest) {
    for (u32 row = grid_warp(); row < share.rows; row += grid_warps()) {
        const Offset end = share.offsets[row + 1];
        for (Offset i = share.offsets[row] + lane(); i < end; i += 32) {
            Arc* arc = (Arc*)&share.arcs[i];
            u32 head = load(arc).head;
            Lightest on = lightest[head];
            arc->head = with_weight_class(head, on.head == row ? on.elsewhere : on.first);
        }
    }
}
