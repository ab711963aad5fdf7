// Many sources, sixteen lanes each: Dijkstra with a heap of sixteen branches, and decrease-key (S15).
//
// The children of an entry lie side by side, sixteen entries in one or two lines of memory, and the
// lanes look at all of them at once; so a heap of 2^16 entries is four steps deep and not sixteen.
// What bounds this method is the latency of memory, for each step waits for the one before. So the
// two heaps of a warp take each step together, and the arcs of the vertex that leaves are on their
// way while the heap closes over it.
//
// A row has all that is known of a vertex in one word: NOTHING; or, while it waits, its place in
// the heap, as the complement, which is negative; or, once it has left, its distance. A vertex
// leaves once, so with weights that are not negative the work is Dijkstra's, whatever they are.
#pragma once

#define PATROL 64     // threads of a block
#define BRANCHES 16   // children of an entry, and lanes of a heap

#if DISTANCE == 0
typedef int Word;
#define word_of(distance) (distance)
#elif DISTANCE == 1
typedef i64 Word;
#define word_of(distance) (distance)
#elif DISTANCE == 2
typedef int Word;
#define word_of(distance) __float_as_int(distance)
#else
typedef i64 Word;
#define word_of(distance) __double_as_longlong(distance)
#endif

// As each of its lanes knows it. All lanes of a warp call what is below together, whether their
// heaps have something to do or not.
struct Heap {
    Entry* entries;  // number 0 is the root, at entries[BRANCHES - 1]: so children begin a line
    Word* row;
    u32 size;
    u32 hand, lanes;  // which of the heap's lanes this is, and all of them as bits of the warp

    __device__ __forceinline__ Entry* at(u32 number) const {
        return entries + number + BRANCHES - 1;
    }

    __device__ __forceinline__ void put(u32 number, const Entry& entry) {
        *at(number) = entry;
        row[entry.vertex] = ~(Word)number;
    }

    // Whether a sum is news of a vertex.
    __device__ __forceinline__ bool improves(u32 vertex, Distance sum) const {
        Word known = row[vertex];
        if (known < 0) return sum < at((u32)~known)->distance;
        return known == word_of(NOTHING);
    }

    // Insert a vertex or bring it nearer, if `wanted` and still news: towards the root, to where it
    // belongs.
    __device__ __forceinline__ void lower(bool wanted, const Entry& entry) {
        u32 free = 0;
        if (wanted) wanted = improves(entry.vertex, entry.distance);
        if (wanted) {
            Word known = row[entry.vertex];
            free = known < 0 ? (u32)~known : size++;
        }
        bool rising = wanted;
        while (__any_sync(FULL, rising)) {
            rising = rising && free > 0;
            if (rising) {
                u32 up = (free - 1) / BRANCHES;
                Entry parent = *at(up);
                rising = entry.distance < parent.distance;
                if (rising && hand == 0) put(free, parent);
                if (rising) free = up;
            }
            __syncwarp();
        }
        if (wanted && hand == 0) put(free, entry);
        __syncwarp();
    }
};

// The last entry on its way from the root, which has left, to where it belongs.
struct Sinking {
    Entry last;
    u32 hole;
    bool on;

    __device__ __forceinline__ void begin(const Heap& heap) {
        hole = 0;
        on = heap.size > 0;
        if (on) last = *heap.at(heap.size);
    }

    // One step: the least child moves up, if it is nearer.
    __device__ __forceinline__ void step(Heap& heap) {
        u32 child = hole * BRANCHES + 1 + heap.hand;
        Entry mine;
        mine.distance = NOTHING;
        mine.vertex = NO_VERTEX;
        if (on && child < heap.size) mine = *heap.at(child);
        Distance least = mine.distance;
        for (u32 apart = BRANCHES / 2; apart; apart /= 2) {
            least = min(least, __shfl_xor_sync(FULL, least, apart));
        }
        on = on && least < last.distance;
        u32 holders = __ballot_sync(FULL, on && mine.distance == least) & heap.lanes;
        if (on) {
            u32 holder = (__ffs(holders) - 1) % BRANCHES;
            if (heap.hand == holder) heap.put(hole, mine);
            hole = hole * BRANCHES + 1 + holder;
        }
        __syncwarp();
    }

