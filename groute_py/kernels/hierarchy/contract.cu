// One round of contraction. Vertices that cost least among their neighbours leave together; shortcuts keep the
// distances between those that stay. The host sorts and joins what comes of it; see device/cuda/hierarchy/rounds.py.
//
// Kernels with a vertex for each thread serve the first rounds, in which degrees are small; those with a warp for each
// serve the later ones.

#include "hierarchy/witness.cuh"

#define MOST_NEIGHBOURS 64  // vertices with more wait
#define NEVER ~0ull         // the key of a vertex that waits

// Different for different vertices.
__device__ __forceinline__ u32 scattered(u32 vertex) {
    u32 word = (vertex + 1) * 2654435761u;
    word ^= word >> 15;
    word *= 2246822519u;
    return word ^ word >> 13;
}

// What contracting a vertex costs: arcs that come less those that go, and how deep it lies.
__device__ __forceinline__ u64 key_of(u32 added, u32 degree, u32 depth, u32 original) {
    u32 score = 4096 + 4 * added - 2 * degree + 2 * depth;
    return (u64)score << 32 | scattered(original);
}

template <int GROUP>
__device__ __forceinline__ u32 group_number() {
    return (blockIdx.x * blockDim.x + threadIdx.x) / GROUP;
}

template <int GROUP>
__device__ __forceinline__ u32 group_count() {
    return gridDim.x * blockDim.x / GROUP;
}

template <int GROUP>
__device__ __forceinline__ u32 group_sum(u32 mine) {
    for (u32 apart = GROUP / 2; apart; apart /= 2) mine += __shfl_xor_sync(~0u, mine, apart);
    return mine;
}

// Shortcuts that a vertex needs.
template <int GROUP>
__device__ __forceinline__ u32 shortcuts_of(const Skeleton& s, const u8* leaving, u32 vertex, u32& overflowed) {
    u32 added = 0;
    for_each_shortcut<GROUP>(s, leaving, vertex, overflowed, [&](const Pair&, bool needed) { added += needed; });
    return group_sum<GROUP>(added);
}

template <int GROUP>
__device__ __forceinline__ void rate(const Skeleton& s, const u32* depths, const u32* originals, u64* keys) {
    u32 unheeded = 0;
    for (u32 v = group_number<GROUP>(); v < s.count; v += group_count<GROUP>()) {
        const u32 degree = s.offsets[v + 1] - s.offsets[v];
        u64 key = NEVER;
        if (degree <= MOST_NEIGHBOURS)
            key = key_of(shortcuts_of<GROUP>(s, nullptr, v, unheeded), degree, depths[v], originals[v]);
        if (lane() % GROUP == 0) keys[v] = key;
    }
}

extern "C" __global__ void rate_by_threads(const __grid_constant__ Skeleton s, const u32* depths, const u32* originals,
                                           u64* keys) {
    rate<1>(s, depths, originals, keys);
}

extern "C" __global__ void rate_by_warps(const __grid_constant__ Skeleton s, const u32* depths, const u32* originals,
                                         u64* keys) {
    rate<32>(s, depths, originals, keys);
}

// The cheapest among their neighbours leave; stays: 1 for each other one.
extern "C" __global__ void choose_leaving(const __grid_constant__ Skeleton s, const u64* keys, u8* leaving,
                                          u32* stays) {
    for (u32 v = group_number<1>(); v < s.count; v += group_count<1>()) {
        const u64 key = keys[v];
        bool least = key != NEVER;
        for (u32 i = s.offsets[v]; least && i < s.offsets[v + 1]; i++) least = keys[s.heads[i]] > key;
        leaving[v] = least;
        stays[v] = !least;
    }
}

// Those that leave, as vertices of the skeleton and of the graph, and their degrees. renumbered: how many stay of the
// vertices before each one.
extern "C" __global__ void list_leaving(const __grid_constant__ Skeleton s, const u8* leaving, const u32* renumbered,
                                        const u32* originals, u32* list, u32* list_originals, u32* degrees) {
    for (u32 v = group_number<1>(); v < s.count; v += group_count<1>()) {
        if (!leaving[v]) continue;
        const u32 i = v - renumbered[v];
        list[i] = v;
        list_originals[i] = originals[v];
        degrees[i] = s.offsets[v + 1] - s.offsets[v];
    }
}

// The arcs of those that leave, from `starts` on; they are MOST_NEIGHBOURS at most.
extern "C" __global__ void list_upward(const __grid_constant__ Skeleton s, const u32* list, u32 listed,
                                       const u32* starts, const u32* originals, u32* heads, Distance* up,
                                       Distance* down) {
    for (u32 i = group_number<1>(); i < listed; i += group_count<1>()) {
        const u32 begin = s.offsets[list[i]], degree = starts[i + 1] - starts[i];
        for (u32 k = 0; k < degree; k++) {
            heads[starts[i] + k] = originals[s.heads[begin + k]];
            up[starts[i] + k] = s.out[begin + k];
            down[starts[i] + k] = s.in[begin + k];
        }
    }
}

