// Predecessors from final distances: each reached vertex gets the tail of a tight arc ("is claimed by" it).
//
// An arc u->v is tight if distance[u] + weight = distance[v]. If no weight is negative, a tight arc that rises
// (distance[u] < distance[v]) may claim its head at once. Along level arcs, and along all arcs if weights are negative,
// only a vertex that has been claimed may claim. So each claim points to a smaller distance or to a vertex that was
// claimed earlier, and the claims form a tree.

#include "exchange/remote.cuh"
#include "primitives/algebra.cuh"
#include "primitives/load_balance.cuh"
#include "primitives/vertices.cuh"
#include "sssp/min_out_weight.cuh"
#include "sssp/predecessor_record.cuh"
#include "sssp/rows.cuh"
#include "sssp/worklists.cuh"

// Whether an arc from a tail at `base` is tight. The head must be reached, because a sum may equal UNREACHED.
__device__ __forceinline__ bool is_tight(Distance base, const Arc& arc, Distance head) {
    return head != UNREACHED && extend(base, arc.weight) == head;
}

// The tail of a tight arc that rises, from the in-arcs of a vertex; or NO_VERTEX.
__device__ u32 rising_tail(const Share& share, const Work& work, u32 vertex) {
    const Distance reached = work.distance[vertex];
    for (Offset i = share.in_offsets[vertex]; i < share.in_offsets[vertex + 1]; i++) {
        Arc arc = bare(load(&share.in_arcs[i]));
        Distance at = work.distance[arc.head];
        if (extend(0, arc.weight) > reached) break;  // the following arcs are no lighter
        if (at < reached && is_tight(at, arc, reached)) return arc.head;
    }
    return NO_VERTEX;
}

#define LOOKED_THROUGH 16  // longest row that is searched

// rising_tail without stored in-arcs: searches the out-arcs of the heads of this vertex's own arcs, if all these rows
// are short. In an undirected graph with short rows these include all in-arcs from vertices of this rank.
__device__ u32 rising_tail_across(const Share& share, const Work& work, u32 vertex) {
    const Distance reached = work.distance[vertex];
    const Row row = row_of(share, vertex);
    if (row.end - row.begin > LOOKED_THROUGH) return NO_VERTEX;
    for (Offset i = row.begin; i < row.end; i++) {
        const u32 tail = vertex_in(load(&share.arcs[i]).head);
        if (leaves(share, tail) || work.distance[tail] >= reached) continue;
        const Row back = row_of(share, tail);
        if (back.end - back.begin > LOOKED_THROUGH) continue;
        for (Offset j = back.begin; j < back.end; j++) {
            const Arc arc = bare(load(&share.arcs[j]));
            if (arc.head == vertex && is_tight(work.distance[tail], arc, reached)) return tail;
        }
    }
    return NO_VERTEX;
}

// Predecessors from records, which lie in the same place, unless something below a distance is left to relax. They
// hold if no reached vertex but the source (its local number) is left out: a few records were overtaken by older ones.
extern "C" __global__ void claim_recorded(const __grid_constant__ Share share, const __grid_constant__ Work work,
                                          Control* control, u32 source, double unless_below) {
    if (control->floor < unless_below) return;
    u32 stride = gridDim.x * blockDim.x;
    for (u32 v = blockIdx.x * blockDim.x + threadIdx.x; v < share.own; v += stride) {
        u64 last = work.record[v];
        bool wanted = v != source && work.distance[v] != UNREACHED;
        u32 tail = wanted && is_record_of(last, work.distance[v]) ? (u32)last : NO_VERTEX;
        if (wanted && tail == NO_VERTEX)
            tail = PULLS && share.in_offsets ? rising_tail(share, work, v) : rising_tail_across(share, work, v);
        work.parent[v] = tail != NO_VERTEX ? (i64)global_number(share, tail) : -1;
        if (wanted && tail == NO_VERTEX) atomicAdd(&control->unrecorded, 1u);
    }
}

// Mirrors' distances as their owners have them: those of short rows may not have been lowered; see `rows` in
// sssp/relax.cuh.
extern "C" __global__ void refresh_mirrors(const __grid_constant__ Peers peers, const __grid_constant__ Work work) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    for (u32 p = 0; p < peers.count; p++)
        for (u32 i = thread; p != peers.me && i < peers.owned[p]; i += stride)
            work.distance[peers.mirrors[p] + i] = get_distance(peers, p, i);
}

