// Direction-optimizing breadth-first search of a whole graph: a persistent cooperative kernel with one grid barrier a
// level. Beamer, Asanovic and Patterson, "Direction-optimizing breadth-first search" (SC 2012).
//
// * Top down, while the frontier is small: warps take the arcs of the frontier's vertices. The tail that sets a head's
//   bit in `seen` first is its parent. The frontier is a list of row chunks of ROW_CHUNK arcs, so that several warps
//   share the row of a hub.
// * Bottom up, while it is large: each unseen vertex searches its in-arcs for a tail in the frontier, and stops at the
//   first. The frontier is a bitmap then. A warp owns whole words of it, so no atomics are needed, and most vertices
//   read only a few arcs.
//
// A parent is one level above its child, so parents form a tree, whichever thread wins.

#include "layout/bfs.cuh"
#include "primitives/grid_barrier.cuh"
#include "primitives/load_balance.cuh"
#include "primitives/vertices.cuh"
#include "sssp/rows.cuh"
#include "sssp/worklists.cuh"

#define TOP_DOWN_SHARE 15   // bottom up when the frontier has more than 1/15 of the arcs not yet seen ...
#define BOTTOM_UP_SHARE 24  // ... and top down again when it has less than 1/24 of the vertices
#define LOOKS 8             // in-arcs that a lane reads before its warp helps
#define NO_PARENT 0xffffffffu

// What this thread has added to the next frontier.
struct Found {
    u32 vertices;
    u64 arcs;

    __device__ __forceinline__ void report(Progress* progress, u32 slot) {
#pragma unroll
        for (int step = 16; step > 0; step >>= 1) {
            vertices += __shfl_xor_sync(~0u, vertices, step);
            arcs += __shfl_xor_sync(~0u, arcs, step);
        }
        if (lane() || !vertices) return;
        atomicAdd(&progress->vertices[slot], vertices);
        atomicAdd(&progress->arcs[slot], arcs);
    }
};

// Lists the row of a new frontier vertex in chunks; all lanes call it.
__device__ __forceinline__ void warp_list_row(uint2* chunks, u32* count, u32 vertex, u32 degree, bool wanted) {
    u32 pieces = wanted ? (degree + ROW_CHUNK - 1) / ROW_CHUNK : 0;
    u32 place = warp_slot(count, pieces > 0);
    if (pieces > 0) chunks[place] = make_uint2(vertex, 0);
    if (pieces < 2) return;
    place = atomicAdd(count, pieces - 1);
    for (u32 piece = 1; piece < pieces; piece++) chunks[place + piece - 1] = make_uint2(vertex, piece);
}

__device__ __forceinline__ void look_up_chunk(const Share& share, uint2 chunk, Offset& begin, u32& degree) {
    Offset end = load_read_only(&share.offsets[chunk.x + 1]);
    begin = load_read_only(&share.offsets[chunk.x]) + (Offset)chunk.y * ROW_CHUNK;
    degree = (u32)min(end - begin, (Offset)ROW_CHUNK);
}

__device__ void grid_top_down(const Share& share, const Search& search, Distance* hops, Progress* progress, u32 level,
                              u32 count, u64& looked) {
    const uint2* from = search.chunks[level % 2];
    uint2* to = search.chunks[(level + 1) % 2];
    u32* to_count = &progress->listed[(level + 1) % 3];
    Found found = {};
    // few rows are spread over many warps
    const u32 each = min(max(count / grid_warps(), 1u), 32u);
    for (u32 base = each * grid_warp(); base < count; base += each * grid_warps()) {
        uint2 chunk = make_uint2(0, 0);
        Offset begin = 0;
        u32 degree = 0;
        if (lane() < each && base + lane() < count) {
            chunk = load_l2(&from[base + lane()]);
            look_up_chunk(share, chunk, begin, degree);
        }
        looked += degree;
        warp_expand<ARCS>(begin, degree,
                          [&](bool (&active)[ARCS], const Offset(&index)[ARCS], const u32(&source)[ARCS]) {
                              u32 head[ARCS], word[ARCS];
#pragma unroll
                              for (int k = 0; k < ARCS; k++) head[k] = active[k] ? load(&share.arcs[index[k]]).head : 0;
#pragma unroll
                              for (int k = 0; k < ARCS; k++)
                                  word[k] = active[k] ? load_l2(&search.seen[head[k] >> 5]) : ~0u;
#pragma unroll
                              for (int k = 0; k < ARCS; k++) {
                                  u32 tail = __shfl_sync(~0u, chunk.x, source[k]), out = 0;
                                  bool won = !(word[k] >> (head[k] & 31) & 1) && set_bit(search.seen, head[k]);
                                  if (won) {
                                      hops[head[k]] = level + 1;
                                      search.parent[head[k]] = tail;
                                      out = (u32)(load_read_only(&share.offsets[head[k] + 1]) -
                                                  load_read_only(&share.offsets[head[k]]));
                                      found.vertices++;
                                      found.arcs += out;
                                  }
                                  if (__any_sync(~0u, won)) warp_list_row(to, to_count, head[k], out, won);
                              }
                          });
    }
    found.report(progress, (level + 1) % 3);
}

