// Predecessors in a symmetric graph: the arcs that lead to a vertex weigh as much as those that leave it, so each
// vertex looks for its own. Others are assigned by sssp/assign_predecessors.cu.

#include "layout/graph.cuh"
#include "primitives/arithmetic.cuh"
#include "primitives/memory_order.cuh"

// Only arcs that rise are taken, so that parents are a tree. *missing is set if a vertex has none, which is so where
// arcs weigh 0.
extern "C" __global__ void find_rising(const __grid_constant__ Share share, const Distance* distances, u32 source,
                                       i64* parents, u32* missing) {
    for (u32 v = blockIdx.x * blockDim.x + threadIdx.x; v < share.own; v += gridDim.x * blockDim.x) {
        const Distance distance = distances[v];
        i64 parent = -1;
        const Offset end = distance == UNREACHED || v == source ? 0 : share.offsets[v + 1];
        for (Offset i = share.offsets[v]; i < end && parent < 0; i++) {
            const Arc arc = share.arcs[i];
            const Distance before = load_read_only(&distances[arc.head]);
            if (before < distance && plus(before, arc.weight) == distance) parent = arc.head;
        }
        parents[v] = parent;
        if (parent < 0 && distance != UNREACHED && v != source) *missing = 1;
    }
}