// Marks the arcs between those that stay.
extern "C" __global__ void mark_staying(const __grid_constant__ Skeleton s, const u8* leaving, const u32* tails,
                                        u32 arcs, u32* marks) {
    for (u32 e = group_number<1>(); e < arcs; e += group_count<1>())
        marks[e] = !leaving[tails[e]] && !leaving[s.heads[e]];
}

// Their keys and weights; places: the exclusive sums of the marks.
extern "C" __global__ void list_staying(const __grid_constant__ Skeleton s, const u32* tails, u32 arcs,
                                        const u32* places, const u32* renumbered, u64* keys, Distance* out,
                                        Distance* in) {
    for (u32 e = group_number<1>(); e < arcs; e += group_count<1>()) {
        const u32 place = places[e];
        if (place == places[e + 1]) continue;
        keys[place] = arc_key(renumbered[tails[e]], renumbered[s.heads[e]]);
        out[place] = s.out[e];
        in[place] = s.in[e];
    }
}

template <int GROUP>
__device__ __forceinline__ void count_all(const Skeleton& s, const u8* leaving, const u32* list, u32 listed,
                                          u32* counts, u32* overflow) {
    u32 overflowed = 0;
    for (u32 i = group_number<GROUP>(); i < listed; i += group_count<GROUP>()) {
        u32 added = shortcuts_of<GROUP>(s, leaving, list[i], overflowed);
        if (lane() % GROUP == 0) counts[i] = added;
    }
    if (overflowed) *overflow = 1;
}

extern "C" __global__ void count_by_threads(const __grid_constant__ Skeleton s, const u8* leaving, const u32* list,
                                            u32 listed, u32* counts, u32* overflow) {
    count_all<1>(s, leaving, list, listed, counts, overflow);
}

extern "C" __global__ void count_by_warps(const __grid_constant__ Skeleton s, const u8* leaving, const u32* list,
                                          u32 listed, u32* counts, u32* overflow) {
    count_all<32>(s, leaving, list, listed, counts, overflow);
}

// Where shortcuts go: a key (tail, head) and two weights for each direction of a pair.
struct Shortcuts {
    u64* keys;
    Distance* out;
    Distance* in;
    u32 symmetric;
};

__device__ __forceinline__ void put(const Shortcuts& to, u64 place, u32 tail, u32 head, Distance out, Distance in) {
    to.keys[place] = arc_key(tail, head);
    to.out[place] = out;
    if (!to.symmetric) to.in[place] = in;
}

// renumbered: the numbers of those that stay, in the next round. starts: of the shortcuts of each that leaves.
template <int GROUP>
__device__ __forceinline__ void add_all(const Skeleton& s, const u8* leaving, const u32* list, u32 listed,
                                        const u32* starts, const u32* renumbered, const Shortcuts& to) {
    u32 unheeded = 0;
    for (u32 i = group_number<GROUP>(); i < listed; i += group_count<GROUP>()) {
        u64 at = 2ull * starts[i];
        for_each_shortcut<GROUP>(s, leaving, list[i], unheeded, [&](const Pair& pair, bool needed) {
            u32 mask = GROUP == 1 ? needed : __ballot_sync(~0u, needed);
            u64 place = at + 2 * (GROUP == 1 ? 0 : rank_among(mask));
            at += 2 * __popc(mask);
            if (!needed) return;
            const u32 a = renumbered[pair.a], b = renumbered[pair.b];
            const Distance backward = s.symmetric ? pair.forward : pair.backward;
            put(to, place, a, b, pair.forward, backward);
            put(to, place + 1, b, a, backward, pair.forward);
        });
    }
}

extern "C" __global__ void add_by_threads(const __grid_constant__ Skeleton s, const u8* leaving, const u32* list,
                                          u32 listed, const u32* starts, const u32* renumbered,
                                          const __grid_constant__ Shortcuts to) {
    add_all<1>(s, leaving, list, listed, starts, renumbered, to);
}

extern "C" __global__ void add_by_warps(const __grid_constant__ Skeleton s, const u8* leaving, const u32* list,
                                        u32 listed, const u32* starts, const u32* renumbered,
                                        const __grid_constant__ Shortcuts to) {
    add_all<32>(s, leaving, list, listed, starts, renumbered, to);
}

// Depths and originals of those that stay, by their next numbers. They lie above all of their neighbours that leave.
extern "C" __global__ void renumber(const __grid_constant__ Skeleton s, const u8* leaving, const u32* renumbered,
                                    const u32* depths, const u32* originals, u32* next_depths, u32* next_originals) {
    for (u32 v = group_number<1>(); v < s.count; v += group_count<1>()) {
        if (leaving[v]) continue;
        u32 depth = depths[v];
        for (u32 i = s.offsets[v]; i < s.offsets[v + 1]; i++) {
            const u32 head = s.heads[i];
            if (leaving[head]) depth = max(depth, depths[head] + 1);
        }
        next_depths[renumbered[v]] = depth;
        next_originals[renumbered[v]] = originals[v];
    }
}
