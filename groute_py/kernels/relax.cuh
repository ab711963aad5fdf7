// Relaxing arcs and listing what became nearer: what a warp does within a turn of near_far.cu.
#pragma once

struct Ready {  // an entry whose row has been looked up
    Distance distance;
    u32 vertex;
    u32 degree;
    Offset begin;
};

__device__ __forceinline__ Entry entry_of(const Ready& ready) {
    Entry entry;
    entry.distance = ready.distance;
    entry.vertex = ready.vertex;
    return entry;
}

__device__ __forceinline__ void keep(Ready& place, const Ready& ready) { place = ready; }
__device__ __forceinline__ void keep(Entry& place, const Ready& ready) { place = entry_of(ready); }
__device__ __forceinline__ Entry kept(const Ready& ready) { return entry_of(ready); }
__device__ __forceinline__ Entry kept(const Entry& entry) { return entry; }

struct Staging {  // what a block keeps to itself until it flushes
    Ready near[2][STAGED];
    Entry far[STAGED];
    u32 near_count[3];  // in turn, by level: read, written, cleared
    u32 far_count;
    u32 base;
};

// The lists and counters of one turn.
struct Turn {
    const Entry* near_in;
    u32 near_in_count;
    const Item* items_in;
    u32 items_in_count;
    Entry* near_out;
    u32* near_out_count;
    Item* items_out;
    u32* items_out_count;
    Entry* far;
    u32* far_count;
};

__device__ __forceinline__ Turn begin_turn(const Work& work, Control* control, u32 turn, u32 far_side) {
    u32 next = turn + 1;
    Turn now;
    now.near_in = work.near[turn % 2];
    now.near_in_count = min(__ldcg(&control->near_count[turn % 3]), work.capacity);
    now.items_in = work.items[turn % 2];
    now.items_in_count = min(__ldcg(&control->item_count[turn % 3]), work.item_capacity);
    now.near_out = work.near[next % 2];
    now.near_out_count = &control->near_count[next % 3];
    now.items_out = work.items[next % 2];
    now.items_out_count = &control->item_count[next % 3];
    now.far = work.far[far_side];
    now.far_count = &control->far_count[far_side];
    return now;
}

// The turn after next writes what this turn's predecessor read.
__device__ __forceinline__ void clear_ahead(Control* control, u32 turn, u32 far_side) {
    if (blockIdx.x || threadIdx.x) return;
    control->near_count[(turn + 2) % 3] = 0;
    control->item_count[(turn + 2) % 3] = 0;
    control->far_count[far_side ^ 1] = 0;
}

// Relaxes one arc for each active lane, and lists what became nearer.
struct Relax {
    const Share& share;
    const Work& work;
    const Peers& peers;
    Control* control;
    Staging& staged;
    const Turn& now;
    Distance threshold, cutoff;
    u32 level;          // the staged near that is written; counts on through all turns
    Distance distance;  // of this lane's row
    u64 relaxed;

    __device__ __forceinline__ void operator()(bool active, Offset index, u32 source) {
        Arc arc = {};
        if (active) arc = load(&share.arcs[index]);
        Distance base = __shfl_sync(~0u, distance, source);
        arrive(active, arc, base);
    }

    // The head of the arc may have become nearer.
    __device__ __forceinline__ void arrive(bool active, const Arc& arc, Distance base) {
        Ready ready = {};
        ready.vertex = arc.head;
        ready.distance = plus(base, arc.weight);
        list(active && improves(arc, base, ready.distance), ready);
    }

    __device__ __forceinline__ void look_up(Ready& ready) {
        ready.begin = __ldg(&share.offsets[ready.vertex]);
        ready.degree = (u32)(__ldg(&share.offsets[ready.vertex + 1]) - ready.begin);
    }

    __device__ __forceinline__ bool improves(const Arc& arc, Distance base, Distance reach) {
        Distance known = current(&work.distance[arc.head]);
        bool wrapped = (arc.weight > 0 && reach < base) || (arc.weight < 0 && reach > base);
        if (reach < known && reach <= cutoff && !wrapped)
            return reach < atomic_min(&work.distance[arc.head], reach);
        // a sum that is not a distance matters only if nothing else reaches the vertex
        if ((wrapped || known == NOTHING) && cutoff == NOTHING) control->overflowed = 1;
        return false;
    }

