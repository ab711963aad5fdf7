// The data of one rank on its GPU: its share of the graph, its worklists, its control block; and warp primitives.
//
// Local vertex numbers: first the owned vertices, then the mirrors (all vertices that peers own, in order), then the
// halo (vertices of other ranks that are heads of arcs here). Without peers there are no mirrors. See peers.cuh.
#pragma once

// These structs are mirrored field by field in device/layout.py.
struct Share {
    const Offset* offsets;   // rows + 1
    const Arc* arcs;         // heads in local numbers: owned, or of the halo
    const u8* leads;         // own, or null: bit p if peer p holds out-arcs of the vertex
    const u32* degrees;      // own, or null: out-degrees, counting the arcs at all peers
    const Offset* in_offsets;  // own + 1, or null; see outer.cuh
    const Arc* in_arcs;        // transposed arcs, sorted by head; their `head` fields hold the tails
    const u32* halo_home;    // the number a halo vertex has at its owner
    const u32* halo_starts;  // peers + 1; the halo of owner p is halo_starts[p] .. halo_starts[p + 1]
    u64 first;               // global number of vertex 0
    u32 own;
    u32 rows;                // own, and mirrors of the peers' vertices
    u32 halo;
    u32 before;              // mirrors whose global numbers are below `first`
    u32 peers;               // number of all ranks, including other hosts
    float unit;              // unit of weight classes (grades), a power of two, or 0 for none; see onward.cuh
};

__device__ __forceinline__ u32 local_count(const Share& share) { return share.rows + share.halo; }

__device__ __forceinline__ bool has_halo(const Share& share) { return HALO && share.halo > 0; }

// Whether an arc with that head leads to another rank's vertex.
__device__ __forceinline__ bool leaves(const Share& share, u32 head) { return HALO && head >= share.own; }

// The global number of a vertex that has a row. If the rank has renumbered its vertices (numbered.cu) the offset from
// `first` is the new number.
__device__ __forceinline__ u64 global_number(const Share& share, u32 vertex) {
    if (vertex < share.own) return share.first + vertex;
    u32 mirror = vertex - share.own;
    return share.first - share.before + mirror + (mirror < share.before ? 0 : share.own);
}

struct Work {
    Distance* distance;     // rows + halo
    Entry* near[2];         // entries below the threshold: read from one, written to the other
    u32* near_tail[2];      // for each near entry the tail of the arc that produced it, or null; see record.cuh
    Entry* far[2];          // entries at or above the threshold
    u32* far_tail[2];
    u32* spilled;           // overflow bitmap, a bit a row: near had no place for an entry of the vertex
    u32* dirty;             // halo vertices that improved since the last outbox, each once
    u32* dirty_bits;        // bit a halo vertex
    Item* items[2];         // parts of long rows, like near
    i64* parent;            // rows + halo; global number, or -1; for a mirror only whether it has a predecessor
    u64* record;            // own, or null; see record.cuh
    u8* hints;              // (own >> fold) + 1, or null; see hints.cuh
    u32* claimed;           // rows; vertices that may claim onward
    Distance* box_distance; // halo; the outboxes, owner by owner
    i64* box_parent;
    u32* box_vertex;
    u32* box_count;         // peers
    u32 capacity;           // of near lists
    u32 far_capacity;
    u32 far_few;            // with more entries than this a split scans all vertices, not the list
    u32 item_capacity;
    float levels;           // of hints to a unit of distance
    u32 fold;               // a byte has the hints of 1 << fold vertices
    u32 mean_degree;
    float outer_below;      // windows of this width or more have few outer arcs
    float outer_reach;      // a width; the pull bound lies half of it beyond the window
    u64 outer_from;         // a step with this many arcs defers its outer arcs; 0: never
};

// Words of the grid barrier. Blocks count arrivals in one word and wait for one of GATES others: if all blocks polled
// one word, its slice of L2 would be the bottleneck. Each word has a cache line of its own.
#define GATES 16

struct alignas(128) Word {
    u32 round;
};

struct Gate {
    alignas(128) u32 arrived;
    Word released[GATES];
};

// The part of the control block that every block reads at the start of a step.
struct Seen {
    Distance least_far[2];   // of the far list of that side, after a split
    Distance late;           // least distance before its window that arrived or was relaxed since the last pull
    u32 turn;                // number of steps and splits so far; selects the current lists and counters
    u32 far_side;            // which far list is current
    u32 near_count[3];       // in turn: read, written, cleared
    u32 item_count[3];       // likewise
    u32 far_count[2];
    u32 any_spilled;
    u32 unlisted;            // 1 if far has no list: a split scans all vertices
    Orders orders;
};

// All counters of one share. The host reads it after each slice.
struct Control : Seen {
    Exchange exchange;
    u64 relaxations;
    u64 steps;
    double floor;            // lower bound of the distances left to work on; infinite if none are left
    Distance threshold;      // entries below it are near
    Distance window;         // start of the window that ends at the threshold
    Distance bound;          // where outer arcs are pulled, or NOTHING; see outer.cuh
    Distance base;           // start of the window in which arcs were first deferred
    u32 taken[3];            // near entries handed out to warps of a thick step; rotates: read, written, cleared
    u32 items_taken[3];      // the same for row chunks
    u32 cut_count[2];        // row chunks that a step relaxes itself; alternates: counted, cleared
    u32 bottomed;            // last step, from 1, in which a block other than a listening leader reached the depth limit
    u32 dirty_count;
    u32 overflowed;          // 1 if a sum did not fit in the distance type
    u32 level;               // 1 if some tight arc is level
    u32 claimed_count;
    u32 unrecorded;          // reached vertices without a record
    Gate gate;
};

