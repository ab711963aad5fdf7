// Where entries gather before they are written to the global lists: in shared memory, for a block
// (thin turns, whose next level the block relaxes itself) or for a warp (thick turns, in which warps
// do not wait for each other).
#pragma once

#define WARPS (BLOCK / 32)
#define HELD (32 * ARCS)  // entries a warp gathers before it writes them in one piece
#define AHEAD 8   // parts of long rows that a warp looks up at once
#define HEAVY 64  // arcs of a row above which a block leaves it to the grid
#define ROW (4 * LANES)  // and above which LANES lanes leave it to their warp
#define PROBES 4  // arcs of a row that tell how many of the first are light enough: numbers 4, 16, 64 and PART

struct Ready {  // an entry whose row has been looked up
    Distance distance;
    u32 vertex;
    u32 tail;  // of the arc it came by, where that is recorded
    u32 degree;
    Offset begin;
};

__device__ __forceinline__ Entry entry_of(const Ready& ready) {
    Entry entry;
    entry.distance = ready.distance;
    entry.vertex = ready.vertex;
    return entry;
}

// An entry whose row has not been looked up ...
__device__ __forceinline__ Ready of_entry(const Entry& entry, u32 tail) { return {entry.distance, entry.vertex, tail}; }

// ... of a global list.
__device__ __forceinline__ Ready listed_at(const List& list, u32 place) {
    return of_entry(load(&list.entries[place]), tail_in(list, place));
}

struct Row {  // of a vertex, in the arcs
    Offset begin, end;
};

__device__ __forceinline__ Row row_of(const Share& share, u32 vertex) {
    return {anew(&share.offsets[vertex]), anew(&share.offsets[vertex + 1])};
}

__device__ __forceinline__ void set_row(Ready& ready, const Row& row) {
    ready.begin = row.begin;
    ready.degree = (u32)(row.end - row.begin);
}

__device__ __forceinline__ Ready looked_up(const Share& share, Ready ready) {
    set_row(ready, row_of(share, ready.vertex));
    return ready;
}

// Leaves out arcs of a row, which ascends, from one on that is too heavy: what is left is up to four times as many as
// are not, or four.
template <class TooHeavy>
__device__ __forceinline__ void shorten(const Arc* arcs, Ready& ready, TooHeavy is_too_heavy) {
    const u32 probes[PROBES] = {4, 16, 64, PART};
    Arc probed[PROBES];
#pragma unroll
    for (int k = 0; k < PROBES; k++)
        if (probes[k] < ready.degree) probed[k] = load(&arcs[ready.begin + probes[k]]);
#pragma unroll
    for (int k = PROBES - 1; k >= 0; k--)
        if (probes[k] < ready.degree && is_too_heavy(probed[k])) ready.degree = probes[k];
}

// What the lanes of a warp have found, and where it belongs; near[k] and the others say so of ready[k].
struct Finds {
    Ready ready[ARCS];
    bool near[ARCS], far[ARCS], remote[ARCS];
};

// A block's list, read and written a vertex at once.
struct Staged {
    struct alignas(sizeof(Distance) + sizeof(Offset) == 8 ? 16 : 8) Slot {
        Distance distance;
        u32 vertex;
        u32 degree;
        Offset begin;
    };
    Slot slots[STAGED];
    u32 tails[STAGED];

    __device__ __forceinline__ Ready at(u32 place) const {
        const Slot slot = slots[place];
        return {slot.distance, slot.vertex, tails[place], slot.degree, slot.begin};
    }

    __device__ __forceinline__ void put(u32 place, const Ready& ready) {
        slots[place] = {ready.distance, ready.vertex, ready.degree, ready.begin};
        tails[place] = ready.tail;
    }
};

#define FAR 2     // which of a block's lists; near are the first two, by level
#define LISTED 4  // and where it is counted

struct Staging {
    union {
        Staged list[3];
        struct {
            Entry held[2][WARPS][HELD];
            u32 held_tail[2][WARPS][HELD];
        };
    };
    u32 count[LISTED + 1];  // of near in turn, by level: read, written, cleared, read before; and of far
    u32 has_long[4];  // in turn as near is: whether some row of it is longer than ROW
    u32 near_base, far_base;
    Turn now;            // a thin one; see take_thin_turn
    u32 another_has[2];  // gone all levels of this turn down; in turn, by level: read, written
    u32 come, goes_on;   // see Thin::hears_more
};

// A block's lists. What finds them full goes straight to the global ones, and so do near's long rows:
// the whole grid takes them in the next turn, where one block might go down alone into the densest part
// of the graph.
struct BlockLists {
    const Rank& rank;
    const Turn& now;
    Staging& staged;
    u32 level = 0;  // the staged near that is written

    // Such lists are short: all is listed.
    __device__ __forceinline__ bool idle(const Ready&) const { return false; }

