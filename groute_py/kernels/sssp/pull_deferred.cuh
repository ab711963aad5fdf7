// The pull phase for long arcs. If hubs hold most arcs, most of their arcs lead to vertices that a shorter
// path reaches, and relaxing all of them means reading nearly every arc of the graph.
//
// Method: inner and outer short edges, and pull (Chakaravarthy, Checconi, Murali, Petrini and Sabharwal, "Scalable
// single source shortest path algorithms for massively parallel systems", IEEE TPDS 28(7), 2017). Rows must ascend by
// weight.
// 1. A step with many arcs sets a *bound* a little beyond the end of its bucket. So does a pull that opens a narrow
//    bucket, if weight classes are known (sssp/min_out_weight.cuh); its bound is the end of that bucket.
// 2. Arcs that lead to the bound or beyond are deferred.
// 3. When nothing is left before the bound, each vertex at or beyond it reads its in-arcs, lightest first, until one is
//    too heavy to improve it.
//
// Why no improvement is lost. Let u have its final distance, before the bound and at least `base`, the start of the
// bucket in which arcs were first deferred. An inner arc of u was relaxed when u was taken, or u was not listed because
// the arc leads to a vertex that was no farther than u. A deferred arc cannot improve a vertex before the bound. A
// vertex beyond has read the arc, or stopped at an arc no heavier, with which not even a tail at `base` would improve
// it. Tails before `base` have had all arcs relaxed or pulled. A tail that falls below `base` later (pushed by a peer,
// or still listed when the bucket moves) is `late`, and the next pull counts from there. A tail beyond the bound that
// was taken early, because a peer is ahead, has deferred arcs only, which are covered by the same argument; the others
// are taken later.
#pragma once

#include "primitives/algebra.cuh"
#include "primitives/load_balance.cuh"
#include "sssp/buckets.cuh"
#include "sssp/warp_lists.cuh"

struct Pull {
    const Rank& rank;
    const StepLists& now;
    Staging& staged;
    WarpLists lists;
    Distance from, beyond, end, cutoff;  // tails at `from` or more are pulled from; the next bucket is beyond .. end
    u32& relaxed;
    bool lists_far;  // false: far gets no list, because the next bucket probably ends with a pull too
    Distance least = LARGEST_DISTANCE;  // smallest distance of the far vertices
    u32 found = 0;                      // number of far vertices that are in no list
    bool lost = false;                  // a sum did not fit in the distance type