// The owner of a halo vertex, given by its place in the halo.
__device__ __forceinline__ u32 owner(const Share& share, u32 place) {
    u32 low = 0, high = share.peers;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (share.halo_starts[middle] <= place) low = middle;
        else high = middle;
    }
    return low;
}

__device__ __forceinline__ u32 lane() { return threadIdx.x & 31; }

// The number of this warp in the grid. Consecutive numbers are in different blocks, so that few entries use all blocks.
__device__ __forceinline__ u32 grid_warp() { return (threadIdx.x >> 5) * gridDim.x + blockIdx.x; }

__device__ __forceinline__ u32 grid_warps() { return (blockDim.x >> 5) * gridDim.x; }

// The same numbers in reverse order, for arrivals that are processed beside near entries: few of both do not share a
// warp. The leader block comes last.
__device__ __forceinline__ u32 grid_warp_from_behind() {
    u32 block = (2 * gridDim.x - 2 - blockIdx.x) % gridDim.x;
    return ((blockDim.x - 1 - threadIdx.x) >> 5) * gridDim.x + block;
}

// The number of lanes in a mask below this lane.
__device__ __forceinline__ u32 rank_among(u32 mask) { return __popc(mask & ((1u << lane()) - 1)); }

// Inclusive prefix sum over the lanes of a warp; all 32 lanes call it.
__device__ __forceinline__ u32 sum_upto(u32 mine) {
#pragma unroll
    for (int step = 1; step < 32; step <<= 1) {
        u32 before = __shfl_up_sync(~0u, mine, step);
        if (lane() >= step) mine += before;
    }
    return mine;
}

// One slot for each lane with `wanted`, by one atomic a warp; all 32 lanes call it.
__device__ __forceinline__ u32 slot(u32* count, bool wanted) {
    u32 mask = __ballot_sync(~0u, wanted);
    if (!mask) return 0;
    int leader = __ffs(mask) - 1;
    u32 base = 0;
    if ((int)lane() == leader) base = atomicAdd(count, (u32)__popc(mask));
    base = __shfl_sync(~0u, base, leader);
    return base + rank_among(mask);
}

// Adds the values of all lanes to a sum, with one atomic a warp; all 32 lanes call it. With an atomic a thread a kernel
// ends 70 us later.
__device__ __forceinline__ void add_up(u64* sum, u64 mine) {
    for (u32 apart = 16; apart; apart /= 2) mine += __shfl_xor_sync(~0u, mine, apart);
    if (lane() == 0 && mine) atomicAdd(sum, mine);
}

// Lowers a distance to the minimum over the lanes, with one atomic a warp; all 32 lanes call it.
__device__ __forceinline__ void lower(Distance* place, Distance mine) {
    for (u32 apart = 16; apart; apart /= 2) mine = min(mine, __shfl_xor_sync(~0u, mine, apart));
    if (lane() == 0 && mine != NOTHING) atomic_min(place, mine);
}

// Sets a vertex's bit; true if it was clear.
__device__ __forceinline__ bool set_bit(u32* bits, u32 vertex) {
    u32 bit = 1u << (vertex & 31);
    return !(atomicOr(&bits[vertex >> 5], bit) & bit);
}

// A global list.
struct List {
    Entry* entries;
    u32* tails;  // beside them, or null
    u32* count;
    u32 capacity;
    bool far;
};

__device__ __forceinline__ List near_list(const Work& work, Control* control, u32 turn) {
    return {work.near[turn % 2], work.near_tail[turn % 2], &control->near_count[turn % 3], work.capacity,
            false};
}

__device__ __forceinline__ List far_list(const Work& work, Control* control, u32 side) {
    return {work.far[side], work.far_tail[side], &control->far_count[side], work.far_capacity, true};
}

__device__ __forceinline__ u32 tail_in(const List& list, u32 place) {
    return RECORDS && list.tails ? __ldcg(&list.tails[place]) : NO_VERTEX;
}

// Writes an entry to its place in a list. If near is full, the vertex's overflow bit is set. If far is full, the entry
// is dropped: the next split scans all vertices (split_far).
__device__ __forceinline__ void put(const Work& work, Control* control, const List& list, u32 place,
                                    const Entry& entry, u32 tail) {
    if (place < list.capacity) {
        store(&list.entries[place], entry);
        if (RECORDS && list.tails) list.tails[place] = tail;
    } else if (!list.far) {
        set_bit(work.spilled, entry.vertex);
        control->any_spilled = 1;
    }
}

// Appends the entries of the lanes with `wanted` to a list; all 32 lanes call it.
__device__ __forceinline__ void append(const Work& work, Control* control, const List& list,
                                       const Entry& entry, u32 tail, bool wanted) {
    u32 place = slot(list.count, wanted);
    if (wanted) put(work, control, list, place, entry, tail);
}

// Lists a halo vertex for the outbox, once until the outbox is emptied; all 32 lanes call it.
__device__ __forceinline__ void mark_dirty(const Share& share, const Work& work, Control* control,
                                           u32 vertex, bool improved) {
    bool first = improved && set_bit(work.dirty_bits, vertex - share.rows);
    u32 place = slot(&control->dirty_count, first);
    if (first) work.dirty[place] = vertex;
}

// mark_dirty for a single lane.
__device__ __forceinline__ void mark_dirty_one(const Share& share, const Work& work,
                                               Control* control, u32 vertex) {
    if (set_bit(work.dirty_bits, vertex - share.rows))
        work.dirty[atomicAdd(&control->dirty_count, 1u)] = vertex;
}
