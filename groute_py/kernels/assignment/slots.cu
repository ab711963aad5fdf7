// Costs and flows of slots. A slot is twice an arc upward of a customizable hierarchy, and one more for its way down.
// Lengths are customized by customization/customize.cu; flows are integers, so that sums do not depend on their order.

#include "customization/lengths.cuh"
#include "customization/levels.cuh"

#define NO_ARC_NUMBER 0xffffffffu

__device__ __forceinline__ Length length_of(const Length* costs, u32 arc) { return min(costs[arc], NOTHING); }

// No slot has a length, an arc, or two slots that it bridges.
extern "C" __global__ void begin_slots(u32 slots, Length* own, Length* lengths, u32* lightest, u32* bridges) {
    for (u32 slot = grid_thread(); slot < slots; slot += grid_threads()) {
        own[slot] = lengths[slot] = NOTHING;
        lightest[slot] = NO_ARC_NUMBER;
        bridges[slot] = 0;
    }
}

// Lowers lengths to the costs of the graph's arcs. Slots are by arc, below 0 for arcs that no path takes.
extern "C" __global__ void fold_costs(const Length* costs, const int* slots, u32 arcs, Length* own, Length* lengths) {
    for (u32 arc = grid_thread(); arc < arcs; arc += grid_threads()) {
        if (slots[arc] < 0) continue;
        atomicMin(own + slots[arc], length_of(costs, arc));
        atomicMin(lengths + slots[arc], length_of(costs, arc));
    }
}

// Notes the first of the arcs that cost a slot's length.
extern "C" __global__ void note_lightest(const Length* costs, const int* slots, u32 arcs, const Length* own,
                                         u32* lightest) {
    for (u32 arc = grid_thread(); arc < arcs; arc += grid_threads()) {
        const int slot = slots[arc];
        if (slot >= 0 && own[slot] == length_of(costs, arc)) atomicMin(lightest + slot, arc);
    }
}

// Notes for each slot the last triangle (its number and 1) over which it is as short as it is: that over the deepest
// vertex. A length is the sum of two others in the very operation that customization made, so equality finds them.
extern "C" __global__ void note_bridges(u32 triangles, const u32* first, const u32* second, const u32* top,
                                        const Length* own, const Length* lengths, u32* bridges) {
    for (u32 t = grid_thread(); t < triangles; t += grid_threads()) {
        const Length *low = lengths + 2 * (u64)first[t], *high = lengths + 2 * (u64)second[t];
        for (u32 down = 0; down < 2; down++) {
            const u64 slot = 2 * (u64)top[t] + down;
            const Length way = down ? sum_of(high[1], low[0]) : sum_of(low[1], high[0]);
            if (way == lengths[slot] && way < own[slot]) atomicMax(bridges + slot, t + 1);
        }
    }
}

// The two slots that a slot of a triangle bridges, in the order of the way.
__device__ __forceinline__ void legs_of(u32 slot, u32 t, const u32* first, const u32* second, u64* legs) {
    const bool down = slot & 1;
    legs[0] = 2 * (u64)(down ? second : first)[t] + 1;
    legs[1] = 2 * (u64)(down ? first : second)[t];
}

// Hands the flow of each slot to those that it bridges, from the roots; `bounds` are of the arcs of a level. What an
// arc of the graph serves stays.
extern "C" __global__ void __launch_bounds__(LEVEL_BLOCK)
    hand_down(const u32* bounds, u32 first_level, u32 last_level, const u32* first, const u32* second,
              const u32* bridges, u64* flows) {
    each_level<true>(bounds, first_level, last_level, [&](u32, u32 begin, u32 end) {
        for (u32 slot = 2 * begin + grid_thread(); slot < 2 * end; slot += grid_threads()) {
            const u64 flow = load_l2(flows + slot);
            if (flow == 0 || bridges[slot] == 0) continue;
            u64 legs[2];
            legs_of(slot, bridges[slot] - 1, first, second, legs);
            atomicAdd(flows + legs[0], flow);
            atomicAdd(flows + legs[1], flow);
            flows[slot] = 0;
        }
    });
}

// Takes what is left on slots, and writes it by arc of the graph.
extern "C" __global__ void take_flows(const int* slots, u32 arcs, const u32* lightest, u64* flows, u64* by_arc) {
    for (u32 arc = grid_thread(); arc < arcs; arc += grid_threads()) {
        const int slot = slots[arc];
        const bool is_own = slot >= 0 && lightest[slot] == arc;
        by_arc[arc] = is_own ? flows[slot] : 0;
        if (is_own) flows[slot] = 0;
    }
}

// Begins values of slots by those of the graph's arcs.
extern "C" __global__ void begin_values(u32 slots, const u32* lightest, const double* by_arc, double* values) {
    for (u32 slot = grid_thread(); slot < slots; slot += grid_threads())
        values[slot] = lightest[slot] == NO_ARC_NUMBER ? 0 : by_arc[lightest[slot]];
}

// Gives each slot the sum of the values of those that it bridges, from the deepest; `bounds` are as for hand_down.
extern "C" __global__ void __launch_bounds__(LEVEL_BLOCK)
    lift_values(const u32* bounds, u32 first_level, u32 last_level, const u32* first, const u32* second,
                const u32* bridges, double* values) {
    each_level<false>(bounds, first_level, last_level, [&](u32, u32 begin, u32 end) {
        for (u32 slot = 2 * begin + grid_thread(); slot < 2 * end; slot += grid_threads()) {
            if (bridges[slot] == 0) continue;
            u64 legs[2];
            legs_of(slot, bridges[slot] - 1, first, second, legs);
            values[slot] = values[legs[0]] + values[legs[1]];
        }
    });
}
