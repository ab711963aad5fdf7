// Relaxing arcs by whole warps, and listing what became nearer.
#pragma once

// `Lists` is where the improvements of this turn gather; see lists.cuh.
template <class Lists>
struct Relax {
    const Rank& rank;
    const Turn& now;
    Lists& lists;
    Distance threshold, cutoff;
    u64& relaxed;

    // The rows of up to 32 entries, one a lane; all lanes call it.
    __device__ __forceinline__ void rows(bool wanted, Ready ready) {
        wanted = wanted && ready.distance == current(&rank.work.distance[ready.vertex]);
        if (wanted && ready.degree > PART && cut(ready)) wanted = false;
        if (!wanted) ready.degree = 0;
        relaxed += ready.degree;
        expand<ARCS>(ready.begin, ready.degree,
               [&](bool(&active)[ARCS], const Offset(&index)[ARCS], const u32(&source)[ARCS]) {
                   Arc arcs[ARCS];
                   Distance base[ARCS];
#pragma unroll
                   for (int k = 0; k < ARCS; k++) {
                       arcs[k] = {};
                       if (active[k]) arcs[k] = load(&rank.share.arcs[index[k]]);
                       base[k] = __shfl_sync(~0u, ready.distance, source[k]);
                   }
                   arrive(active, arcs, base);
               });
    }

    // A part of a long row.
    __device__ __forceinline__ void part(const Item& item) {
        if (item.vertex == NO_VERTEX) return;
        if (item.distance != current(&rank.work.distance[item.vertex])) return;
        const Offset* row = &rank.share.offsets[item.vertex];
        Offset begin = __ldg(row) + (Offset)item.part * PART, end = min(begin + PART, __ldg(row + 1));
        for (Offset first = begin; first < end; first += 32 * ARCS) {
            bool active[ARCS];
            Arc arcs[ARCS];
            Distance base[ARCS];
#pragma unroll
            for (int k = 0; k < ARCS; k++) {
                Offset index = first + 32 * k + lane();
                active[k] = index < end;
                arcs[k] = {};
                if (active[k]) arcs[k] = load(&rank.share.arcs[index]);
                base[k] = item.distance;
                relaxed += active[k];
            }
            arrive(active, arcs, base);
        }
    }

    // What peers have sent: of what still improves, `take(close, ready)` gets what lies in the window.
    template <class Take>
    __device__ __forceinline__ void inbox(u32 warp, u32 warps, Take take) {
        const Exchange& exchange = rank.seen.exchange;
        u32 capacity = rank.peers.capacity;
        for (u32 p = 0; p < rank.peers.count; p++) {
            u64 end = exchange.end[p];
            const Entry* ring = rank.peers.inbox + (u64)p * capacity;
            for (u64 base = exchange.begin[p] + warp * 32; base < end; base += warps * 32) {
                Ready ready = {};
                bool nearer = false;
                if (base + lane() < end) {
                    Entry entry = load(&ring[(base + lane()) & (capacity - 1)]);
                    ready.vertex = entry.vertex;
                    ready.distance = entry.distance;
                    Distance* known = &rank.work.distance[entry.vertex];
                    nearer = entry.distance < atomic_min(known, entry.distance);
                }
                bool close = nearer && ready.distance < threshold;
                lists.far(nearer && !close, ready);
                take(close, ready);
            }
        }
    }

    // Sends the dirty vertices again that had found their ring full; a lane a word, a bit at a time.
    __device__ __forceinline__ void resend(u32 warp, u32 warps) {
        u32 words = (rank.share.halo + 31) / 32;
        for (u32 base = warp * 32; base < words; base += warps * 32) {
            u32 word = base + lane(), bits = 0;
            if (word < words && __ldcg(&rank.work.dirty_bits[word]))
                bits = atomicExch(&rank.work.dirty_bits[word], 0u);
            while (__any_sync(~0u, bits)) {
                u32 place = word * 32 + __ffs(bits) - 1;
                Distance distance = bits ? current(&rank.work.distance[rank.share.own + place]) : 0;
                send(rank, bits, place, distance);
                bits &= bits - 1;
            }
        }
    }

  private:
    // The heads of the arcs may have become nearer. Most have not: all are looked at before any is
    // touched.
    __device__ __forceinline__ void arrive(bool (&active)[ARCS], const Arc (&arcs)[ARCS],
                                           const Distance (&base)[ARCS]) {
        Distance known[ARCS];
#pragma unroll
        for (int k = 0; k < ARCS; k++)
            known[k] = active[k] ? current(&rank.work.distance[arcs[k].head]) : 0;
#pragma unroll
        for (int k = 0; k < ARCS; k++)
            active[k] = active[k] && improve(arcs[k], base[k], known[k]);
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            Ready ready = {};
            ready.vertex = arcs[k].head;
            ready.distance = plus(base[k], arcs[k].weight);
            list(active[k] && ready.distance < known[k], ready);
        }
    }

    // Lowers the head's distance if that seems to help; `known` becomes what it was then.
    __device__ __forceinline__ bool improve(const Arc& arc, Distance base, Distance& known) {
        Distance reach = plus(base, arc.weight);
        bool wrapped = (arc.weight > 0 && reach < base) || (arc.weight < 0 && reach > base);
        if (reach < known && reach <= cutoff && !wrapped) {
            known = atomic_min(&rank.work.distance[arc.head], reach);
            return true;
        }
        // a sum that is not a distance matters only if nothing else reaches the vertex
        if ((wrapped || known == NOTHING) && cutoff == NOTHING) rank.control->overflowed = 1;
        return false;
    }

    __device__ __forceinline__ void list(bool nearer, const Ready& ready) {
        if (!__any_sync(~0u, nearer)) return;
        bool local = nearer && ready.vertex < rank.share.own;
        bool close = local && ready.distance < threshold;
        lists.near(close, ready);
        lists.far(local && !close, ready);
        lists.remote(nearer && !local, ready);
    }

    // Leaves a long row to the next turn, in parts; false if there is no room for them.
    __device__ __forceinline__ bool cut(const Ready& ready) {
        u32 parts = (ready.degree + PART - 1) / PART;
        u32 first = atomicAdd(now.items_out_count, parts);
        bool fits = first + parts <= rank.work.item_capacity;
        for (u32 part = 0; part < parts && first + part < rank.work.item_capacity; part++) {
            Item item = {};
            item.distance = ready.distance;
            item.vertex = fits ? ready.vertex : NO_VERTEX;
            item.part = part;
            now.items_out[first + part] = item;
        }
        return fits;
    }
};
