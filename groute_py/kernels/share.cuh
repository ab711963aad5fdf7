// What a rank holds on the device: its share of the graph, its worklists, its control block.
//
// Local vertices are numbered: the owned, the mirrors (all that the peers own, in order), the halo (other
// ranks' vertices that arcs lead to). Without peers there are no mirrors. See peers.cuh.
#pragma once

// These structs are mirrored field by field in device/layout.py.
struct Share {
    const Offset* offsets;   // rows + 1
    const Arc* arcs;         // heads in local numbers: owned, or of the halo
    const u8* leads;         // own, or null: bit p where arcs of the vertex lie at peer p
    const u32* degrees;      // own, or null: how many these are, with those that lie here
    const Offset* in_offsets;  // own + 1, or null; see outer.cuh
    const Arc* in_arcs;        // by the vertex they lead to; their heads are the tails
    const u32* halo_home;    // the number a halo vertex has at its owner
    const u32* halo_starts;  // peers + 1; the halo of owner p is halo_starts[p] .. halo_starts[p + 1]
    u64 first;               // global number of vertex 0
    u32 own;
    u32 rows;                // own, and mirrors of the peers' vertices
    u32 halo;
    u32 before;              // mirrors whose vertices come before the own ones
    u32 peers;               // ranks, those of other hosts included
    float unit;              // of grades, a power of two, or 0; see onward.cuh
};

__device__ __forceinline__ u32 local_count(const Share& share) { return share.rows + share.halo; }

__device__ __forceinline__ bool has_halo(const Share& share) { return HALO && share.halo > 0; }

// Whether an arc with that head leads to another rank's vertex.
__device__ __forceinline__ bool leaves(const Share& share, u32 head) { return HALO && head >= share.own; }

// Of a vertex that has a row: in the graph, or where a rank's vertices are numbered anew (numbered.cu) as it numbers them.
__device__ __forceinline__ u64 global_number(const Share& share, u32 vertex) {
    if (vertex < share.own) return share.first + vertex;
    u32 mirror = vertex - share.own;
    return share.first - share.before + mirror + (mirror < share.before ? 0 : share.own);
}

struct Work {
    Distance* distance;     // rows + halo
    Entry* near[2];         // entries below the threshold: read from one, written to the other
    u32* near_tail[2];      // the tails of the arcs these came by, or null; see record.cuh
    Entry* far[2];          // the others
    u32* far_tail[2];
    u32* spilled;           // bit a row: entries that found near full
    u32* dirty;             // halo vertices that improved since the last outbox, each once
    u32* dirty_bits;        // bit a halo vertex
    Item* items[2];         // parts of long rows, like near
    i64* parent;            // rows + halo; global number, or -1; of a mirror whether it has been claimed
    u64* record;            // own, or null; see record.cuh
    u8* hints;              // (own >> fold) + 1, or null; see hints.cuh
    u32* claimed;           // rows; vertices that may claim onward
    Distance* box_distance; // halo; the outboxes, owner by owner
    i64* box_parent;
    u32* box_vertex;
    u32* box_count;         // peers
    u32 capacity;           // of near lists
    u32 far_capacity;
    u32 far_few;            // of more entries far's vertices are looked for among all when it is split
    u32 item_capacity;
    float levels;           // of hints to a unit of distance
    u32 fold;               // a byte has the hints of 1 << fold vertices
    u32 mean_degree;
    float outer_below;      // the width of windows from which outer arcs are few
    float outer_reach;      // a width; half as far beyond a window arcs may lead and be relaxed all the same
    u64 outer_from;         // arcs of a turn from which outer ones are left to be pulled; 0: never
};

// The grid barrier: blocks count themselves, and wait for one of several words, since one that they all look at
// would keep its part of L2 busy. Each lies in a line of its own.
#define GATES 16

struct alignas(128) Word {
    u32 round;
};

struct Gate {
    alignas(128) u32 arrived;
    Word released[GATES];
};