// The vertex whose row holds an arc, between rows low and high.
__device__ __forceinline__ u32 tail_of(const Offset* offsets, Offset arc, u32 low, u32 high) {
    while (low < high) {
        u32 middle = low + (high - low + 1) / 2;
        if (load_read_only(&offsets[middle]) <= arc)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// One pass over all arcs, BLOCK_ARCS a block, evenly whatever the degrees.
extern "C" __global__ void __launch_bounds__(BLOCK)
    claim_rising(const __grid_constant__ Share share, const __grid_constant__ Work work, Control* control) {
    __shared__ u32 rows[2];
    Offset arcs = share.offsets[share.rows];
    for (Offset begin = (Offset)blockIdx.x * BLOCK_ARCS; begin < arcs; begin += (Offset)gridDim.x * BLOCK_ARCS) {
        Offset end = min(begin + BLOCK_ARCS, arcs);
        __syncthreads();
        if (threadIdx.x < 2)
            rows[threadIdx.x] = tail_of(share.offsets, threadIdx.x ? end - 1 : begin, 0, share.rows - 1);
        __syncthreads();
        for (Offset base = begin; base < end; base += blockDim.x) {
            Offset index = base + threadIdx.x;
            bool remote = false;
            u32 head = 0;
            if (index < end) {
                u32 tail = tail_of(share.offsets, index, rows[0], rows[1]);
                Distance at = work.distance[tail];
                Arc arc = bare(load(&share.arcs[index]));
                head = arc.head;
                if (at != UNREACHED && is_tight(at, arc, work.distance[head])) {
                    if (at == work.distance[head]) {
                        if (head != tail) control->level = 1;
                    } else {
                        // several arcs may be tight: any of them may win
                        work.parent[head] = (i64)global_number(share, tail);
                        remote = head >= share.rows;
                    }
                }
            }
            if (__any_sync(~0u, remote)) warp_mark_dirty(share, work, control, head, remote);
        }
    }
}

// Lists every claimed vertex, and the source (local number, or all ones).
extern "C" __global__ void list_claimed(const __grid_constant__ Share share, const __grid_constant__ Work work,
                                        Control* control, u32 source) {
    u32 rows = share.rows, stride = gridDim.x * blockDim.x, rounded = (rows + 31) & ~31u;
    for (u32 v = blockIdx.x * blockDim.x + threadIdx.x; v < rounded; v += stride) {
        bool claimed = v < rows && (work.parent[v] >= 0 || v == source);
        u32 place = warp_slot(&control->claimed_count, claimed);
        if (claimed) work.claimed[place] = v;
    }
}

struct ClaimOnward {
    const Share& share;
    const Work& work;
    Control* control;
    u32 source;
    u32 vertex;   // this lane's
    Distance at;  // its distance

    __device__ __forceinline__ void operator()(bool active, Offset index, u32 from) {
        u32 tail = __shfl_sync(~0u, vertex, from);
        Distance base = __shfl_sync(~0u, at, from);
        bool won = false;
        u32 head = 0;
        if (active) {
            Arc arc = bare(load(&share.arcs[index]));
            head = arc.head;
            if (head != source && is_tight(base, arc, load_l2(&work.distance[head])))
                won = atomicCAS((u64*)&work.parent[head], ~0ull, global_number(share, tail)) == ~0ull;
        }
        bool remote = won && head >= share.rows;
        u32 place = warp_slot(&control->claimed_count, won && !remote);
        if (won && !remote) work.claimed[place] = head;
        if (__any_sync(~0u, remote)) warp_mark_dirty(share, work, control, head, remote);
    }
};

// Claimed vertices `begin` to `end` of the list claim along their tight arcs.
extern "C" __global__ void __launch_bounds__(BLOCK)
    claim_onward(const __grid_constant__ Share share, const __grid_constant__ Work work, Control* control, u32 source,
                 u32 begin, u32 end) {
    ClaimOnward visit{share, work, control, source, 0, 0};
    u32 warps = gridDim.x * (blockDim.x >> 5);
    u32 warp = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    for (u32 base = begin + warp * 32; base < end; base += warps * 32) {
        Offset first = 0;
        u32 degree = 0;
        if (base + lane() < end) {
            visit.vertex = work.claimed[base + lane()];
            visit.at = load_l2(&work.distance[visit.vertex]);
            first = share.offsets[visit.vertex];
            degree = (u32)(share.offsets[visit.vertex + 1] - first);
        }
        warp_expand<1>(first, degree, [&](const bool (&active)[1], const Offset(&index)[1], const u32(&from)[1]) {
            visit(active[0], index[0], from[0]);
        });
    }
}

// Takes peers' claims on owned vertices, and their word that vertices which are mirrored here have been claimed;
// the first counts. With `onward` the claimed are listed.
extern "C" __global__ void merge_claims(const __grid_constant__ Work work, Control* control, const i64* parents,
                                        const Distance* distances, const u32* vertices, u32 count, u32 source,
                                        u32 onward) {
    u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    bool won = false;
    u32 vertex = 0;
    if (index < count) {
        vertex = vertices[index];
        if (vertex != source && distances[index] == work.distance[vertex])
            won = atomicCAS((u64*)&work.parent[vertex], ~0ull, (u64)parents[index]) == ~0ull;
    }
    u32 place = warp_slot(&control->claimed_count, won && onward);
    if (won && onward) work.claimed[place] = vertex;
}
