// The rows of a generated graph, of which each rank makes its own. Arcs are drawn three times, which takes less time
// than to move them: to count the rows; to list the arcs of some rows, as keys that are then sorted; and to write them.
//
// A key is the row of an arc, counted from the first of some rows, and below it, in `bits`, the number of the arc. So
// sorted keys have the rows in order, and each row in the order in which its arcs are drawn.

#include "generate/draw.cuh"
#include "primitives/warp.cuh"

// The weights of all edges.
struct Weights {
    u64 sum;
    u32 least, greatest;
};

// Adds the arcs of each row to `rows`, and all weights to `weights`.
extern "C" __global__ void __launch_bounds__(BLOCK)
    count_rows(const __grid_constant__ RandomGraph graph, u64* rows, Weights* weights) {
    const Draws draws(graph);
    u64 sum = 0;
    u32 least = ~0u, greatest = 0;
    for (u64 e = grid_thread(); e < graph.edges; e += grid_threads()) {
        const Edge edge = draws.edge(e);
        atomicAdd(&rows[edge.tail], (u64)1);
        if (graph.is_rmat) atomicAdd(&rows[edge.head], (u64)1);
        const u32 weight = draws.weight(e);
        sum += weight;
        least = min(least, weight);
        greatest = max(greatest, weight);
    }
    warp_add_to(&weights->sum, sum);
    atomicMin(&weights->least, least);
    atomicMax(&weights->greatest, greatest);
}

// Lists the keys of the arcs that leave vertices low to high - 1, in any order.
extern "C" __global__ void __launch_bounds__(BLOCK)
    list_arcs(const __grid_constant__ RandomGraph graph, u32 low, u32 high, u32 bits, u64* keys, u64* count) {
    const Draws draws(graph);
    for (u64 first = 32 * (u64)grid_warp(); first < graph.edges; first += 32 * (u64)grid_warps()) {
        const u64 e = first + lane();
        const bool is_edge = e < graph.edges;
        const Edge edge = draws.edge(e);
        const u32 both = graph.is_rmat;
        const bool leaves = is_edge && edge.tail >= low && edge.tail < high;
        const bool returns = is_edge && both && edge.head >= low && edge.head < high;
        const u64 there = warp_slot(count, leaves), back = warp_slot(count, returns);
        if (leaves) keys[there] = (u64)(edge.tail - low) << bits | e << both;
        if (returns) keys[back] = (u64)(edge.head - low) << bits | e << both | 1;
    }
}

// The arcs of a rank that lead to vertices of others, and the vertices that they leave; keys that are not sorted, 0.
struct Cut {
    u64 arcs, border, unsorted;
};

// Writes the arcs of sorted keys, whose rows are counted from `first_row`. The rank owns vertices low to high - 1;
// `border` has a bit for each that is 1 once an arc has led from it to another rank.
extern "C" __global__ void __launch_bounds__(BLOCK)
    write_arcs(const __grid_constant__ RandomGraph graph, const u64* keys, u64 count, u32 first_row, u32 bits, u32 low,
               u32 high, int* heads, int* weights, u32* border, Cut* cut) {
    const Draws draws(graph);
    u64 outside = 0, tails = 0, unsorted = 0;
    for (u64 i = grid_thread(); i < count; i += grid_threads()) {
        const u64 key = keys[i], arc = key & ((1ull << bits) - 1);
        const u64 e = arc >> graph.is_rmat;
        unsorted += i && keys[i - 1] >= key;
        const Edge edge = draws.edge(e);
        const u32 head = graph.is_rmat && arc & 1 ? edge.tail : edge.head;
        heads[i] = (int)head;
        weights[i] = (int)draws.weight(e);
        if (head >= low && head < high) continue;
        const u32 row = first_row - low + (u32)(key >> bits);
        outside++;
        if (!(border[row >> 5] >> (row & 31) & 1)) tails += set_bit(border, row);
    }
    warp_add_to(&cut->arcs, outside);
    warp_add_to(&cut->border, tails);
    warp_add_to(&cut->unsorted, unsorted);
}
