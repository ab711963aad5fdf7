// Many sources, one warp each: Dijkstra (1959) with a 32-ary heap and decrease-key.
//
// The children of an entry are consecutive, and each lane reads one: a heap of 2^15 entries has three levels. Memory
// latency bounds this method, because each level waits for the one before. So the loads for the arcs of the removed
// vertex are issued while the heap sifts.
//
// A table has for each vertex its distance so far and the place where its entry was last put. Sifting after a removal
// only moves entries up, and does not update the table. So an entry lies somewhere on the path from that place to the
// root. A decrease-key reads the whole path at once, which it needs anyway to find the new place.
//
// Each vertex leaves the heap once, so if no weight is negative the number of relaxations is Dijkstra's.

#include "primitives/access.cuh"
#include "primitives/algebra.cuh"

#define HEAP_BLOCK 64  // threads of a block
#define BRANCHES 32    // children of an entry, one for each lane

// Distance and heap place of a vertex, read in one load.
struct alignas(2 * sizeof(Distance)) Known {
    Distance distance;  // UNREACHED: not reached yet
    u32 place;          // of its entry, which lies there or above until it leaves
};

// The minimum over the lanes. Distances are not negative, so floats are ordered like their bits.
__device__ __forceinline__ Distance least_of_warp(Distance mine) {
#if DISTANCE == 0
    return __reduce_min_sync(~0u, mine);
#elif DISTANCE == 2
    return __int_as_float(__reduce_min_sync(~0u, __float_as_int(mine)));
#else
    for (u32 apart = 16; apart; apart /= 2) mine = min(mine, __shfl_xor_sync(~0u, mine, apart));
    return mine;
#endif
}

// All 32 lanes call the functions below together, with the same arguments except `lane`.
struct Heap {
    Entry* entries;  // number 0 is the root, at entries[BRANCHES - 1]: so children begin a line
    Known* table;
    u32 size, lane;

    __device__ __forceinline__ Entry* at(u64 number) const { return entries + number + BRANCHES - 1; }

    // By one lane.
    __device__ __forceinline__ void put(u32 number, const Entry& entry) {
        Known known;
        known.distance = entry.distance;
        known.place = number;
        *at(number) = entry;
        table[entry.vertex] = known;
    }

    // Inserts a vertex or decreases its key, if the distance still improves it. Lane k holds the entry k levels above
    // the place; farther entries on that path move down by one level.
    __device__ __forceinline__ void lower(const Entry& entry) {
        Known known = table[entry.vertex];
        if (entry.distance >= known.distance) return;
        bool fresh = known.distance == UNREACHED;
        u32 number = fresh ? size : known.place, up = 0;
        for (; up < lane && number > 0; up++) number = (number - 1) / BRANCHES;
        Entry mine;
        mine.vertex = NO_VERTEX;
        bool there = up == lane && number < size;
        if (there) mine = *at(number);
        u32 found = __ballot_sync(~0u, there && mine.vertex == entry.vertex);
        u32 from = fresh ? 0 : __ffs(found) - 1;
        u32 farther = __ballot_sync(~0u, there && lane > from && entry.distance < mine.distance);
        u32 below = __shfl_up_sync(~0u, number, 1);
        __syncwarp();
        if (farther >> lane & 1) put(below, mine);
        if (lane == from + __popc(farther)) put(number, entry);
        size += fresh;
        __syncwarp();
    }
};

// Sifts the last entry down from the root, which has been removed.
struct Sinking {
    Entry last, child;  // `child` is this lane's, of the hole
    u32 hole;

    __device__ __forceinline__ void begin(Heap& heap) {
        last = *heap.at(--heap.size);
        hole = 0;
        look(heap);
    }

    // One level: the least child moves up if it is nearer, and the loads of its children are issued. Returns whether it
    // was nearer.
    __device__ __forceinline__ bool step(const Heap& heap) {
        Distance least = least_of_warp(child.distance);
        if (least >= last.distance) return false;
        u32 holder = __ffs(__ballot_sync(~0u, child.distance == least)) - 1;
        if (heap.lane == holder) *heap.at(hole) = child;
        hole = hole * BRANCHES + 1 + holder;
        look(heap);
        return true;
    }