    // Pulls for the vertices at `beyond` or more that have in-arcs, 32 at a time; cuts long rows into chunks
    // (chunks_out).
    __device__ __forceinline__ void grid_pull_rows() {
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
                known[k] = load_l2(&rank.work.distance[vertex]);
                begin[k] = load_read_only(&share.in_offsets[vertex]);
                end[k] = load_read_only(&share.in_offsets[vertex + 1]);
            }
#pragma unroll
            for (u32 k = 0; k < each; k++) {
                bool lies = known[k] >= beyond && end[k] > begin[k];
                u32 mask = __ballot_sync(~0u, lies);
                if (lies) held[count + rank_among(mask)] = {known[k], base + k * stretch + lane()};
                count += __popc(mask);
            }
            __syncwarp();
            for (; count >= 32; count -= 32) warp_pull(held[count - 32 + lane()], true);
            __syncwarp();
        }
        if (count) warp_pull(held[min(lane(), count - 1)], lane() < count);
    }

    // Pulls by the chunks of long rows, a warp a chunk. A warp looks up several chunks together and drops those without
    // an arc that is light enough.
    __device__ __forceinline__ void grid_pull_chunks(u32 count) {
        const u32 warps = grid_warps();
        for (u32 base = grid_warp(); base < count; base += AHEAD * warps) {
            u32 index = base + lane() * warps;
            Ready ready = {};
            bool live = lane() < AHEAD && index < count && look_up_chunk(load(&now.chunks_out[index]), ready);
            for (u32 left = __ballot_sync(~0u, live); left; left &= left - 1) {
                int lane_with = __ffs(left) - 1;
                Offset begin = __shfl_sync(~0u, ready.begin, lane_with);
                warp_pull_chunk(__shfl_sync(~0u, ready.vertex, lane_with), begin,
                                __shfl_sync(~0u, ready.degree, lane_with));
            }
        }
    }

    // Lists the vertices with long rows, after all their chunks have been pulled.
    __device__ __forceinline__ void grid_list_long(u32 count) {
        for (u32 base = 32 * grid_warp(); base < count; base += 32 * grid_warps()) {
            RowChunk chunk = {};
            if (base + lane() < count) chunk = load(&now.chunks_out[base + lane()]);
            warp_list(chunk.vertex, 0, 0, base + lane() < count && chunk.number == 0);
        }
    }

    // Writes buffered entries, and the number and smallest distance of far to the control block.
    __device__ __forceinline__ void grid_finish(Distance* least_far, u32* far_count) {
        lists.warp_flush();
        warp_lower(least_far, least);
        for (u32 apart = 16; apart; apart /= 2) found += __shfl_xor_sync(~0u, found, apart);
        if (lane() == 0 && found) atomicAdd(far_count, found);
        if (lost && cutoff == NO_CUTOFF) rank.control->overflowed = 1;
    }

  private:
    // The best candidate that a lane has found for a vertex.
    struct Best {
        Distance distance;
        u32 tail;
    };

    // Lists a vertex a lane by its current distance, with the weight class if that still is the distance `at`; all 32
    // lanes call it.
    __device__ __forceinline__ void warp_list(u32 vertex, u32 weight_class, Distance at, bool wanted) {
        __syncwarp();
        Distance distance = wanted ? load_l2(&rank.work.distance[vertex]) : UNREACHED;
        Candidates candidates = {};
        candidates.ready[0] = {distance, with_weight_class(vertex, distance == at ? weight_class : 0), NO_VERTEX};
        bool near = distance < end, can_skip = near && lists.can_skip(candidates.ready[0]);
        candidates.near[0] = near && (exchanges(rank.peers) || !can_skip);
        bool far = !near && distance != UNREACHED;
        bool due = can_skip && lists.bound != NO_BOUND;  // its arcs are pulled where the bucket ends
        if (far) least = min(least, distance);
        if (due) least = min(least, end);
        found += due || (far && !lists_far);
        if (lists_far && __any_sync(~0u, far))
            warp_append(rank.work, rank.control, now.far, entry_of(candidates.ready[0]), NO_VERTEX, far);
        lists.warp_add(candidates);
    }

    // Whether an arc may improve a vertex at distance `known`; if not, no later arc of the row can. Always true for an
    // unreached vertex, because a sum that overflows must be noticed.
    __device__ __forceinline__ bool may_help(const Arc& arc, Distance known) {
        return known == UNREACHED || extend(from, arc.weight) < known;
    }

    // Updates `best` by an arc whose tail has distance `at`. An overflow counts only if nothing else reaches the
    // vertex. On one rank a tail beyond the bound does not count yet, because its arcs are relaxed later.
    __device__ __forceinline__ void consider(const Arc& arc, Distance at, Best& best) {
        if (at == UNREACHED) return;
        Distance sum = extend(at, arc.weight);
        bool wrapped = arc.weight > 0 && sum < at, taken = EXCHANGES || at < beyond;
        lost = lost || (taken && best.distance == UNREACHED && (wrapped || sum == UNREACHED));
        if (!wrapped && sum <= cutoff && sum < best.distance) best = {sum, arc.head};
    }

    // The best candidate of groups of `count` consecutive lanes.
    __device__ __forceinline__ Best warp_best_of(Best best, u32 count) {
        for (u32 apart = count / 2; apart; apart /= 2) {
            Best other = {__shfl_xor_sync(~0u, best.distance, apart), __shfl_xor_sync(~0u, best.tail, apart)};
            if (other.distance < best.distance) best = other;
        }
        return best;
    }

    // Whether this lane's row is long; such a row is cut into chunks in chunks_out.
    __device__ __forceinline__ bool warp_cut_long(Ready& ready) {
        const bool is_long = ready.degree > ROW_CHUNK;
        for (u32 left = __ballot_sync(~0u, is_long); left; left &= left - 1) {
            int lane_with = __ffs(left) - 1;
            u32 chunks = (__shfl_sync(~0u, ready.degree, lane_with) + ROW_CHUNK - 1) / ROW_CHUNK, first = 0;
            if (lane() == 0) first = atomicAdd(now.cut_count, chunks);
            first = __shfl_sync(~0u, first, 0);
            RowChunk chunk = {};
            chunk.vertex = __shfl_sync(~0u, ready.vertex, lane_with);
            for (chunk.number = lane(); chunk.number < chunks; chunk.number += 32)
                now.chunks_out[first + chunk.number] = chunk;
        }
        if (is_long) ready.degree = 0;
        return is_long;
    }

    // Pulls for a vertex a lane: first the lightest arcs, which give most improvements, then others that may still
    // help.
    __device__ __forceinline__ void warp_pull(const Entry& entry, bool wanted) {
        Ready ready = {entry.distance, entry.vertex};
        if (wanted) {
            ready.begin = load_read_only(&rank.share.in_offsets[entry.vertex]);
            ready.degree = (u32)(load_read_only(&rank.share.in_offsets[entry.vertex + 1]) - ready.begin);
        }
        wanted = !warp_cut_long(ready) && wanted;
        u32 weight_class = warp_pull_lightest(ready);
        shorten(rank.share.in_arcs, ready, [&](const Arc& arc) { return !may_help(arc, ready.distance); });
        if (__any_sync(~0u, ready.degree)) warp_pull_others(ready);
        warp_list(entry.vertex, weight_class, ready.distance, wanted);
    }

    // Pulls by the first LANES arcs of each row, an arc a lane. `ready` keeps the other arcs if the next one may help.
    // Returns the weight class of the vertex without the arcs to vertices that are no farther.
    __device__ __forceinline__ u32 warp_pull_lightest(Ready& ready) {
        const u32 rows = 32 / LANES;
        static_assert(ARCS * (32 / LANES) == 32, "each lane has an arc of so many rows");
        const u32 index = lane() % LANES, group = lane() % rows * LANES;
        Arc arcs[ARCS];
        Distance at[ARCS], known[ARCS];
        u32 vertex[ARCS], weight_class = 0;
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
            // also needed for the weight class of a vertex that will be near
            active[k] = active[k] && (known[k] < end || may_help(arcs[k], known[k]));
            at[k] = active[k] ? load_l2(&rank.work.distance[arcs[k].head]) : UNREACHED;
            relaxed += active[k];
        }
        Distance heaviest = 0;
