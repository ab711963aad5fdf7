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

// Counts the arcs of row v that go to peer p in counts[p * own + v], and all in degrees[v]; marks in `leads` to whom
// some go.
extern "C" __global__ void count_redistributed(const __grid_constant__ Share share, const __grid_constant__ Team team,
                                               u32* counts, u8* leads, u32* degrees) {
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
        if (lane() == 0) {
            leads[row] = (u8)to;
            degrees[row] = (u32)(share.offsets[row + 1] - share.offsets[row]);
        }
    }
}

// Calls `visit(tile, counts, begin, end)` with the counts of a peer, and the rows from `begin` to `end` of them. A warp
// takes a tile; those of a peer follow each other.
template <class Visit>
__device__ __forceinline__ void visit_tiles(const u32* counts, u32 own, u32 peers, u32 length, Visit visit) {
    const u32 tiles = (own + length - 1) / length;
    for (u32 tile = grid_warp(); tile < peers * tiles; tile += grid_warps()) {
        const u32 begin = tile % tiles * length;
        visit(tile, counts + (u64)(tile / tiles) * own, begin, min(own, begin + length));
    }
}

// Adds what is in each tile of `length` counts to arcs[tile], and how many of them are not 0 to rows[tile].
extern "C" __global__ void sum_tiles(const u32* counts, u32 own, u32 peers, u32 length, u64* arcs, u64* rows) {
    visit_tiles(counts, own, peers, length, [&](u32 tile, const u32* mine, u32 begin, u32 end) {
        u64 sum = 0, some = 0;
        for (u32 row = begin + lane(); row < end; row += 32) {
            sum += mine[row];
            some += mine[row] > 0;
        }
        warp_add_to(&arcs[tile], sum);
        warp_add_to(&rows[tile], some);
    });
}

// Writes where each row begins in what each peer takes; the first row of a tile begins at begins[tile].
extern "C" __global__ void begin_redistributed(const u32* counts, u32 own, u32 peers, u32 length, const u64* begins,
                                               u64* starts) {
    visit_tiles(counts, own, peers, length, [&](u32 tile, const u32* mine, u32 begin, u32 end) {
        u64* places = starts + (mine - counts);
        u64 next = begins[tile];
        for (u32 base = begin; base < end; base += 32) {
            const u32 row = base + lane();
            const u64 arcs = row < end ? mine[row] : 0, through = warp_inclusive_sum(arcs);
            if (row < end) places[row] = next + through - arcs;
            next += __shfl_sync(~0u, through, 31);
        }
    });
}

// Writes the beginnings of this rank's rows to each peer, from rows[p] on; they have 4 bytes there or 8, whatever
// offsets have here.
extern "C" __global__ void send_beginnings(const u64* starts, u32 own, u32 peers, void* const* rows, u32 bytes) {
    const u32 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= own) return;
    for (u32 p = 0; p < peers; p++) {
        const u64 start = starts[(u64)p * own + row];
        if (bytes == 4)
            ((u32*)rows[p])[row] = (u32)start;
        else
            ((u64*)rows[p])[row] = start;
    }
}

// Writes the arcs of row v that go to peer p from starts[p * own + number of v] of boxes[p], with the numbers that p
// gives to their heads. `rows` is how many rows this rank has then.
extern "C" __global__ void redistribute_arcs(const __grid_constant__ Share share, const __grid_constant__ Team team,
                                             const u64* starts, Arc* const* boxes, u32 rows, const u32* numbers) {
    for (u32 row = grid_warp(); row < share.own; row += grid_warps()) {
        u64 next = 0;  // lane p: of peer p
        if (lane() < team.count) next = starts[(u64)lane() * share.own + number_in(numbers, row)];
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