__device__ __forceinline__ bool in_frontier(const u32* frontier, u32 vertex) {
    return load_l2(&frontier[vertex >> 5]) >> (vertex & 31) & 1;
}

// One lane searches the first arcs of its row; `begin` moves on.
__device__ __forceinline__ u32 find_parent(const Search& search, const u32* frontier, Offset& begin, Offset end,
                                           u64& looked) {
    for (int looks = 0; looks < LOOKS && begin < end; looks += 4) {
        u32 tail[4];
        bool good[4];
#pragma unroll
        for (int k = 0; k < 4; k++) tail[k] = begin + k < end ? load_read_only(&search.tails[begin + k]) : NO_PARENT;
#pragma unroll
        for (int k = 0; k < 4; k++) good[k] = tail[k] != NO_PARENT && in_frontier(frontier, tail[k]);
        looked += min(end - begin, (Offset)4);
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (good[k]) return tail[k];
        begin += 4;
    }
    return NO_PARENT;
}

// The whole warp searches the rest of one row.
__device__ __forceinline__ u32 warp_find_parent(const Search& search, const u32* frontier, Offset begin, Offset end,
                                                u64& looked) {
    for (Offset base = begin; base < end; base += 32 * ARCS) {
        u32 tail[ARCS], parent = NO_PARENT;
#pragma unroll
        for (int k = 0; k < ARCS; k++) {
            Offset index = base + 32 * k + lane();
            tail[k] = index < end ? load_read_only(&search.tails[index]) : NO_PARENT;
            looked += index < end;
        }
#pragma unroll
        for (int k = 0; k < ARCS; k++)
            if (tail[k] != NO_PARENT && in_frontier(frontier, tail[k])) parent = tail[k];
        u32 who = __ballot_sync(~0u, parent != NO_PARENT);
        if (who) return __shfl_sync(~0u, parent, __ffs(who) - 1);
    }
    return NO_PARENT;
}

__device__ void grid_bottom_up(const Share& share, const Search& search, Distance* hops, Progress* progress, u32 level,
                               u64& looked) {
    const u32* frontier = search.frontier[level % 2];
    u32* next = search.frontier[(level + 1) % 2];
    const u32 words = (share.own + 31) / 32;
    Found found = {};
    for (u32 word = grid_warp(); word < words; word += grid_warps()) {
        const u32 vertex = 32 * word + lane(), seen = load_l2(&search.seen[word]);
        bool searching = vertex < share.own && !(seen >> lane() & 1);
        u32 parent = NO_PARENT;
        Offset begin = 0, end = 0, first = 0;
        if (searching) {
            first = begin = load_read_only(&search.incoming[vertex]);
            end = load_read_only(&search.incoming[vertex + 1]);
            parent = find_parent(search, frontier, begin, end, looked);
        }
        for (u32 left = __ballot_sync(~0u, searching && parent == NO_PARENT && begin < end); left; left &= left - 1) {
            u32 whose = __ffs(left) - 1;
            u32 tail = warp_find_parent(search, frontier, __shfl_sync(~0u, begin, whose), __shfl_sync(~0u, end, whose),
                                        looked);
            if (lane() == whose) parent = tail;
        }
        u32 reached = __ballot_sync(~0u, parent != NO_PARENT);
        if (parent != NO_PARENT) {
            hops[vertex] = level + 1;
            search.parent[vertex] = parent;
            found.vertices++;
            found.arcs += end - first;
        }
        if (lane() == 0) {
            next[word] = reached;
            if (reached) search.seen[word] = seen | reached;
        }
    }
    found.report(progress, (level + 1) % 3);
}

// Converts a listed frontier to a bitmap, which is clear before.
__device__ void grid_mark_listed(const Search& search, u32 level, u32 count) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        uint2 chunk = load_l2(&search.chunks[level % 2][i]);
        if (chunk.y == 0) set_bit(search.frontier[level % 2], chunk.x);
    }
}

