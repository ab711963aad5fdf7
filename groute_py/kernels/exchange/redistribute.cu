// Redistribution of arcs among peers by head (incoming edge-cut): each arc moves to the owner of its head; see
// exchange/PROTOCOL.md. Arcs to vertices of other hosts stay. A warp takes a row and keeps the order of its arcs.

#include "layout/exchange.cuh"
#include "layout/graph.cuh"
#include "layout/redistribute.cuh"
#include "primitives/access.cuh"
#include "primitives/vertices.cuh"
#include "primitives/warp.cuh"

// The peer that an arc moves to.
__device__ __forceinline__ u32 destination(const Share& share, const Team& team, u32 head) {
    if (head < share.own) return team.me;
    u32 peer = owner(share, head - share.own) - team.first;
    return peer < team.count ? peer : team.me;
}

// Calls `visit(active, arc, peer)` for the arcs of a row, 32 at a time, on all lanes.
template <class Visit>
__device__ __forceinline__ void visit_row(const Share& share, const Team& team, u32 row, Visit visit) {
    const Offset end = share.offsets[row + 1];
    for (Offset base = share.offsets[row]; base < end; base += 32) {
        const bool active = base + lane() < end;
        Arc arc = {};
        if (active) arc = load(&share.arcs[base + lane()]);
        visit(active, arc, active ? destination(share, team, arc.head) : MAX_PEERS);
    }
}

// The number of an owned vertex after the redistribution; its own number if `numbers` is null.
__device__ __forceinline__ u32 number_in(const u32* numbers, u32 vertex) { return numbers ? numbers[vertex] : vertex; }

// Counts the arcs of row v that go to peer p in counts[p * own + v], and marks in `leads` to whom some go.
extern "C" __global__ void count_redistributed(const __grid_constant__ Share share, const __grid_constant__ Team team,
                                               u32* counts, u8* leads) {
    for (u32 row = grid_warp(); row < share.own; row += grid_warps()) {
        u32 mine = 0;  // lane p: of peer p
        visit_row(share, team, row, [&](bool, const Arc&, u32 peer) {
            for (u32 p = 0; p < team.count; p++) {
                u32 mask = __ballot_sync(~0u, peer == p);
                if (lane() == p) mine += __popc(mask);
            }
        });
        if (lane() < team.count) counts[(u64)lane() * share.own + row] = mine;
        u32 to = __ballot_sync(~0u, mine > 0 && lane() != team.me);
        if (lane() == 0) leads[row] = (u8)to;
    }
}

// Writes the arcs of row v that go to peer p from starts[p * (own + 1) + number of v] of boxes[p], with the numbers
// that p gives to their heads. `rows` is how many rows this rank has then.
extern "C" __global__ void redistribute_arcs(const __grid_constant__ Share share, const __grid_constant__ Team team,
                                             const u64* starts, Arc* const* boxes, u32 rows, const u32* numbers) {
    for (u32 row = grid_warp(); row < share.own; row += grid_warps()) {
        u64 next = 0;  // lane p: of peer p
        if (lane() < team.count) next = starts[(u64)lane() * (share.own + 1) + number_in(numbers, row)];
        visit_row(share, team, row, [&](bool active, Arc arc, u32 peer) {
            if (active && arc.head >= share.own) {
                u32 place = arc.head - share.own;
                arc.head = peer == team.me ? rows + place : share.halo_home[place];
            } else if (active) {
                arc.head = number_in(numbers, arc.head);
            }
            for (u32 p = 0; p < team.count; p++) {
                u32 mask = __ballot_sync(~0u, peer == p);
                u64 first = __shfl_sync(~0u, next, p);
                if (peer == p) boxes[p][first + rank_among(mask)] = arc;
                if (lane() == p) next += __popc(mask);
            }
        });
    }
}
