// The nearest of several facilities for each vertex, in one launch of a persistent grid: up from all facilities at
// once, the core, and outward, as one tree takes it (tree.cu), but with keys for distances (facility_key.cuh).
//
// Why the keys are right. Of any facility f and vertex v, some path up, through the core and down is as long as their
// distance d(f, v): that is what a hierarchy is. Each pass takes minima of keys with an arc's weight added, and adding
// keeps their order. So a vertex gets the least key (length, f) of all such paths from all facilities. No path is
// shorter than a distance; so that key is the least (d(f, v), f): the distance from the nearest facility, and the first
// of those equally near.
//
// The next vertex on the path is the tail u of an arc to v that is tight, d(u) + weight = d(v), and has the same
// facility f. There is one on each shortest path from f to v: if an earlier facility were as near to u as f, it would
// be as near to v too. Tails that are nearer than v cannot form a cycle. Where arcs weigh 0 a vertex may have none of
// these. Then it takes a tail at its own distance that is its facility or has its next vertex already, in passes.

#include "hierarchy/descend.cuh"
#include "hierarchy/facility_key.cuh"

struct NearestReport {
    u32 overflowed;  // 1 if a sum did not fit
    u32 entries;     // vertices of the core with a key after the sweep upward
    u32 missing;     // 1 if a vertex has no next one yet
    u32 changed;     // 1 if a pass has found some
};

// Gives the keys of a level to earlier ones. They are final: all arcs to its vertices come from later levels.
__device__ __forceinline__ void lift_level(const Hierarchy& h, u32 level, Key* keys, u32& overflowed) {
    visit_level(h, level, [&](u32 place, u32 part, u32 lanes) {
        const Key key = load_l2(&keys[place]);
        if (key == NO_KEY) return;
        for (u32 i = h.offsets[place] + part; i < h.offsets[place + 1]; i += lanes) {
            const Arc arc = h.up[i];
            const Key sum = path_sum(key, arc.weight, overflowed);
            if (sum < load_l2(&keys[arc.head])) atomic_min(&keys[arc.head], sum);
        }
    });
}

// by_place: keys by place. by_vertex: by the graph's numbers, at the end; before that, the list of core vertices that
// have one. Both have h.vertices words. facilities: different vertices, the first of equally near ones first.
extern "C" __global__ void __launch_bounds__(1024, 2)
    solve_nearest(const __grid_constant__ Hierarchy h, Key* by_place, Key* by_vertex, const u32* facilities, u32 count,
                  Control* control, NearestReport* report) {
    __shared__ BarrierPhase phase;
    if (threadIdx.x == 0) phase = current_phase(control);
    __syncthreads();
    u32 overflowed = 0;
    for (u32 place = grid_thread(); place < h.vertices; place += grid_threads()) by_place[place] = NO_KEY;
    if (grid_thread() == 0) *report = NearestReport{};
    grid_sync(control, phase);
    for (u32 i = grid_thread(); i < count; i += grid_threads()) by_place[h.places[facilities[i]]] = i;  // at distance 0
    grid_sync(control, phase);

    // 1. upward
    for (u32 level = h.level_count - 1; level > 0; level--) {
        lift_level(h, level, by_place, overflowed);
        grid_sync(control, phase);
    }

    // 2. the core, and outward
    u32* const entries = (u32*)by_vertex;
    for (u32 place = grid_thread(); place < h.core_count; place += grid_threads())
        if (load_l2(&by_place[place]) != NO_KEY) entries[atomicAdd(&report->entries, 1u)] = place;
    grid_sync(control, phase);
    grid_descend(h, by_place, entries, load_l2(&report->entries), control, phase, overflowed);

    // 3. in the graph's order
    for (u32 vertex = grid_thread(); vertex < h.vertices; vertex += grid_threads())
        by_vertex[vertex] = load_l2(&by_place[h.places[vertex]]);
    if (overflowed) report->overflowed = 1;
}

// What makes answers of keys.
struct Keyed {
    const Key* keys;           // by vertex
    const Offset* in_offsets;  // vertices + 1
    const Arc* in_arcs;        // that lead to each vertex; their `head` fields hold the tails
    const u32* facilities;     // by number
    u32 vertices;
};

// The answers as users get them, of which `next` may lack vertices; report->missing is set then.
extern "C" __global__ void find_next(const __grid_constant__ Keyed of, i64* owners, i64* distances, i64* next,
                                     NearestReport* report) {
    for (u32 v = grid_thread(); v < of.vertices; v += grid_threads()) {
        const Key key = of.keys[v];
        i64 owner = -1, distance = 0x7fffffffffffffffll, before = -1;
        if (key != NO_KEY) {
            owner = of.facilities[facility_of(key)];
            distance = distance_of(key);
            const Offset end = owner == v ? 0 : of.in_offsets[v + 1];
            for (Offset i = of.in_offsets[v]; i < end && before < 0; i++) {
                const Arc arc = of.in_arcs[i];
                const Key other = load_read_only(&of.keys[arc.head]);
                if (other == NO_KEY || facility_of(other) != facility_of(key)) continue;
                const u32 nearer = distance_of(other);
                if (nearer < distance_of(key) && nearer + (u32)arc.weight == distance_of(key)) before = arc.head;
            }
            if (before < 0 && owner != v) report->missing = 1;
        }
        owners[v] = owner;
        distances[v] = distance;
        next[v] = before;
    }
}

// One pass over the vertices that have no next one yet.
extern "C" __global__ void find_level_next(const __grid_constant__ Keyed of, i64* next, NearestReport* report) {
    for (u32 v = grid_thread(); v < of.vertices; v += grid_threads()) {
        const Key key = of.keys[v];
        if (key == NO_KEY || next[v] >= 0) continue;
        const u32 owner = of.facilities[facility_of(key)];
        if (owner == v) continue;
        i64 before = -1;
        for (Offset i = of.in_offsets[v]; i < of.in_offsets[v + 1] && before < 0; i++) {
            const Arc arc = of.in_arcs[i];
            if (arc.weight != 0 || of.keys[arc.head] != key) continue;
            if (arc.head == owner || load_volatile(&next[arc.head]) >= 0) before = arc.head;
        }
        if (before < 0) {
            report->missing = 1;
            continue;
        }
        store_volatile(&next[v], before);
        report->changed = 1;
    }
}