    // All lanes call it.
    __device__ __forceinline__ void add(const Finds& finds) {
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            bool near = finds.near[k], far = finds.far[k], remote = finds.remote[k];
            if (!__any_sync(~0u, near || far || remote)) continue;
            Ready ready = finds.ready[k];
            ready.vertex = vertex_in(ready.vertex);
            add_near(near, ready);
            push(far, ready, FAR, LISTED, now.far);
            if (has_halo(rank.share))
                mark_dirty(rank.share, rank.work, rank.control, ready.vertex, remote);
        }
    }

    // The same for one lane, with the row and its peers looked up. All lanes take one path, whichever list is theirs.
    __device__ __forceinline__ void add_one(const Ready& ready, bool near, u32 peers) {
        if (near && ready.degree) fetch_ahead(&rank.share.arcs[ready.begin]);
        u32 place = STAGED;
        if (!near || ready.degree <= HEAVY) place = atomicAdd(&staged.count[near ? level % 4 : LISTED], 1u);
        if (near && ready.degree > ROW) note_long();
        if (place < STAGED) staged.list[near ? level % 2 : FAR].put(place, ready);
        else spill_one(ready, near ? now.near_out : now.far);
        if (near) tell_one(rank, peers, entry_of(ready));
    }

    __device__ __forceinline__ void remote_one(const Ready& ready) {
        mark_dirty_one(rank.share, rank.work, rank.control, ready.vertex);
    }

    // Writes what is staged; all threads call it.
    __device__ __forceinline__ void flush() {
        __syncthreads();
        u32 near_count = min(staged.count[level % 4], (u32)STAGED);
        u32 far_count = min(staged.count[LISTED], (u32)STAGED);
        if (near_count + far_count == 0) return;
        // by two warps, so that the one round trip does not wait for the other
        if (threadIdx.x == 0) staged.near_base = atomicAdd(now.near_out.count, near_count);
        if (threadIdx.x == 32) staged.far_base = atomicAdd(now.far.count, far_count);
        __syncthreads();
        write(staged.list[level % 2], near_count, now.near_out, staged.near_base);
        write(staged.list[FAR], far_count, now.far, staged.far_base);
    }

  private:
    __device__ __forceinline__ void add_near(bool wanted, Ready ready) {
        if (exchanges(rank.peers)) tell(rank, wanted ? peers_of(rank, ready.vertex) : 0, entry_of(ready));
        if (wanted) ready = looked_up(rank.share, ready);
        bool heavy = wanted && ready.degree > HEAVY;
        if (wanted && ready.degree > ROW) note_long();
        push(wanted && !heavy, ready, level % 2, level % 4, now.near_out);
        spill(heavy, ready, now.near_out);
    }

    __device__ __forceinline__ void note_long() { atomicOr(&staged.has_long[level % 4], 1u); }

    // In one of the block's lists, or where there is no place in a global one.
    __device__ __forceinline__ void push(bool wanted, const Ready& ready, u32 which, u32 counted, const List& list) {
        u32 place = slot(&staged.count[counted], wanted);
        bool fits = place < STAGED;
        if (wanted && fits) staged.list[which].put(place, ready);
        spill(wanted && !fits, ready, list);
    }

    // Straight to a global list.
    __device__ __forceinline__ void spill(bool wanted, const Ready& ready, const List& list) {
        if (__any_sync(~0u, wanted))
            append(rank.work, rank.control, list, entry_of(ready), ready.tail, wanted);
    }

    __device__ __forceinline__ void spill_one(const Ready& ready, const List& list) {
        put(rank.work, rank.control, list, atomicAdd(list.count, 1u), entry_of(ready), ready.tail);
    }

    __device__ __forceinline__ void write(const Staged& here, u32 count, const List& list, u32 base) {
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            const Ready ready = here.at(i);
            put(rank.work, rank.control, list, base + i, entry_of(ready), ready.tail);
        }
    }
};

// A warp's lists: one atomic and one write in order for as many entries as it holds when the next find no room.
struct WarpLists {
    const Rank& rank;
    const Turn& now;
    Staging& staged;
    Distance bound;  // arcs that lead there or beyond are left to be pulled; NOTHING where none are
    u32 near_count = 0, far_count = 0;  // the same in all lanes
    bool shown = false;                 // peers will look for themselves
    bool told = false;                  // all that is listed is what peers have told, and theirs

    // Whether there is nothing to relax from a vertex, by its grade, and no need to list it.
    __device__ __forceinline__ bool idle(const Ready& ready) const {
        return PULLS && ready.distance < bound && !leads_on(rank.share, ready.vertex, ready.distance, bound);
    }

