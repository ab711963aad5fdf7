// The predecessors of many rows of distances from in-arcs, one block a row.
//
// An arc is tight where it makes the distance of its head. A tight arc that rises may be taken at
// once; a level one (of weight 0, or lost in rounding) only from a vertex that has its predecessor
// already, so that no cycle closes: see docs/architecture.md, "Predecessors". An arc from the source
// itself is preferred.

#include "primitives/access.cuh"
#include "primitives/algebra.cuh"

#define NO_PARENT -1
#define OPEN -2

// arcs are those of the reversed graph: their heads are tails.
extern "C" __global__ void find_parents(const Offset* offsets, const Arc* arcs, u32 vertices, const u32* sources,
                                        const Distance* rows, int* parents) {
    __shared__ int left;
    const Distance* distance = rows + (u64)blockIdx.x * vertices;
    volatile int* parent = parents + (u64)blockIdx.x * vertices;
    u32 source = sources[blockIdx.x];
    if (threadIdx.x == 0) left = 0;
    __syncthreads();
    for (u32 v = threadIdx.x; v < vertices; v += blockDim.x) {
        Distance known = distance[v];
        int found = NO_PARENT;
        if (v != source && known < UNREACHED) {
            found = OPEN;
            for (Offset a = offsets[v]; a < offsets[v + 1]; a++) {
                Arc arc = load(arcs + a);
                Distance before = distance[arc.head];
                if (before > known || extend(before, arc.weight) != known) continue;
                if (arc.head == source) {
                    found = (int)source;
                    break;
                }
                if (before < known) found = (int)arc.head;
            }
            if (found == OPEN) left = 1;
        }
        parent[v] = found;
    }
    for (;;) {
        __syncthreads();
        bool again = left;
        __syncthreads();
        if (!again) return;
        if (threadIdx.x == 0) left = 0;
        __syncthreads();
        for (u32 v = threadIdx.x; v < vertices; v += blockDim.x) {
            if (parent[v] != OPEN) continue;
            for (Offset a = offsets[v]; a < offsets[v + 1]; a++) {
                Arc arc = load(arcs + a);
                bool level = distance[arc.head] == distance[v] && extend(distance[v], arc.weight) == distance[v];
                if (level && parent[arc.head] >= 0) {
                    parent[v] = (int)arc.head;
                    left = 1;  // open vertices may get a predecessor in the next pass
                    break;
                }
            }
        }
    }
}
