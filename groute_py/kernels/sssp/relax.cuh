// Relaxation of arcs by whole warps; vertices that improved go to the worklists.
#pragma once

#include "exchange/flow_control.cuh"
#include "exchange/push.cuh"
#include "primitives/algebra.cuh"
#include "primitives/load_balance.cuh"
#include "primitives/vertices.cuh"
#include "sssp/distance_filter.cuh"
#include "sssp/min_out_weight.cuh"
#include "sssp/predecessor_record.cuh"
#include "sssp/rows.cuh"
#include "sssp/staging.cuh"

#define MIRROR_CHECK_DEGREE 32  // before a longer row of a mirror is relaxed, its owner's distance is read
static_assert(MIRROR_CHECK_DEGREE <= ROW_CHUNK, "mirrors of rows in chunks are lowered");

// `Lists` buffers the improvements of this step: BlockLists or WarpLists, see sssp/staging.cuh.
template <class Lists>
struct Relax {
    const Rank& rank;
    const StepLists& now;
    Lists& lists;
    Distance bucket_begin, threshold, cutoff;
    Distance bound;  // arcs that lead there or beyond are deferred, see sssp/pull_deferred.cuh; NO_BOUND if none are
    u32& relaxed;

    // Relaxes the rows of up to 32 entries, one a lane; all lanes call it. For an entry from a ring (`is_sent`) the
    // mirror may still have a larger distance. If its row has at most MIRROR_CHECK_DEGREE arcs the mirror is left so:
    // relaxing such a row twice, after a dense pull, takes less time than the atomic.
    __device__ __forceinline__ void warp_relax_rows(bool wanted, Ready ready, bool is_sent = false) {
        const bool mirrored = is_sent && ready.degree > MIRROR_CHECK_DEGREE;
        if (!is_sent || mirrored) wanted = wanted && is_fresh(ready, MIRROR_CHECK_DEGREE, is_sent);
        if (wanted && mirrored) atomic_min(&rank.work.distance[ready.vertex], ready.distance);
        if (wanted) record(rank.work, ready.vertex, ready.distance, ready.tail);
        if (wanted && defers()) note_late(ready.distance);
        if (!wanted) ready.degree = 0;
        if (defers()) shorten(rank.share.arcs, ready, [&](const Arc& arc) { return is_deferred(ready.distance, arc); });
        warp_cut_long(ready);
        relaxed += ready.degree;
        warp_expand<ARCS>(
            ready.begin, ready.degree, [&](bool (&active)[ARCS], const Offset(&index)[ARCS], const u32(&source)[ARCS]) {
                Arc arcs[ARCS];
                Distance base[ARCS];
#pragma unroll
                for (int k = 0; k < ARCS; k++) {
                    arcs[k] = {};
                    if (active[k]) arcs[k] = load(&rank.share.arcs[index[k]]);
                    base[k] = __shfl_sync(~0u, ready.distance, source[k]);
                    if (defers()) active[k] = active[k] && !is_deferred(base[k], arcs[k]);
                }
                warp_relax_arcs(active, arcs, base, [&](int k) { return __shfl_sync(~0u, ready.vertex, source[k]); });
            });
    }

    // Relaxes the row chunks that the last step has left, and `cut` of this step, in the order in which they were
    // listed: the first have the smallest distances. A warp looks up several chunks together and drops stale ones.
    __device__ __forceinline__ void grid_relax_chunks(u32 cut) {
        const u32 left = now.chunks_in_count, count = left + cut, warps = grid_warps();
        const u32 each = places_at_once(count, CHUNK_GROUPS, 1, AHEAD),
                  rounds = (count + each * warps - 1) / (each * warps);
        grid_for_dynamic(now.chunks_taken, rounds * warps, 1, 1, [&](u32 ticket) {
            // consecutive chunks are of one row and go to different warps: in sorted rows the first have more work
            u32 index = ticket / warps * each * warps + ticket % warps + lane() * warps;
            Ready ready = {};
            const RowChunk* chunk = index < left ? &now.chunks_in[index] : &now.chunks_out[index - left];
            bool live = lane() < each && index < count && look_up_chunk(load(chunk), ready);
            for (u32 lanes = __ballot_sync(~0u, live); lanes; lanes &= lanes - 1) {
                int from = __ffs(lanes) - 1;
                Ready next;
                next.distance = __shfl_sync(~0u, ready.distance, from);
                next.vertex = __shfl_sync(~0u, ready.vertex, from);
                next.degree = __shfl_sync(~0u, ready.degree, from);
                next.begin = __shfl_sync(~0u, ready.begin, from);
                warp_relax_row(next);
            }
        });
    }