    __device__ __forceinline__ void list(bool nearer, Ready ready) {
        if (!__any_sync(~0u, nearer)) return;
        bool remote = nearer && ready.vertex >= share.own;
        bool close = nearer && !remote && ready.distance < threshold;
        bool later = nearer && !remote && !close;
        if (close && staged.near_count[level % 3] < STAGED) look_up(ready);
        push(close, ready, staged.near[level % 2], &staged.near_count[level % 3], now.near_out,
             now.near_out_count);
        push(later, ready, staged.far, &staged.far_count, now.far, now.far_count);
        if (__any_sync(~0u, remote)) {
            if (peers.count > 1) send(remote, ready);
            else mark_dirty(share, work, control, ready.vertex, remote);
        }
    }

    // To the owners of remote vertices, by one atomic a warp and owner.
    __device__ __forceinline__ void send(bool wanted, const Ready& ready) {
        u32 place = ready.vertex - share.own, to = wanted ? owner(share, place) : MAX_PEERS;
        for (u32 p = 0; p < peers.count; p++) {
            u32 mask = __ballot_sync(~0u, to == p);
            if (!mask) continue;
            u64 first = 0;
            if ((int)lane() == __ffs(mask) - 1)
                first = atomicAdd(&control->exchange.sent[p], (u64)__popc(mask));
            first = __shfl_sync(~0u, first, __ffs(mask) - 1);
            if (to == p) write(p, first + __popc(mask & ((1u << lane()) - 1)), place, ready.distance);
        }
    }

    __device__ __forceinline__ void send_one(u32 place, Distance distance) {
        u32 p = owner(share, place);
        write(p, atomicAdd(&control->exchange.sent[p], 1ull), place, distance);
    }

    // Into a ring while it has room; else the dirty bit keeps the vertex for later.
    __device__ __forceinline__ void write(u32 p, u64 index, u32 place, Distance distance) {
        if (index < __ldcg(&control->exchange.room[p])) {
            Entry entry;
            entry.distance = distance;
            entry.vertex = __ldg(&share.halo_home[place]);
            peers.outbox[p][index & (peers.capacity - 1)] = entry;
        } else {
            set_bit(work.dirty_bits, place);
            control->exchange.full = 1;
        }
    }

    // Takes what peers have sent; what still improves joins the worklists.
    __device__ __forceinline__ void take_inbox(u32 warp, u32 warps) {
        for (u32 p = 0; p < peers.count; p++) {
            u64 end = __ldcg(&control->exchange.end[p]);
            const Entry* ring = peers.inbox + (u64)p * peers.capacity;
            for (u64 base = __ldcg(&control->exchange.begin[p]) + warp * 32; base < end;
                 base += warps * 32) {
                Ready ready = {};
                bool nearer = false;
                if (base + lane() < end) {
                    Entry entry = load(&ring[(base + lane()) & (peers.capacity - 1)]);
                    ready.vertex = entry.vertex;
                    ready.distance = entry.distance;
                    nearer = entry.distance < atomic_min(&work.distance[entry.vertex], entry.distance);
                }
                list(nearer, ready);
            }
        }
    }

    // Sends the dirty vertices again that had found their ring full; a lane a word, a bit at a time.
    __device__ __forceinline__ void resend(u32 warp, u32 warps) {
        u32 words = (share.halo + 31) / 32;
        for (u32 base = warp * 32; base < words; base += warps * 32) {
            u32 word = base + lane(), bits = 0;
            if (word < words && __ldcg(&work.dirty_bits[word]))
                bits = atomicExch(&work.dirty_bits[word], 0u);
            while (__any_sync(~0u, bits)) {
                Ready ready = {};
                bool wanted = bits;
                if (wanted) {
                    ready.vertex = share.own + word * 32 + __ffs(bits) - 1;
                    ready.distance = current(&work.distance[ready.vertex]);
                }
                bits &= bits - 1;
                send(wanted, ready);
            }
        }
    }

    // Into shared memory while there is room, else straight to the global list.
    template <class Staged>
    __device__ __forceinline__ void push(bool wanted, const Ready& ready, Staged* here,
                                         u32* here_count, Entry* list, u32* list_count) {
        u32 place = slot(here_count, wanted);
        bool fits = place < STAGED;
        if (wanted && fits) keep(here[place], ready);
        if (__any_sync(~0u, wanted && !fits))
            append(work, control, list, list_count, entry_of(ready), wanted && !fits);
    }

