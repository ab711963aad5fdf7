// Buffers in shared memory for entries on their way to the global lists: BlockLists for a block (thin steps, whose next
// level the block relaxes itself), WarpLists for a warp (thick steps, in which warps do not wait for each other).
#pragma once

#define WARPS (BLOCK / 32)
#define HELD (32 * ARCS)  // entries that a warp buffers and writes in one piece
#define AHEAD 8   // row chunks that a warp looks up together
#define HEAVY 64  // a block leaves rows with more arcs to the grid
#define ROW (4 * LANES)  // LANES lanes leave rows with more arcs to their warp
#define PROBES 4  // probed arcs of a sorted row: numbers 4, 16, 64 and PART

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

// Shortens a row, whose arcs ascend by weight, at the first probed arc that is too heavy. At most four times as many
// arcs are left as are light enough, or four.
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

// Candidates that the lanes of a warp have found. near[k], far[k] and remote[k] say where ready[k] belongs.
struct Finds {
    Ready ready[ARCS];
    bool near[ARCS], far[ARCS], remote[ARCS];
};

// A list of a block in shared memory; an entry is read and written as a whole.
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

#define FAR 2     // index of the far list of a block; lists 0 and 1 are near, by level
#define LISTED 4  // index of its counter

struct Staging {
    union {
        Staged list[3];
        struct {
            Entry held[2][WARPS][HELD];
            u32 held_tail[2][WARPS][HELD];
        };
    };
    u32 count[LISTED + 1];  // of near, rotating by level: read, written, cleared, read before; and of far
    u32 has_long[4];  // rotating like near: whether some row is longer than ROW
    u32 near_base, far_base;
    Turn now;            // of a thin step; see take_thin_turn
    u32 another_has[2];  // some block has reached the depth limit in this step; alternates by level: read, written
    u32 come, goes_on;   // see Thin::hears_more
};

// Lists of a block. Entries that find no place go directly to the global lists. So do near entries with long rows: the
// whole grid relaxes them in the next step, so that no block works by itself in the densest part of the graph.
struct BlockLists {
    const Rank& rank;
    const Turn& now;
    Staging& staged;
    u32 level = 0;  // the staged near that is written

    // Thin steps have few entries, so no entry is dropped.
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

    // `add` for a single lane, with row and peers already looked up. Near and far share one code path, so that lanes do
    // not diverge.
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

    // Writes the staged entries to the global lists; all threads of the block call it.
    __device__ __forceinline__ void flush() {
        __syncthreads();
        u32 near_count = min(staged.count[level % 4], (u32)STAGED);
        u32 far_count = min(staged.count[LISTED], (u32)STAGED);
        if (near_count + far_count == 0) return;
        // by two warps, so that the two round trips overlap
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

    // Puts an entry into a list of the block or, if that is full, into the global list.
    __device__ __forceinline__ void push(bool wanted, const Ready& ready, u32 which, u32 counted, const List& list) {
        u32 place = slot(&staged.count[counted], wanted);
        bool fits = place < STAGED;
        if (wanted && fits) staged.list[which].put(place, ready);
        spill(wanted && !fits, ready, list);
    }

    // Appends an entry to a global list.
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

// Lists of a warp. When new entries find no room, all that it holds are written with one atomic and coalesced stores.
struct WarpLists {
    const Rank& rank;
    const Turn& now;
    Staging& staged;
    Distance bound;  // arcs that lead there or beyond are left to be pulled; NOTHING where none are
    u32 near_count = 0, far_count = 0;  // the same in all lanes
    bool shown = false;                 // this step requests a dense pull, so nothing more is pushed
    bool told = false;                  // all entries are arrivals, which are not pushed on

    // Whether a vertex has no arc to relax before the bound, by its weight class (grade); then it need not be listed.
    __device__ __forceinline__ bool idle(const Ready& ready) const {
        return PULLS && ready.distance < bound && !leads_on(rank.share, ready.vertex, ready.distance, bound);
    }

    // Buffers the candidates of all lanes, with one prefix sum for near and far; all lanes call it.
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

    // Pushes the buffered near entries to peers. A stale entry is skipped, because its vertex has a newer one. The loads
    // for all entries are in flight at once.
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

    // Drops entries without an arc to relax here, after peers have got them.
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
