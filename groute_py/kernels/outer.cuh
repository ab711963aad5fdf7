// Outer arcs, pulled. Where hubs hold most arcs, most of these lead to vertices that are reached on a shorter way, and
// to relax them all is to look at nearly every arc of the graph.
//
// So where a turn has much to relax a *bound* is set, not far beyond the window's end, and where a pull opens a narrow
// window at its end, if grades are known (onward.cuh). Arcs that lead there or further, the *outer* ones, are left.
// When nothing before the bound is left, each vertex beyond it looks at the arcs that lead to it, lightest first,
// until one is too heavy to bring it nearer (Chakaravarthy, Checconi, Murali, Petrini and Sabharwal, "Scalable single
// source shortest path algorithms for massively parallel systems", IEEE TPDS 28(7), 2017: inner and outer short edges,
// and pull). Both takes rows that ascend by weight.
//
// Nothing is missed. Let u lie before the bound, for good by then, and no nearer than `base`, where the window began
// in which arcs were left first. An inner arc of u was relaxed when u was taken, or leads to what was no farther than
// u and so was u left out. An outer one cannot improve a vertex before the bound; and a vertex beyond has looked at
// it, or stopped at an arc no heavier, by which not even a tail at `base` would have brought it nearer. Tails before
// `base` have had all their arcs relaxed or pulled; one that only comes there later, as told by a peer, or is still
// listed when the window moves on, is `late`, and the next pull counts from there. A tail beyond the bound that was
// taken, since a peer is ahead, has outer arcs only, of which the same holds; the others are taken later.
#pragma once

// Whether a window is so narrow that many arcs lead out of it, and arcs may be left at all.
__device__ __forceinline__ bool is_narrow(const Work& work, Distance window, Distance threshold) {
    return work.outer_from && threshold != NOTHING && (float)(threshold - window) < work.outer_below;
}

// How many arcs a turn has to relax, about.
__device__ __forceinline__ u64 arcs_due(const Work& work, u64 entries, u64 items) {
    return entries * work.mean_degree + items * PART;
}

struct Pull {
    const Rank& rank;
    const Turn& now;
    Staging& staged;
    WarpLists lists;
    Distance from, beyond, end, cutoff;  // tails from `from` on count; the next window is beyond .. end
    u32& relaxed;
    bool lists_far;            // else it is looked for, as most likely the next window ends with a pull
    Distance least = NOTHING;  // of the vertices that are far then
    u32 found = 0;             // how many there are that are in no list
    bool lost = false;         // a sum was no distance

    // Vertices that lie beyond and have arcs, 32 at a time; parts of long rows are left in items_out.
    __device__ __forceinline__ void rows() {
        const Share& share = rank.share;
        const u32 each = HELD / 32 - 1, stretch = 32 * grid_warps();
        Entry* held = staged.held[1][threadIdx.x >> 5];
        u32 count = 0;
        for (u32 base = 32 * grid_warp(); base < share.own; base += each * stretch) {
            Distance known[each];
            Offset begin[each], end[each];
#pragma unroll
            for (u32 k = 0; k < each; k++) {
                u32 vertex = base + k * stretch + lane();
                known[k] = begin[k] = end[k] = 0;
                if (vertex >= share.own) continue;
                known[k] = current(&rank.work.distance[vertex]);
                begin[k] = __ldg(&share.in_offsets[vertex]);
                end[k] = __ldg(&share.in_offsets[vertex + 1]);
            }
#pragma unroll
            for (u32 k = 0; k < each; k++) {
                bool lies = known[k] >= beyond && end[k] > begin[k];
                u32 mask = __ballot_sync(~0u, lies);
                if (lies) held[count + rank_among(mask)] = {known[k], base + k * stretch + lane()};
                count += __popc(mask);
            }
            __syncwarp();
            for (; count >= 32; count -= 32) take(held[count - 32 + lane()], true);
            __syncwarp();
        }
        if (count) take(held[min(lane(), count - 1)], lane() < count);
    }