    // Lists the arrivals that still improve: dense pulls first, then entries from rings. All are near, as at the
    // sender.
    __device__ __forceinline__ void grid_list_arrivals() {
        const Peers& peers = rank.peers;
        for (u32 p = 0; p <= peers.count; p++) {  // and then all that was sent
            const bool is_pull = p < peers.count;
            const PeerCursors& cursors = rank.seen.plan.cursors[p % MAX_PEERS];
            if (is_pull && !has_dense_pull(cursors)) continue;
            grid_receive(is_pull ? peers.owned[p] : rank.seen.plan.sent, is_pull, [&](u32 index) {
                if (!is_pull) return sent_entry(index);
                Entry entry;
                entry.distance = get_distance(peers, p, index);
                entry.vertex = index + peers.mirrors[p];
                if ((double)entry.distance > cursors.pull_below) entry.distance = LARGEST_DISTANCE;
                return entry;
            });
        }
    }

    // Entry `index` of all entries in the inbox for this step, counted over all senders.
    __device__ __forceinline__ Entry sent_entry(u32 index) {
        const Peers& peers = rank.peers;
        const PeerCursors* cursors = rank.seen.plan.cursors;
        u32 p = 0;
        for (; index >= (u32)(cursors[p].end - cursors[p].begin); p++)
            index -= (u32)(cursors[p].end - cursors[p].begin);
        const u64 place = (cursors[p].begin + index) & (peers.capacity - 1);
        Entry entry = load(&peers.inbox[(u64)p * peers.capacity + place]);
        entry.vertex += peers.mirrors[p];
        return entry;
    }

    // Lists the entries of low-latency rings that still improve; all threads of the leader block call it, one thread a
    // word. (LL_WORDS is at most BLOCK for this reason: with a shorter ring two threads would read one word, and the
    // second might read an older value and take a lap bit of two laps ago for the next one.)
    __device__ __forceinline__ void block_list_ll_arrivals() {
        const Peers& peers = rank.peers;
        LeaderState& leader = rank.leader;
        for (u32 p = 0; p < peers.count; p++) {
            if (p == peers.me) continue;
            u32 number = (u32)leader.ll_taken[p] + threadIdx.x;
            u64 word = load_volatile(ll_place(peers.mailbox[peers.me]->ll_ring[p], number));
            u32 missing = ~__ballot_sync(~0u, threadIdx.x < LL_WORDS && has_lap_bit(word, number));
            if (lane() == 0) leader.valid_words[threadIdx.x >> 5] = missing ? __ffs(missing) - 1 : 32;
            __syncthreads();
            u32 count = 0;
            for (u32 warp = 0; warp < WARPS; warp++) {
                count += leader.valid_words[warp];
                if (leader.valid_words[warp] < 32) break;  // words after a missing one wait
            }
            Entry entry = unpack_ll_word(word);
            entry.vertex += peers.mirrors[p];
            bool nearer = threadIdx.x < count;
            if (nearer) {
                Distance* known = &rank.work.distance[entry.vertex];
                nearer = entry.distance < load_l2(known) && entry.distance < atomic_min(known, entry.distance);
            }
            if (nearer) note_late(entry.distance);
            Candidates candidates = {};
            candidates.ready[0] = {entry.distance, entry.vertex, NO_VERTEX};
            candidates.near[0] = nearer;
            if (__any_sync(~0u, nearer)) lists.warp_add(candidates);
            __syncthreads();
            if (threadIdx.x == 0) leader.ll_taken[p] += count;
        }
    }

  private:
    // Merges `count` entries, which `fetch(index)` returns, several a lane at a time. With `is_looked_at` the current
    // distance is read before the atomic, because most entries of a dense pull do not improve it.
    template <class Fetch>
    __device__ __forceinline__ void grid_receive(u32 count, bool is_looked_at, Fetch fetch) {
        const u32 stretch = 32 * grid_warps();
        for (u32 base = 32 * grid_warp_from_behind(); base < count; base += ARCS * stretch) {
            bool nearer[ARCS];
            Entry entries[ARCS];
#pragma unroll
            for (int k = 0; k < ARCS; k++) {
                u32 index = base + k * stretch + lane();
                nearer[k] = index < count;
                entries[k] = {};
                if (nearer[k]) entries[k] = fetch(index);
            }
            if (is_looked_at) {
#pragma unroll
                for (int k = 0; k < ARCS; k++) {
                    const Distance* known = &rank.work.distance[vertex_in(entries[k].vertex)];
                    nearer[k] = nearer[k] && entries[k].distance < load_l2(known);
                }
            }
#pragma unroll
            for (int k = 0; k < ARCS; k++) {
                Distance* known = &rank.work.distance[vertex_in(entries[k].vertex)];
                if (nearer[k]) nearer[k] = entries[k].distance < atomic_min(known, entries[k].distance);
                if (nearer[k]) note_late(entries[k].distance);
            }
            Candidates candidates = {};
            bool some = false;
#pragma unroll
            for (int k = 0; k < ARCS; k++) {
                candidates.ready[k] = {entries[k].distance, entries[k].vertex, NO_VERTEX};
                candidates.near[k] = nearer[k] && !lists.can_skip(candidates.ready[k]);
                some = some || candidates.near[k];
            }
            if (__any_sync(~0u, some)) lists.warp_add(candidates);
        }
    }