    __device__ __forceinline__ void end(Heap& heap) {
        while (__any_sync(FULL, on)) step(heap);
        if (heap.size > 0 && heap.hand == 0) heap.put(hole, last);
        __syncwarp();
    }
};

// Give the heaps of a warp that are empty their next sources; whether there was one for any.
__device__ __forceinline__ bool begin_sources(Heap& heap, bool& more, u32 vertices,
                                              const u32* sources, u32 count, Distance* rows,
                                              u32* counter) {
    u32 lane = threadIdx.x % 32;
    u32 empty = __ballot_sync(FULL, more && heap.size == 0 && heap.hand == 0);
    for (; empty; empty &= empty - 1) {
        u32 first = __ffs(empty) - 1;
        u32 job = lane == first ? atomicAdd(counter, 1) : 0;
        job = __shfl_sync(FULL, job, first);
        bool own = lane - heap.hand == first;
        if (job >= count) {
            if (own) more = false;
            continue;
        }
        Word* row = (Word*)rows + (u64)job * vertices;
        for (u32 v = lane; v < vertices; v += 32) row[v] = word_of(NOTHING);
        __syncwarp();
        if (own) {
            heap.row = row;
            heap.size = 1;
            Entry entry;
            entry.distance = 0;
            entry.vertex = sources[job];
            if (heap.hand == 0) heap.put(0, entry);
        }
        __syncwarp();
    }
    return __any_sync(FULL, heap.size > 0);
}

// entries: whole lines for each heap, BRANCHES - 1 and the vertices; counter: the next source.
extern "C" __global__ void __launch_bounds__(PATROL)
    heap(const Offset* offsets, const Arc* arcs, u32 vertices, const u32* sources, u32 count,
         Distance* rows, Entry* entries, u32* counter, u32* overflowed) {
    u64 number = ((u64)blockIdx.x * PATROL + threadIdx.x) / BRANCHES;
    u64 room = ((u64)vertices + 2 * BRANCHES - 2) / BRANCHES * BRANCHES;
    Heap heap;
    heap.hand = threadIdx.x % BRANCHES;
    heap.lanes = ((1u << BRANCHES) - 1) << (threadIdx.x % 32 - heap.hand);
    heap.entries = entries + number * room;
    heap.row = 0;
    heap.size = 0;
    bool more = true;

    while (begin_sources(heap, more, vertices, sources, count, rows, counter)) {
        Entry top;
        top.distance = 0;
        top.vertex = 0;
        Offset first = 0, end = 0;
        if (heap.size > 0) {
            top = *heap.at(0);
            heap.size--;
            if (heap.hand == 0) heap.row[top.vertex] = word_of(top.distance);
            first = offsets[top.vertex];
            end = offsets[top.vertex + 1];
        }
        Sinking sinking;
        sinking.begin(heap);
        __syncwarp();
        sinking.step(heap);
        Arc arc;
        arc.weight = 0;
        arc.head = 0;
        if (first + heap.hand < end) arc = load(arcs + first + heap.hand);
        sinking.step(heap);
        if (first + heap.hand < end) fetch_ahead(heap.row + arc.head);
        sinking.end(heap);

        while (__any_sync(FULL, first < end)) {
            Entry reached;
            reached.distance = NOTHING;
            reached.vertex = arc.head;
            bool news = false;
            if (first + heap.hand < end) {
                reached.distance = plus(top.distance, arc.weight);
                bool fits = reached.distance >= top.distance && reached.distance < NOTHING;
                if (!fits) *overflowed = 1;
                news = fits && heap.improves(arc.head, reached.distance);
            }
            u32 ready = __ballot_sync(FULL, news) & heap.lanes;
            for (; __any_sync(FULL, ready != 0); ready &= ready - 1) {
                u32 from = ready ? __ffs(ready) - 1 : threadIdx.x % 32;
                Entry entry;
                entry.distance = __shfl_sync(FULL, reached.distance, from);
                entry.vertex = __shfl_sync(FULL, reached.vertex, from);
                heap.lower(ready != 0, entry);
            }
            first += BRANCHES;
            if (first + heap.hand < end) arc = load(arcs + first + heap.hand);
        }
    }
}