// What blocks look at as a turn begins.
struct Seen {
    Distance least_far[2];   // of the far list of that side, after a split
    Distance late;           // the nearest that came or was relaxed since the last pull, if before its window; or NOTHING
    u32 turn;                // steps and splits so far: which lists and counters are current
    u32 far_side;            // which far list is current
    u32 near_count[3];       // in turn: read, written, cleared
    u32 item_count[3];       // likewise
    u32 far_count[2];
    u32 any_spilled;
    u32 unlisted;            // far is in no list: its vertices are looked for
    Orders orders;
};

// All counters of one share. The host reads it after each slice.
struct Control : Seen {
    Exchange exchange;
    u64 relaxations;
    u64 steps;
    double floor;            // no distance left to work on is smaller; infinite when none is left
    Distance threshold;      // near is what lies below it
    Distance window;         // where the window that ends at the threshold began
    Distance bound;          // where outer arcs are pulled, or NOTHING; see outer.cuh
    Distance base;           // where the window began in which arcs were left first, if some are to be pulled
    u32 taken[3];            // of near, by warps of a thick turn; in turn: read, written, cleared
    u32 items_taken[3];      // likewise, of items
    u32 cut_count[2];        // items that a turn takes itself; in turn: counted, cleared
    u32 bottomed;            // the last turn in which some block went all levels down, from 1; not one that listens
    u32 dirty_count;
    u32 overflowed;          // a sum was no distance
    u32 level;               // some tight arc is level
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

// This warp's number, blocks first, so that few entries are spread over all blocks.
__device__ __forceinline__ u32 grid_warp() { return (threadIdx.x >> 5) * gridDim.x + blockIdx.x; }

__device__ __forceinline__ u32 grid_warps() { return (blockDim.x >> 5) * gridDim.x; }

// The same from behind, for what comes beside entries: few of both meet in no warp. Last is the block that conducts.
__device__ __forceinline__ u32 grid_warp_from_behind() {
    u32 block = (2 * gridDim.x - 2 - blockIdx.x) % gridDim.x;
    return ((blockDim.x - 1 - threadIdx.x) >> 5) * gridDim.x + block;
}

// How many lanes of a mask come before this one.
__device__ __forceinline__ u32 rank_among(u32 mask) { return __popc(mask & ((1u << lane()) - 1)); }

// What the lanes up to this one bring, in sum; all 32 lanes call it.
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

// Adds what the lanes bring to a sum, by one atomic a warp; all 32 lanes call it. If every thread had one of its own,
// a kernel would take 70 us longer to end.
__device__ __forceinline__ void add_up(u64* sum, u64 mine) {
    for (u32 apart = 16; apart; apart /= 2) mine += __shfl_xor_sync(~0u, mine, apart);
    if (lane() == 0 && mine) atomicAdd(sum, mine);
}

// Lowers a distance to the least of what the lanes bring, likewise.
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

// Writes an entry to its place in a list. One without a place leaves its vertex's bit; in far it is lost, and
// looked for when the window moves: see split_far.
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

// Appends the wanting lanes' entries to a list; all 32 lanes call it.
__device__ __forceinline__ void append(const Work& work, Control* control, const List& list,
                                       const Entry& entry, u32 tail, bool wanted) {
    u32 place = slot(list.count, wanted);
    if (wanted) put(work, control, list, place, entry, tail);
}

// Lists a halo vertex for the outbox, once until it has been emptied.
__device__ __forceinline__ void mark_dirty(const Share& share, const Work& work, Control* control,
                                           u32 vertex, bool improved) {
    bool first = improved && set_bit(work.dirty_bits, vertex - share.rows);
    u32 place = slot(&control->dirty_count, first);
    if (first) work.dirty[place] = vertex;
}

// The same for one lane.
__device__ __forceinline__ void mark_dirty_one(const Share& share, const Work& work,
                                               Control* control, u32 vertex) {
    if (set_bit(work.dirty_bits, vertex - share.rows))
        work.dirty[atomicAdd(&control->dirty_count, 1u)] = vertex;
}