    __device__ __forceinline__ bool defers() { return PULLS && bound != NO_BOUND; }

    // Notes a distance before the bucket (an arrival, or an entry still listed from the bucket before): the next pull
    // also pulls the arcs from there.
    __device__ __forceinline__ void note_late(Distance distance) {
        if (PULLS && distance < bucket_begin) atomic_min(&rank.control->late, distance);
    }

    __device__ __forceinline__ bool is_deferred(Distance base, const Arc& arc) {
        return extend(base, arc.weight) >= bound;
    }

    // The number of arcs of a sorted row before the first deferred one, by a 32-way search; all lanes call it with one
    // row.
    __device__ __forceinline__ u32 warp_inner_count(Offset begin, u32 degree, Distance base) {
        u32 low = 0, high = degree;
        while (low < high) {
            u32 span = high - low, place = low + (u32)((u64)span * lane() / 32);
            u32 deferred = __ballot_sync(~0u, is_deferred(base, load(&rank.share.arcs[begin + place])));
            u32 before = deferred ? __ffs(deferred) - 1 : 32;  // lanes that have found an inner arc
            if (before < 32) high = low + (u32)((u64)span * before / 32);
            if (before > 0) low += (u32)((u64)span * (before - 1) / 32) + 1;
        }
        return high;
    }

