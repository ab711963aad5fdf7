// Thin turns: a block relaxes what lies in near, then what it has found itself, level by level.
#pragma once

struct Thin {
    Relax<BlockLists>& relax;

    // A list of entries by `warps` warps, of which this is number `warp`. `fetch(i)` brings entry i
    // with its row.
    template <class Fetch>
    __device__ __forceinline__ void entries(u32 count, u32 warp, u32 warps, Fetch fetch) {
        const u32 rows = 32 / LANES;
        for (u32 base = warp * rows; base < count; base += warps * rows) {
            u32 index = base + lane() / LANES;
            Ready ready = {};
            if (index < count) ready = fetch(index);
            if (__any_sync(~0u, ready.degree > 4 * LANES))  // long ones: hand the arcs out evenly
                relax.rows(index < count && lane() % LANES == 0, ready);
            else if (index < count)
                short_row(ready);
            __syncwarp();
        }
    }

    // What the block has staged, level by level, with one barrier of the block a level.
    __device__ __forceinline__ void deeper(u32 depth) {
        BlockLists& lists = relax.lists;
        Staging& staged = lists.staged;
        for (; depth > 0; depth--) {
            __syncthreads();
            u32 count = staged.near_count[lists.level % 4];
            if (count == 0 || count > BLOCK) break;
            const Ready* mine = staged.near[lists.level % 2];
            lists.level++;
            if (threadIdx.x == 0) staged.near_count[(lists.level + 1) % 4] = 0;
            entries(count, threadIdx.x >> 5, WARPS, [=](u32 i) { return mine[i]; });
        }
    }

  private:
    // LANES lanes a row, each taking arcs by itself. What one needs next is asked for before it is
    // known to be needed, so that a level costs two round trips to L2 and no more: the arc with the
    // tail's distance, then the head's distance with its row. Nothing that came with a round trip is looked at
    // before all that goes with it has been asked for.
    __device__ __forceinline__ void short_row(const Ready& ready) {
        const Share& share = relax.rank.share;
        u32 k = lane() % LANES;
        Distance known = current(&relax.rank.work.distance[ready.vertex]);
        Arc arc = {};
        if (k < ready.degree) arc = anew(&share.arcs[ready.begin + k]);
        if (known != ready.distance) return;  // stale
        if (k == 0) record(relax.rank.work, ready.vertex, ready.distance, ready.tail);
        while (k < ready.degree) {
            Arc later = {};
            if (k + LANES < ready.degree) later = anew(&share.arcs[ready.begin + k + LANES]);
            Ready next = {};
            next.vertex = vertex_in(arc.head);
            next.tail = ready.vertex;
            next.distance = plus(ready.distance, arc.weight);
            Row row = {};
            if (!leaves(share, next.vertex)) row = row_of(share, next.vertex);
            u32 peers = peers_of(relax.rank, next.vertex);
            relax.relaxed++;
            if (settle(bare(arc), ready.distance, next.distance)) {
                set_row(next, row);
                list(next, peers);
            }
            arc = later;
            k += LANES;
        }
    }

    __device__ __forceinline__ bool settle(const Arc& arc, Distance base, Distance reach) {
        bool wrapped = (arc.weight > 0 && reach < base) || (arc.weight < 0 && reach > base);
        bool fits = reach <= relax.cutoff && !wrapped;
        Distance known = atomic_min(&relax.rank.work.distance[arc.head], fits ? reach : NOTHING);
        if ((wrapped || (known == NOTHING && reach == NOTHING)) && relax.cutoff == NOTHING)
            relax.rank.control->overflowed = 1;
        return fits && reach < known;
    }

    __device__ __forceinline__ void list(const Ready& ready, u32 peers) {
        if (leaves(relax.rank.share, ready.vertex)) relax.lists.remote_one(ready);
        else if (ready.distance < relax.threshold) relax.lists.near_one(ready, peers);
        else {
            if (PULLS) record(relax.rank.work, ready.vertex, ready.distance, ready.tail);
            relax.lists.far_one(ready);
        }
    }
};
