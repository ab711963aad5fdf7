// Transposed arcs (in-arcs) of a share, for sssp/pull_deferred.cuh. All heads are vertices that the rank owns.

#include "primitives/access.cuh"
#include "primitives/vertices.cuh"
#include "primitives/warp.cuh"

__device__ __forceinline__ u64 mixed(u64 bits) {  // the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebull;
    return bits ^ bits >> 31;
}

// A hash of an arc by global vertex numbers and weight, different for each seed.
__device__ __forceinline__ u64 number_of(u64 tail, u64 head, u64 weight, u64 seed) {
    return mixed(mixed(mixed(seed + tail) + head) + weight);
}

__device__ __forceinline__ u64 weight_bits(const Arc& arc) {
#if DISTANCE == 0 || DISTANCE == 2
    return *(const u32*)&arc.weight;
#else
    return *(const u64*)&arc.weight;
#endif
}

// Calls `visit(tail, arc)` for each arc, a warp a row.
template <class Visit>
__device__ __forceinline__ void visit_arcs(const Share& share, Visit visit) {
    for (u32 row = grid_warp(); row < share.rows; row += grid_warps()) {
        const Offset end = share.offsets[row + 1];
        for (Offset i = share.offsets[row] + lane(); i < end; i += 32) visit(row, load(&share.arcs[i]));
    }
}

// Adds the hashes of all arcs and subtracts those of the reversed arcs. Over all ranks the sum is 0 if the graph is
// symmetric, and almost never otherwise.
extern "C" __global__ void sum_asymmetry(const __grid_constant__ Share share, u64 seed, u64* sum) {
    u64 mine = 0;
    visit_arcs(share, [&](u32 tail, const Arc& arc) {
        u64 weight = weight_bits(arc), from = global_number(share, tail), to = global_number(share, arc.head);
        mine += number_of(from, to, weight, seed) - number_of(to, from, weight, seed);
    });
    warp_add_to(sum, mine);
}

// Counts the arcs that lead to each vertex.
extern "C" __global__ void count_in_arcs(const __grid_constant__ Share share, u32* counts) {
    visit_arcs(share, [&](u32, const Arc& arc) { atomicAdd(&counts[arc.head], 1u); });
}

// Writes the arcs to each vertex from its cursor on, in no order.
extern "C" __global__ void transpose_arcs(const __grid_constant__ Share share, Offset* cursors, Arc* in_arcs) {
    visit_arcs(share, [&](u32 tail, Arc arc) {
        const Offset place = atomicAdd(&cursors[arc.head], (Offset)1);
        arc.head = tail;
        in_arcs[place] = arc;
    });
}