    // Relaxes arcs, ARCS a lane. Most do not improve their heads, so all distances are read before any atomic. All
    // lanes call `tail_of(k)`.
    template <class Tail>
    __device__ __forceinline__ void warp_relax_arcs(bool (&active)[ARCS], const Arc (&arcs)[ARCS],
                                                    const Distance (&base)[ARCS], Tail tail_of) {
        Distance known[ARCS];
        u32 filter_bytes[ARCS];
        if (rank.work.filter) {
#pragma unroll
            for (int k = 0; k < ARCS; k++)
                filter_bytes[k] = active[k] ? filter_byte(rank.work, vertex_in(arcs[k].head)) : 0;
#pragma unroll
            for (int k = 0; k < ARCS; k++) {
                Distance sum = extend(base[k], arcs[k].weight);
                active[k] =
                    active[k] && may_improve(rank.work, bucket_begin, vertex_in(arcs[k].head), sum, filter_bytes[k]);
            }
        }
#pragma unroll
        for (int k = 0; k < ARCS; k++) known[k] = active[k] ? load_l2(&rank.work.distance[vertex_in(arcs[k].head)]) : 0;
        bool lost = false;
#pragma unroll
        for (int k = 0; k < ARCS; k++) active[k] = active[k] && improve(arcs[k], base[k], known[k], lost);
        if (lost && cutoff == NO_CUTOFF) rank.control->overflowed = 1;
        Candidates candidates;
        bool some = false, unlisted[ARCS];
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            Ready& ready = candidates.ready[k];
            ready = {};
            ready.vertex = arcs[k].head;
            ready.distance = extend(base[k], arcs[k].weight);
            bool nearer = active[k] && ready.distance < known[k];
            bool local = nearer && !leaves(rank.share, vertex_in(ready.vertex));
            // with peers a near vertex is pushed even if it has nothing to relax here
            unlisted[k] = local && !exchanges(rank.peers) && lists.can_skip(ready);
            candidates.near[k] = local && !unlisted[k] && ready.distance < threshold;
            candidates.far[k] = local && !unlisted[k] && !candidates.near[k];
            candidates.remote[k] = nearer && !local;
            if (nearer && rank.work.filter)
                store_level(rank.work, bucket_begin, vertex_in(ready.vertex), ready.distance, filter_bytes[k]);
            some = some || nearer;
        }
        if (!__any_sync(~0u, some)) return;
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            candidates.ready[k].tail = tail_of(k);
            const Ready& ready = candidates.ready[k];
            if (PULLS && (candidates.far[k] || unlisted[k]))
                record(rank.work, vertex_in(ready.vertex), ready.distance, ready.tail);
        }
        lists.warp_add(candidates);
    }

    // Lowers the head's distance if the sum is smaller than `known`, which becomes the value before the atomic. Sets
    // `lost` if the sum overflows, or does not help a head that nothing else has reached yet.
    __device__ __forceinline__ bool improve(const Arc& arc, Distance base, Distance& known, bool& lost) {
        Distance reach = extend(base, arc.weight);
        bool wrapped = wraps(base, arc.weight, reach);
        bool helps = reach < known && reach <= cutoff && !wrapped;
        lost = lost || wrapped || (known == UNREACHED && !helps);
        if (helps) known = atomic_min(&rank.work.distance[vertex_in(arc.head)], reach);
        return helps;
    }

    // Cuts the long rows of the lanes into chunks, as far as there is room; other rows stay with their lanes.
    __device__ __forceinline__ void warp_cut_long(Ready& ready) {
        for (u32 left = __ballot_sync(~0u, ready.degree > ROW_CHUNK); left; left &= left - 1) {
            int from = __ffs(left) - 1;
            u32 degree = __shfl_sync(~0u, ready.degree, from);
            if (defers()) {
                Offset begin = __shfl_sync(~0u, ready.begin, from);
                degree = warp_inner_count(begin, degree, __shfl_sync(~0u, ready.distance, from));
                if ((int)lane() == from) ready.degree = degree;
                if (degree <= ROW_CHUNK) continue;
            }
            u32 chunks = (degree + ROW_CHUNK - 1) / ROW_CHUNK, first = 0;
            if (lane() == 0) first = atomicAdd(now.chunks_out_count, chunks);
            first = __shfl_sync(~0u, first, 0);
            bool fits = first + chunks <= rank.work.chunk_capacity;
            RowChunk chunk = {};
            chunk.distance = __shfl_sync(~0u, ready.distance, from);
            chunk.vertex = fits ? __shfl_sync(~0u, ready.vertex, from) : NO_VERTEX;
            for (chunk.number = lane(); chunk.number < chunks; chunk.number += 32)
                if (first + chunk.number < rank.work.chunk_capacity) now.chunks_out[first + chunk.number] = chunk;
            if (fits && (int)lane() == from) ready.degree = 0;
        }
    }

    // Whether the entry is not stale. For a mirror with more than `least` arcs the owner's distance is read too; if
    // that is smaller, the owner has pushed the vertex again. The distance is requested while the row is still being
    // looked up.
    __device__ __forceinline__ bool is_fresh(const Ready& ready, u32 least, bool is_sent = false) {
        Distance known = load_volatile(&rank.work.distance[ready.vertex]);
        Distance owners = ready.degree > least ? at_owner(rank, ready.vertex) : LARGEST_DISTANCE;
        return (is_sent ? known > ready.distance : known == ready.distance) && owners >= ready.distance;
    }

    // Looks up a row chunk; false if it is empty or stale.
    __device__ __forceinline__ bool look_up_chunk(const RowChunk& chunk, Ready& ready) {
        if (chunk.vertex == NO_VERTEX) return false;
        const Offset* row = &rank.share.offsets[chunk.vertex];
        ready.distance = chunk.distance;
        ready.vertex = chunk.vertex;
        ready.begin = load_read_only(row) + (Offset)chunk.number * ROW_CHUNK;
        ready.degree = (u32)min((Offset)ROW_CHUNK, load_read_only(row + 1) - ready.begin);
        if (defers()) note_late(ready.distance);
        if (defers() && is_deferred(ready.distance, load(&rank.share.arcs[ready.begin]))) return false;
        return is_fresh(ready, 0);
    }

    // Relaxes one row or chunk with the whole warp; stops when the entry becomes stale.
    __device__ __forceinline__ void warp_relax_row(const Ready& ready) {
        for (u32 first = 0; first < ready.degree; first += 32 * ARCS) {
            bool active[ARCS];
            Arc arcs[ARCS];
            Distance base[ARCS];
#pragma unroll
            for (int k = 0; k < ARCS; k++) {
                u32 index = first + 32 * k + lane();
                active[k] = index < ready.degree;
                arcs[k] = {};
                if (active[k]) arcs[k] = load(&rank.share.arcs[ready.begin + index]);
                base[k] = ready.distance;
                if (defers()) active[k] = active[k] && !is_deferred(base[k], arcs[k]);
            }
            if (defers() && !__any_sync(~0u, active[0])) return;  // rows ascend
            // all lanes stop if one of them reads a smaller distance
            if (__any_sync(~0u, ready.distance != load_l2(&rank.work.distance[ready.vertex]))) return;
#pragma unroll
            for (int k = 0; k < ARCS; k++) relaxed += active[k];
            warp_relax_arcs(active, arcs, base, [&](int) { return ready.vertex; });
        }
    }
};