    // All lanes call it; one scan finds places for all.
    __device__ __forceinline__ void add(const Finds& finds) {
        u32 mine = 0;  // near in the lower half, far in the upper
#pragma unroll
        for (int k = 0; k < ARCS; k++) mine += finds.near[k] + (finds.far[k] << 16);
        u32 end = sum_upto(mine), all = __shfl_sync(~0u, end, 31), near = all & 0xffff, far = all >> 16;
        if (near_count + near > HELD) flush_near();
        if (far_count + far > HELD) flush_far();
        u32 begin = end - mine, near_place = near_count + (begin & 0xffff), far_place = far_count + (begin >> 16);
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            if (finds.near[k]) hold(finds.ready[k], 0, near_place++);
            if (finds.far[k]) hold(finds.ready[k], 1, far_place++);
        }
        near_count += near;
        far_count += far;
        if (!has_halo(rank.share)) return;
#pragma unroll
        for (int k = 0; k < ARCS; k++)
            mark_dirty(rank.share, rank.work, rank.control, finds.ready[k].vertex, finds.remote[k]);
    }

    __device__ __forceinline__ void flush() {
        if (near_count) flush_near();
        if (far_count) flush_far();
    }

  private:
    __device__ __forceinline__ Entry* held(u32 list) { return staged.held[list][threadIdx.x >> 5]; }

    __device__ __forceinline__ u32* held_tail(u32 list) { return staged.held_tail[list][threadIdx.x >> 5]; }

    __device__ __forceinline__ void hold(const Ready& ready, u32 list, u32 place) {
        held(list)[place] = entry_of(ready);
        if (RECORDS && rank.work.record) held_tail(list)[place] = ready.tail;
    }

    __device__ __forceinline__ void flush_near() {
        if (exchanges(rank.peers) && !told) {
            tell_of_near();
            if (PULLS) drop_idle();
        }
        write(0, near_count, now.near_out);
    }

    __device__ __forceinline__ void flush_far() { write(1, far_count, now.far); }

    __device__ __forceinline__ void write(u32 from, u32& count, const List& list) {
        __syncwarp();
        u32 base = 0;
        if (lane() == 0) base = atomicAdd(list.count, count);
        base = __shfl_sync(~0u, base, 0);
        for (u32 i = lane(); i < count; i += 32) {
            Entry entry = held(from)[i];
            if (!list.far) entry.vertex = vertex_in(entry.vertex);
            put(rank.work, rank.control, list, base + i, entry, held_tail(from)[i]);
        }
        count = 0;
        __syncwarp();
    }

    // What has become nearer again since it was held is left to the entry that says so. All entries
    // are under way at once.
    __device__ __forceinline__ void tell_of_near() {
        const int each = HELD / 32;
        u32 to[each];
        Distance known[each];
        if (shown) return;
        __syncwarp();
#pragma unroll
        for (int k = 0; k < each; k++) {
            const u32 vertex = vertex_in(held(0)[min(32 * k + lane(), near_count - 1)].vertex);
            to[k] = peers_of(rank, vertex);
            known[k] = current(&rank.work.distance[vertex]);
        }
#pragma unroll
        for (int k = 0; k < each; k++) {
            const u32 index = 32 * k + lane();
            const Entry entry = held(0)[index];
            if (index >= near_count || entry.distance != known[k] || grade_in(entry.vertex) == DEAD_END) to[k] = 0;
        }
        const u32 showing = anew(&rank.control->exchange.showing);
        for (u32 p = 0; p < rank.peers.count; p++) {
            u32 count = 0;
#pragma unroll
            for (int k = 0; k < each; k++) count += __popc(__ballot_sync(~0u, to[k] >> p & 1));
            u64 next = places_at(rank, p, count);
#pragma unroll
            for (int k = 0; k < each; k++) {
                u32 mask = __ballot_sync(~0u, to[k] >> p & 1);
                if (to[k] >> p & 1) write_to(rank, p, next + rank_among(mask), held(0)[32 * k + lane()]);
                next += __popc(mask);
            }
        }
        shown = __any_sync(~0u, showing);
    }

    // Leaves out what is idle, once peers have been told.
    __device__ __forceinline__ void drop_idle() {
        const int each = HELD / 32;
        Ready ready[each];
        bool kept[each];
        __syncwarp();
#pragma unroll
        for (int k = 0; k < each; k++) {
            u32 index = 32 * k + lane();
            kept[k] = index < near_count;
            ready[k] = {};
            if (!kept[k]) continue;
            Entry entry = held(0)[index];
            ready[k] = {entry.distance, entry.vertex, held_tail(0)[index]};
            kept[k] = !idle(ready[k]);
            if (!kept[k]) record(rank.work, vertex_in(entry.vertex), entry.distance, ready[k].tail);
        }
        __syncwarp();
        u32 count = 0;
#pragma unroll
        for (int k = 0; k < each; k++) {
            u32 mask = __ballot_sync(~0u, kept[k]);
            if (kept[k]) hold(ready[k], 0, count + rank_among(mask));
            count += __popc(mask);
        }
        near_count = count;
    }
};