    // The parts of long rows, a warp each; those in which no arc is light enough are dropped, some at a time.
    __device__ __forceinline__ void parts(u32 count) {
        const u32 warps = grid_warps();
        for (u32 base = grid_warp(); base < count; base += AHEAD * warps) {
            u32 index = base + lane() * warps;
            Ready ready = {};
            bool live = lane() < AHEAD && index < count && part(load(&now.items_out[index]), ready);
            for (u32 left = __ballot_sync(~0u, live); left; left &= left - 1) {
                int lane_with = __ffs(left) - 1;
                Offset begin = __shfl_sync(~0u, ready.begin, lane_with);
                long_row(__shfl_sync(~0u, ready.vertex, lane_with), begin, __shfl_sync(~0u, ready.degree, lane_with));
            }
        }
    }

    // Where the vertices with long rows are, once all of their parts have been looked at.
    __device__ __forceinline__ void list_long(u32 count) {
        for (u32 base = 32 * grid_warp(); base < count; base += 32 * grid_warps()) {
            Item item = {};
            if (base + lane() < count) item = load(&now.items_out[base + lane()]);
            list(item.vertex, 0, 0, base + lane() < count && item.part == 0);
        }
    }

    // Writes what is held, and what is known of far to where it is kept.
    __device__ __forceinline__ void settle(Distance* least_far, u32* far_count) {
        lists.flush();
        lower(least_far, least);
        for (u32 apart = 16; apart; apart /= 2) found += __shfl_xor_sync(~0u, found, apart);
        if (lane() == 0 && found) atomicAdd(far_count, found);
        if (lost && cutoff == NOTHING) rank.control->overflowed = 1;
    }

  private:
    // The best that one lane has found for a vertex.
    struct Best {
        Distance distance;
        u32 tail;
    };

    // A vertex a lane, as near as it is by now, with the grade that it had at a distance; all 32 lanes call it.
    __device__ __forceinline__ void list(u32 vertex, u32 grade, Distance at, bool wanted) {
        __syncwarp();
        Distance distance = wanted ? current(&rank.work.distance[vertex]) : NOTHING;
        Finds finds = {};
        finds.ready[0] = {distance, graded(vertex, distance == at ? grade : 0), NO_VERTEX};
        bool near = distance < end, idle = near && lists.idle(finds.ready[0]);
        finds.near[0] = near && (exchanges(rank.peers) || !idle);
        bool far = !near && distance != NOTHING;
        bool due = idle && lists.bound != NOTHING;  // its arcs are pulled where the window ends
        if (far) least = min(least, distance);
        if (due) least = min(least, end);
        found += due || (far && !lists_far);
        if (lists_far && __any_sync(~0u, far))
            append(rank.work, rank.control, now.far, entry_of(finds.ready[0]), NO_VERTEX, far);
        lists.add(finds);
    }

    // Whether an arc, and so one that comes before it in its row, may bring a vertex nearer than that; or, where the
    // vertex is not reached, may be what reaches it, if by a sum that does not fit.
    __device__ __forceinline__ bool may_help(const Arc& arc, Distance known) {
        return known == NOTHING || plus(from, arc.weight) < known;
    }

    // An arc as a lane's vertex sees it, by the distance of its tail. A sum that is no distance matters where nothing else
    // reaches the vertex; a rank alone has yet to take a tail that lies beyond, and will see then.
    __device__ __forceinline__ void look(const Arc& arc, Distance at, Best& best) {
        if (at == NOTHING) return;
        Distance sum = plus(at, arc.weight);
        bool wrapped = arc.weight > 0 && sum < at, taken = EXCHANGES || at < beyond;
        lost = lost || (taken && best.distance == NOTHING && (wrapped || sum == NOTHING));
        if (!wrapped && sum <= cutoff && sum < best.distance) best = {sum, arc.head};
    }

    // The best of the lanes, `count` side by side.
    __device__ __forceinline__ Best best_of(Best best, u32 count) {
        for (u32 apart = count / 2; apart; apart /= 2) {
            Best other = {__shfl_xor_sync(~0u, best.distance, apart), __shfl_xor_sync(~0u, best.tail, apart)};
            if (other.distance < best.distance) best = other;
        }
        return best;
    }