#pragma unroll
        for (u32 k = 0; k < ARCS; k++) {
            Best best = {known[k], NO_VERTEX};
            consider(arcs[k], at[k], best);
            best = warp_best_of(best, LANES);
            if (index == 0 && best.tail != NO_VERTEX) {
                atomic_min(&rank.work.distance[vertex[k]], best.distance);
                record(rank.work, vertex[k], best.distance, best.tail);
            }
            // the arcs after these are no lighter than the last one
            bool leads = at[k] > best.distance || (is_longer[k] && index == LANES - 1);
            Distance onward = warp_least_of(there[k] && leads ? arcs[k].weight : NO_ARC);
            Distance now_known = __shfl_sync(~0u, best.distance, group);
            Distance last = __shfl_sync(~0u, arcs[k].weight, group + LANES - 1);
            onward = __shfl_sync(~0u, onward, group);
            if (lane() / rows == k) {
                ready.distance = now_known;
                heaviest = last;
                weight_class = weight_class_of(rank.share, onward);
            }
        }
        bool more = ready.degree > LANES && may_help({heaviest, 0}, ready.distance);
        ready.begin += LANES;
        ready.degree = more ? ready.degree - LANES : 0;
        return weight_class;
    }

    // The minimum over groups of LANES consecutive lanes.
    __device__ __forceinline__ Distance warp_least_of(Distance mine) {
        for (u32 apart = LANES / 2; apart; apart /= 2) mine = min(mine, __shfl_xor_sync(~0u, mine, apart));
        return mine;
    }

    __device__ __forceinline__ void warp_pull_others(const Ready& ready) {
        warp_expand<ARCS>(ready.begin, ready.degree,
                          [&](bool (&active)[ARCS], const Offset(&index)[ARCS], const u32(&source)[ARCS]) {
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
                                  at[k] = active[k] ? load_l2(&rank.work.distance[arcs[k].head]) : UNREACHED;
                                  relaxed += active[k];
                              }
#pragma unroll
                              for (int k = 0; k < ARCS; k++) {
                                  Best best = {known[k], NO_VERTEX};
                                  consider(arcs[k], at[k], best);
                                  if (best.tail != NO_VERTEX) improve(vertex[k], best);
                              }
                          });
    }

    __device__ __forceinline__ void improve(u32 vertex, const Best& best) {
        Distance before = atomic_min(&rank.work.distance[vertex], best.distance);
        if (best.distance < before) record(rank.work, vertex, best.distance, best.tail);
    }

    __device__ __forceinline__ bool look_up_chunk(const RowChunk& chunk, Ready& ready) {
        const Offset* row = &rank.share.in_offsets[chunk.vertex];
        ready.vertex = chunk.vertex;
        ready.begin = load_read_only(row) + (Offset)chunk.number * ROW_CHUNK;
        ready.degree = (u32)min((Offset)ROW_CHUNK, load_read_only(row + 1) - ready.begin);
        Distance known = load_l2(&rank.work.distance[chunk.vertex]);
        return may_help(load(&rank.share.in_arcs[ready.begin]), known);
    }

    __device__ __forceinline__ void warp_pull_chunk(u32 vertex, Offset begin, u32 degree) {
        Best best = {load_l2(&rank.work.distance[vertex]), NO_VERTEX};
        for (u32 first = lane(); __any_sync(~0u, first < degree); first += 32) {
            Arc arc = {};
            if (first < degree) arc = bare(load(&rank.share.in_arcs[begin + first]));
            bool active = first < degree && may_help(arc, best.distance);
            Distance at = active ? load_l2(&rank.work.distance[arc.head]) : UNREACHED;
            relaxed += active;
            consider(arc, at, best);
            if (!__all_sync(~0u, active)) break;
        }
        best = warp_best_of(best, 32);
        if (lane() == 0 && best.tail != NO_VERTEX) improve(vertex, best);
    }
};

// Pulls the deferred arcs of the tails from `base` to `beyond`, where nothing is left to relax. Lists the vertices of
// the next bucket, which ends at `end`, that have an arc to relax before the next bound. All threads of the grid call
// it.
__device__ void grid_pull_deferred(const Rank& rank, const StepLists& now, Staging& staged, Distance base,
                                   Distance beyond, Distance end, Distance bound, Distance cutoff, u32 far_side,
                                   u32& relaxed) {
    const bool lists_far = !is_narrow(rank.work, beyond, end);
    Control* control = rank.control;
    Distance from = min(base, rank.seen.late);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        control->late = LARGEST_DISTANCE;
        control->unlisted = !lists_far;
    }
    Pull pulled{rank, now, staged, {rank, now, staged, bound}, from, beyond, end, cutoff, relaxed, lists_far};
    pulled.grid_pull_rows();
    grid_sync(control, rank.phase);
    const u32 chunks = load_l2(now.cut_count);
    if (chunks) {
        pulled.grid_pull_chunks(chunks);
        grid_sync(control, rank.phase);
        pulled.grid_list_long(chunks);
    }
    pulled.grid_finish(&control->least_far[far_side], &control->far_count[far_side]);
}