    // Relaxes the rows of up to 32 entries, one a lane; all lanes call it.
    __device__ __forceinline__ void rows(bool wanted, Ready ready) {
        wanted = wanted && ready.distance == current(&work.distance[ready.vertex]);
        if (wanted && ready.degree > PART && cut(ready)) wanted = false;
        if (!wanted) ready.degree = 0;
        relaxed += ready.degree;
        distance = ready.distance;
        expand(ready.begin, ready.degree, *this);
    }

    // Leaves a long row to the next turn, in parts; false if there is no room for them.
    __device__ __forceinline__ bool cut(const Ready& ready) {
        u32 parts = (ready.degree + PART - 1) / PART;
        u32 first = atomicAdd(now.items_out_count, parts);
        bool fits = first + parts <= work.item_capacity;
        for (u32 part = 0; part < parts && first + part < work.item_capacity; part++) {
            Item item = {};
            item.distance = ready.distance;
            item.vertex = fits ? ready.vertex : NO_VERTEX;
            item.part = part;
            now.items_out[first + part] = item;
        }
        return fits;
    }

    // Thin levels: LANES lanes a row, each taking arcs by itself. What one needs next is asked for
    // before it is known to be needed, so that a level costs two round trips to L2 and no more: the
    // arc with the tail's distance, then the head's distance with its row.
    __device__ __forceinline__ void short_row(const Ready& ready) {
        Distance known = current(&work.distance[ready.vertex]);
        for (u32 k = lane() % LANES; k < ready.degree; k += LANES) {
            Arc arc = load(&share.arcs[ready.begin + k]);
            if (known != ready.distance) return;  // stale
            Ready next = {};
            next.vertex = arc.head;
            next.distance = plus(ready.distance, arc.weight);
            if (arc.head < share.own) look_up(next);
            relaxed++;
            if (settle(arc, ready.distance, next.distance)) list_one(next);
        }
    }

    __device__ __forceinline__ bool settle(const Arc& arc, Distance base, Distance reach) {
        bool wrapped = (arc.weight > 0 && reach < base) || (arc.weight < 0 && reach > base);
        bool fits = reach <= cutoff && !wrapped;
        Distance known = fits ? atomic_min(&work.distance[arc.head], reach) : 0;
        if ((wrapped || (known == NOTHING && reach == NOTHING)) && cutoff == NOTHING)
            control->overflowed = 1;
        return fits && reach < known;
    }

    // As `list`, for one lane.
    __device__ __forceinline__ void list_one(const Ready& ready) {
        if (ready.vertex >= share.own) {
            if (peers.count > 1) send_one(ready.vertex - share.own, ready.distance);
            else mark_dirty_one(share, work, control, ready.vertex);
        } else if (ready.distance < threshold) {
            if (ready.degree) fetch_ahead(&share.arcs[ready.begin]);
            push_one(ready, staged.near[level % 2], &staged.near_count[level % 3], now.near_out,
                     now.near_out_count);
        } else {
            push_one(ready, staged.far, &staged.far_count, now.far, now.far_count);
        }
    }

    template <class Staged>
    __device__ __forceinline__ void push_one(const Ready& ready, Staged* here, u32* here_count,
                                             Entry* list, u32* list_count) {
        u32 place = atomicAdd(here_count, 1u);
        if (place < STAGED) keep(here[place], ready);
        else put(work, control, list, atomicAdd(list_count, 1u), entry_of(ready));
    }

    // Relaxes a part of a long row by one warp, four arcs a lane at a time.
    __device__ __forceinline__ void part(const Item& item) {
        if (item.vertex == NO_VERTEX) return;
        if (item.distance != current(&work.distance[item.vertex])) return;
        Offset begin = __ldg(&share.offsets[item.vertex]) + (Offset)item.part * PART;
        Offset end = min(begin + PART, __ldg(&share.offsets[item.vertex + 1]));
        for (Offset base = begin; base < end; base += 4 * 32) {
            Arc arcs[4];
            bool active[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                Offset index = base + 32 * k + lane();
                active[k] = index < end;
                arcs[k] = {};
                if (active[k]) arcs[k] = load(&share.arcs[index]);
                relaxed += active[k];
            }
            // most arcs improve nothing: one look at all four heads before any of them is touched
#pragma unroll
            for (int k = 0; k < 4; k++) {
                Distance known = active[k] ? current(&work.distance[arcs[k].head]) : 0;
                Distance reach = plus(item.distance, arcs[k].weight);
                active[k] = active[k] && (reach < known || known == NOTHING || arcs[k].weight < 0);
            }
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (__any_sync(~0u, active[k])) arrive(active[k], arcs[k], item.distance);
        }
    }
};