    // Whether this lane's row is long: then its parts are left in items_out.
    __device__ __forceinline__ bool cut_long(Ready& ready) {
        const bool is_long = ready.degree > PART;
        for (u32 left = __ballot_sync(~0u, is_long); left; left &= left - 1) {
            int lane_with = __ffs(left) - 1;
            u32 parts = (__shfl_sync(~0u, ready.degree, lane_with) + PART - 1) / PART, first = 0;
            if (lane() == 0) first = atomicAdd(now.cut_count, parts);
            first = __shfl_sync(~0u, first, 0);
            Item item = {};
            item.vertex = __shfl_sync(~0u, ready.vertex, lane_with);
            for (item.part = lane(); item.part < parts; item.part += 32)
                now.items_out[first + item.part] = item;
        }
        if (is_long) ready.degree = 0;
        return is_long;
    }

    // A vertex a lane. Its lightest arcs bring most of what there is to gain, and then few others may help.
    __device__ __forceinline__ void take(const Entry& entry, bool wanted) {
        Ready ready = {entry.distance, entry.vertex};
        if (wanted) {
            ready.begin = __ldg(&rank.share.in_offsets[entry.vertex]);
            ready.degree = (u32)(__ldg(&rank.share.in_offsets[entry.vertex + 1]) - ready.begin);
        }
        wanted = !cut_long(ready) && wanted;
        u32 grade = lightest(ready);
        shorten(rank.share.in_arcs, ready, [&](const Arc& arc) { return !may_help(arc, ready.distance); });
        if (__any_sync(~0u, ready.degree)) others(ready);
        list(entry.vertex, grade, ready.distance, wanted);
    }

    // The first LANES arcs of each row, by as many lanes; leaves the others in `ready`, if the next one may help. Returns
    // the vertex's grade as it is then: no arc leads on to what is known to be no farther.
    __device__ __forceinline__ u32 lightest(Ready& ready) {
        const u32 rows = 32 / LANES;
        static_assert(ARCS * (32 / LANES) == 32, "each lane has an arc of so many rows");
        const u32 index = lane() % LANES, group = lane() % rows * LANES;
        Arc arcs[ARCS];
        Distance at[ARCS], known[ARCS];
        u32 vertex[ARCS], grade = 0;
        bool active[ARCS], there[ARCS], is_longer[ARCS];
#pragma unroll
        for (u32 k = 0; k < ARCS; k++) {
            u32 lane_with = k * rows + lane() / LANES;
            vertex[k] = __shfl_sync(~0u, ready.vertex, lane_with);
            known[k] = __shfl_sync(~0u, ready.distance, lane_with);
            Offset begin = __shfl_sync(~0u, ready.begin, lane_with);
            u32 degree = __shfl_sync(~0u, ready.degree, lane_with);
            active[k] = there[k] = index < degree;
            is_longer[k] = degree > LANES;
            arcs[k] = {};
            if (active[k]) arcs[k] = bare(load(&rank.share.in_arcs[begin + index]));
        }
#pragma unroll
        for (u32 k = 0; k < ARCS; k++) {
            // where the vertex is near its grade counts
            active[k] = active[k] && (known[k] < end || may_help(arcs[k], known[k]));
            at[k] = active[k] ? current(&rank.work.distance[arcs[k].head]) : NOTHING;
            relaxed += active[k];
        }
        Distance heaviest = 0;
#pragma unroll
        for (u32 k = 0; k < ARCS; k++) {
            Best best = {known[k], NO_VERTEX};
            look(arcs[k], at[k], best);
            best = best_of(best, LANES);
            if (index == 0 && best.tail != NO_VERTEX) {
                atomic_min(&rank.work.distance[vertex[k]], best.distance);
                record(rank.work, vertex[k], best.distance, best.tail);
            }
            // arcs beyond the last of these are no lighter
            bool leads = at[k] > best.distance || (is_longer[k] && index == LANES - 1);
            Distance onward = least_of(there[k] && leads ? arcs[k].weight : NOTHING);
            Distance now_known = __shfl_sync(~0u, best.distance, group);
            Distance last = __shfl_sync(~0u, arcs[k].weight, group + LANES - 1);
            onward = __shfl_sync(~0u, onward, group);
            if (lane() / rows == k) {
                ready.distance = now_known;
                heaviest = last;
                grade = grade_of(rank.share, onward);
            }
        }
        bool more = ready.degree > LANES && may_help({heaviest, 0}, ready.distance);
        ready.begin += LANES;
        ready.degree = more ? ready.degree - LANES : 0;
        return grade;
    }