// Converts a frontier from a bitmap to a list; both bitmaps are clear afterwards.
__device__ void grid_list_marked(const Share& share, const Search& search, Progress* progress, u32 level) {
    const u32 words = (share.own + 31) / 32;
    for (u32 word = grid_warp(); word < words; word += grid_warps()) {
        u32 bits = load_l2(&search.frontier[level % 2][word]), vertex = 32 * word + lane(), degree = 0;
        bool wanted = bits >> lane() & 1;
        if (wanted) degree = (u32)(load_read_only(&share.offsets[vertex + 1]) - load_read_only(&share.offsets[vertex]));
        if (bits) warp_list_row(search.chunks[level % 2], &progress->listed[level % 3], vertex, degree, wanted);
        __syncwarp();
        if (lane() == 0) search.frontier[0][word] = search.frontier[1][word] = 0;
    }
}

// Nothing is reached but the source; hops have been begun with.
extern "C" __global__ void begin_search(const __grid_constant__ Share share, const __grid_constant__ Search search,
                                        Progress* progress, u32 source) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    for (u32 i = thread; i < share.own; i += stride) search.parent[i] = NO_PARENT;
    for (u32 i = thread; i < (share.own + 31) / 32; i += stride) {
        bool here = source != NO_VERTEX && source >> 5 == i;
        search.seen[i] = search.unreachable[i] | (here ? 1u << (source & 31) : 0);
        search.frontier[0][i] = search.frontier[1][i] = 0;
    }
    if (thread) return;
    *progress = Progress{};
    progress->unexplored = share.own ? share.offsets[share.own] : 0;
    if (source == NO_VERTEX) return;
    Offset begin = share.offsets[source], end = share.offsets[source + 1];
    u32 pieces = (u32)((end - begin + ROW_CHUNK - 1) / ROW_CHUNK);
    for (u32 piece = 0; piece < pieces; piece++) search.chunks[0][piece] = make_uint2(source, piece);
    progress->listed[0] = pieces;
    progress->vertices[0] = pieces > 0;
    progress->arcs[0] = end - begin;
}

// Searches until nothing is left, or the frontier lies at `last_level`. Top down it also ends there
// with the frontier listed, for whoever goes on.
extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS)
    search_levels(const __grid_constant__ Share share, const __grid_constant__ Search search, Distance* hops,
                  Control* control, Progress* progress, u32 last_level) {
    __shared__ BarrierPhase phase;
    if (threadIdx.x == 0) phase = current_phase(control);
    __syncthreads();
    u32 level = progress->level;
    bool up = progress->bottom_up;
    u64 unexplored = progress->unexplored, looked = 0;
    while (level < last_level) {
        const u32 now = level % 3;
        const u32 vertices = load_l2(&progress->vertices[now]);
        const u64 arcs = load_l2(&progress->arcs[now]);
        if (vertices == 0) break;
        unexplored -= min(arcs, unexplored);
        u32 count = load_l2(&progress->listed[now]);
        if (!up && arcs > unexplored / TOP_DOWN_SHARE && vertices > 32 * gridDim.x) {
            grid_mark_listed(search, level, count);
            up = true;
            grid_sync(control, phase);
        } else if (up && vertices < share.own / BOTTOM_UP_SHARE) {
            grid_list_marked(share, search, progress, level);
            up = false;
            grid_sync(control, phase);
            count = load_l2(&progress->listed[now]);
        }
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            const u32 later = (level + 2) % 3;
            progress->listed[later] = progress->vertices[later] = 0;
            progress->arcs[later] = 0;
        }
        if (up)
            grid_bottom_up(share, search, hops, progress, level, looked);
        else
            grid_top_down(share, search, hops, progress, level, count, looked);
        level++;
        grid_sync(control, phase);
    }
    atomicAdd(&progress->looked, looked);
    grid_sync(control, phase);  // all have read the words that change next
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        progress->level = level;
        progress->bottom_up = up;
        progress->unexplored = unexplored;
    }
}

// Lists the frontier in near, whose bucket ends at `threshold`, for near-far relaxation to continue from.
extern "C" __global__ void hand_over(const __grid_constant__ Search search, const __grid_constant__ Work work,
                                     Control* control, const Progress* progress, Distance threshold) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, level = progress->level;
    const u32 count = progress->listed[level % 3], rounded = (count + 31) & ~31u;
    for (u32 i = thread; i < rounded; i += gridDim.x * blockDim.x) {
        uint2 chunk = i < count ? search.chunks[level % 2][i] : make_uint2(0, 1);
        Entry entry = {};
        entry.distance = level;
        entry.vertex = chunk.x;
        warp_append(work, control, near_list(work, control, 0), entry, NO_VERTEX, chunk.y == 0);
    }
    if (thread == 0) {
        control->threshold = threshold;
        control->bucket_begin = level;
    }
}