    __device__ __forceinline__ void end(Heap& heap) {
        while (step(heap)) continue;
        if (heap.size > 0 && heap.lane == 0) heap.put(hole, last);
        __syncwarp();
    }

  private:
    __device__ __forceinline__ void look(const Heap& heap) {
        u64 number = (u64)hole * BRANCHES + 1 + heap.lane;
        child.distance = UNREACHED;
        child.vertex = NO_VERTEX;
        if (number < heap.size) child = *heap.at(number);
    }
};

__device__ __forceinline__ void begin_source(Heap& heap, u32 vertices, u32 source) {
    Known unknown;
    unknown.distance = UNREACHED;
    unknown.place = 0;
    for (u32 v = heap.lane; v < vertices; v += 32) heap.table[v] = unknown;
    __syncwarp();
    Entry entry;
    entry.distance = 0;
    entry.vertex = source;
    heap.size = 1;
    if (heap.lane == 0) heap.put(0, entry);
    __syncwarp();
}

// Removes the nearest vertex and relaxes its arcs.
__device__ __forceinline__ void settle_one(Heap& heap, const Offset* offsets, const Arc* arcs, u32* overflowed) {
    Entry top = *heap.at(0);
    Offset arc_number = offsets[top.vertex] + heap.lane, end = offsets[top.vertex + 1];
    Sinking sinking;
    sinking.begin(heap);
    __syncwarp();
    sinking.step(heap);
    Arc arc;
    arc.weight = 0;
    arc.head = 0;
    if (arc_number < end) arc = load(arcs + arc_number);
    sinking.step(heap);
    Distance known = 0;  // no sum is less
    if (arc_number < end) known = heap.table[arc.head].distance;
    sinking.end(heap);

    while (__any_sync(~0u, arc_number < end)) {
        Entry reached;
        reached.distance = extend(top.distance, arc.weight);
        reached.vertex = arc.head;
        bool fits = reached.distance >= top.distance && reached.distance < UNREACHED;
        if (arc_number < end && !fits) *overflowed = 1;
        u32 news = __ballot_sync(~0u, arc_number < end && fits && reached.distance < known);
        for (; news; news &= news - 1) {
            u32 from = __ffs(news) - 1;
            Entry entry;
            entry.distance = __shfl_sync(~0u, reached.distance, from);
            entry.vertex = __shfl_sync(~0u, reached.vertex, from);
            heap.lower(entry);
        }
        arc_number += 32;
        if (arc_number < end) {
            arc = load(arcs + arc_number);
            known = heap.table[arc.head].distance;
        }
    }
}

// entries: whole lines for each warp, BRANCHES - 1 and the vertices; table: the vertices, for each
// warp; counter: the next source.
extern "C" __global__ void __launch_bounds__(HEAP_BLOCK)
    heap(const Offset* offsets, const Arc* arcs, u32 vertices, const u32* sources, u32 count, Distance* rows,
         Entry* entries, Known* table, u32* counter, u32* overflowed) {
    u64 number = ((u64)blockIdx.x * HEAP_BLOCK + threadIdx.x) / 32;
    u64 room = ((u64)vertices + 2 * BRANCHES - 2) / BRANCHES * BRANCHES;
    Heap heap;
    heap.lane = threadIdx.x % 32;
    heap.entries = entries + number * room;
    heap.table = table + number * vertices;
    for (;;) {
        u32 job = heap.lane == 0 ? atomicAdd(counter, 1) : 0;
        job = __shfl_sync(~0u, job, 0);
        if (job >= count) return;
        begin_source(heap, vertices, sources[job]);
        while (heap.size > 0) settle_one(heap, offsets, arcs, overflowed);
        Distance* row = rows + (u64)job * vertices;
        for (u32 v = heap.lane; v < vertices; v += 32) row[v] = heap.table[v].distance;
        __syncwarp();
    }
}