    // The least of what LANES lanes have, side by side.
    __device__ __forceinline__ Distance least_of(Distance mine) {
        for (u32 apart = LANES / 2; apart; apart /= 2) mine = min(mine, __shfl_xor_sync(~0u, mine, apart));
        return mine;
    }

    __device__ __forceinline__ void others(const Ready& ready) {
        expand<ARCS>(ready.begin, ready.degree,
               [&](bool(&active)[ARCS], const Offset(&index)[ARCS], const u32(&source)[ARCS]) {
                   Arc arcs[ARCS];
                   Distance at[ARCS], known[ARCS];
                   u32 vertex[ARCS];
#pragma unroll
                   for (int k = 0; k < ARCS; k++) {
                       arcs[k] = {};
                       if (active[k]) arcs[k] = bare(load(&rank.share.in_arcs[index[k]]));
                       known[k] = __shfl_sync(~0u, ready.distance, source[k]);
                       vertex[k] = __shfl_sync(~0u, ready.vertex, source[k]);
                   }
#pragma unroll
                   for (int k = 0; k < ARCS; k++) {
                       active[k] = active[k] && may_help(arcs[k], known[k]);
                       at[k] = active[k] ? current(&rank.work.distance[arcs[k].head]) : NOTHING;
                       relaxed += active[k];
                   }
#pragma unroll
                   for (int k = 0; k < ARCS; k++) {
                       Best best = {known[k], NO_VERTEX};
                       look(arcs[k], at[k], best);
                       if (best.tail != NO_VERTEX) bring(vertex[k], best);
                   }
               });
    }

    __device__ __forceinline__ void bring(u32 vertex, const Best& best) {
        Distance before = atomic_min(&rank.work.distance[vertex], best.distance);
        if (best.distance < before) record(rank.work, vertex, best.distance, best.tail);
    }

    __device__ __forceinline__ bool part(const Item& item, Ready& ready) {
        const Offset* row = &rank.share.in_offsets[item.vertex];
        ready.vertex = item.vertex;
        ready.begin = __ldg(row) + (Offset)item.part * PART;
        ready.degree = (u32)min((Offset)PART, __ldg(row + 1) - ready.begin);
        Distance known = current(&rank.work.distance[item.vertex]);
        return may_help(load(&rank.share.in_arcs[ready.begin]), known);
    }

    __device__ __forceinline__ void long_row(u32 vertex, Offset begin, u32 degree) {
        Best best = {current(&rank.work.distance[vertex]), NO_VERTEX};
        for (u32 first = lane(); __any_sync(~0u, first < degree); first += 32) {
            Arc arc = {};
            if (first < degree) arc = bare(load(&rank.share.in_arcs[begin + first]));
            bool active = first < degree && may_help(arc, best.distance);
            Distance at = active ? current(&rank.work.distance[arc.head]) : NOTHING;
            relaxed += active;
            look(arc, at, best);
            if (!__all_sync(~0u, active)) break;
        }
        best = best_of(best, 32);
        if (lane() == 0 && best.tail != NO_VERTEX) bring(vertex, best);
    }
};

// Pulls the outer arcs of all from `base` to `beyond`, where nothing is left, and lists what lies in the next window,
// which ends at `end`, of what leads on before the next bound. All threads of the grid call it.
__device__ void pull(const Rank& rank, const Turn& now, Staging& staged, Distance base, Distance beyond,
                     Distance end, Distance bound, Distance cutoff, u32 far_side, u32& relaxed) {
    const bool lists_far = !is_narrow(rank.work, beyond, end);
    Control* control = rank.control;
    Distance from = min(base, rank.seen.late);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        control->late = NOTHING;
        control->unlisted = !lists_far;
    }
    Pull pulled{rank, now, staged, {rank, now, staged, bound}, from, beyond, end, cutoff, relaxed, lists_far};
    pulled.rows();
    meet(control, rank.block);
    const u32 parts = __ldcg(now.cut_count);
    if (parts) {
        pulled.parts(parts);
        meet(control, rank.block);
        pulled.list_long(parts);
    }
    pulled.settle(&control->least_far[far_side], &control->far_count[far_side]);
}
