// What peers have sent.
#pragma once

// Puts the bookmarks to each warp's first place that is not before `begin`.
__device__ __forceinline__ void open_books(const Exchange& exchange, Bookmarks& bookmarks) {
    if (lane() >= MAX_PEERS) return;
    u64 begin = exchange.begin[lane()], page = begin / 32;
    u32 warps = grid_warps(), turn = (u32)(page % warps), mine = grid_warp();
    if (turn != mine) begin = (page - turn + mine + (turn > mine ? warps : 0)) * 32;
    bookmarks.place[lane()][threadIdx.x >> 5] = begin;
}

// `take(close, ready)` gets what has made a vertex nearer and lies in the window; the rest of that goes to far.
// All 32 lanes call everything.
template <class Lists, class Take>
struct Arrivals {
    Relax<Lists>& relax;
    Take take;

    // All that has been published.
    __device__ __forceinline__ void published() {
        const Rank& rank = relax.rank;
        for (u32 p = 0; p < rank.peers.count; p++) {
            u64 end = rank.seen.exchange.end[p];
            while (bookmark(p) < end && read(p, end)) {}
        }
    }

    // What has come since; not for long. All that has been published has been taken, by all warps: what lies
    // less than a lap ahead of that is what comes next.
    __device__ __forceinline__ void recent() {
        const Rank& rank = relax.rank;
        for (u32 p = 0; p < rank.peers.count; p++)
            if (p != rank.peers.me) read(p, rank.seen.exchange.end[p] + rank.peers.capacity);
    }

  private:
    __device__ __forceinline__ u64& bookmark(u32 p) {
        return relax.rank.bookmarks.place[p][threadIdx.x >> 5];
    }

    // The next entries in this warp's parts of a ring, those before `end` and as far as they have come without
    // a gap. False if there is one.
    __device__ __forceinline__ bool read(u32 p, u64 end) {
        const Rank& rank = relax.rank;
        Entry* ring = rank.peers.inbox + (u64)p * rank.peers.capacity;
        const u64 from = bookmark(p);
        const u32 stretch = 32 * grid_warps();
        u64 number = from / 32 * 32 + lane(), next = from;
        bool open = true, here[ARCS];
        Ready ready[ARCS];
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            u64 at = number + k * stretch;
            Entry entry = {};
            if (at >= from && at < end) entry = load_whole(&ring[at & (rank.peers.capacity - 1)]);
            here[k] = at < from || entry.vertex & MARK;
            ready[k] = {entry.distance, entry.vertex & ~MARK, NO_VERTEX};
        }
#pragma unroll
        for (int k = 0; k < ARCS; k++, number += stretch) {
            u32 gaps = __ballot_sync(~0u, !here[k]);
            u32 come = !open ? 0 : gaps ? __ffs(gaps) - 1 : 32;
            here[k] = lane() < come && number >= from;
            if (here[k]) ring[number & (rank.peers.capacity - 1)] = Entry{};
            if (open) next = number - lane() + (gaps ? come : stretch);
            open = open && !gaps;
        }
        __syncwarp();
        if (lane() == 0) bookmark(p) = next;
        __syncwarp();
        if (next != from) arrive(here, ready);
        return open;
    }

    __device__ __forceinline__ void arrive(bool (&here)[ARCS], const Ready (&ready)[ARCS]) {
        Distance* distance = relax.rank.work.distance;
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            const Distance reach = ready[k].distance;
            here[k] = here[k] && reach < atomic_min(&distance[ready[k].vertex], reach);
        }
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            bool close = here[k] && ready[k].distance < relax.threshold;
            relax.lists.far(here[k] && !close, ready[k]);
            take(close, ready[k]);
        }
    }
};

template <class Lists, class Take>
__device__ __forceinline__ Arrivals<Lists, Take> arrivals_of(Relax<Lists>& relax, Take take) {
    return {relax, take};
}
