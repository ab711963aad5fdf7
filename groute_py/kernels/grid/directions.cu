// What follows from the distances of a raster: steps back to the sources, the certificate, and nearest sources.
// Directions are 1 to 8, clockwise from east; 0 is a source.

#include "grid/cells.cuh"
#include "primitives/warp.cuh"

#define FRESH(round) ((round) & 1 ? 0x80 : 0x40)  // marks directions that `claim_level` found in a round

// Calls visit(direction, cell, reach) for the neighbours of a cell, with their distance and that of the step from them.
template <class Visit>
__device__ __forceinline__ void visit_neighbours(const Raster& raster, u32 cell, Visit visit) {
    const u32 row = cell / raster.columns, column = cell % raster.columns;
    const Distance friction = passable(raster.friction[cell]);
    const int rows[] = {0, 1, 1, 1, 0, -1, -1, -1}, columns[] = {1, 1, 0, -1, -1, -1, 0, 1};
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const u32 r = row + rows[k], c = column + columns[k];  // wraps before the first
        if (r >= raster.rows || c >= raster.columns) continue;
        const u32 from = r * raster.columns + c;
        const Distance half = !rows[k] ? raster.half_x : !columns[k] ? raster.half_y : raster.half_diagonal;
        const Distance cost = step_cost(friction, passable(raster.friction[from]), half);
        visit(k + 1, from, raster.distance[from], plus(raster.distance[from], cost));
    }
}

__device__ __forceinline__ u32 cell_count(const Raster& raster) { return raster.rows * raster.columns; }

// Makes what is beyond the cutoff unreached.
extern "C" __global__ void forget_beyond(const __grid_constant__ Raster raster) {
    for (u32 cell = grid_thread(); cell < cell_count(raster); cell += grid_threads())
        if (raster.distance[cell] > raster.cutoff) raster.distance[cell] = UNREACHED;
}

// Finds the first step back that falls, for cells that are no sources. counts[0] becomes the number of distances that
// are not the least over the neighbours, counts[1] that of cells whose steps back are all level.
extern "C" __global__ void find_directions(const __grid_constant__ Raster raster, u8* directions, u32* counts) {
    for (u32 cell = grid_thread(); cell < cell_count(raster); cell += grid_threads()) {
        const Distance own = raster.distance[cell];
        const bool is_source = directions[cell] == SOURCE;
        Distance least = is_source ? 0 : UNREACHED;
        u8 direction = is_source ? SOURCE : NO_DIRECTION;
        visit_neighbours(raster, cell, [&](int code, u32, Distance distance, Distance reach) {
            least = min(least, reach);
            if (reach == own && distance < own && own < UNREACHED && direction == NO_DIRECTION) direction = code;
        });
        directions[cell] = direction;
        if (own < least || (least < own && least <= raster.cutoff)) atomicAdd(&counts[0], 1u);
        if (own < UNREACHED && direction == NO_DIRECTION) atomicAdd(&counts[1], 1u);
    }
}

// A round of level steps to cells that had a direction before it; counts[1] falls by their number.
extern "C" __global__ void claim_level(const __grid_constant__ Raster raster, u8* directions, u32* counts, u32 round) {
    for (u32 cell = grid_thread(); cell < cell_count(raster); cell += grid_threads()) {
        const Distance own = raster.distance[cell];
        if (directions[cell] != NO_DIRECTION || own == UNREACHED) continue;
        int direction = NO_DIRECTION;
        visit_neighbours(raster, cell, [&](int code, u32 from, Distance distance, Distance reach) {
            const u8 other = *(volatile u8*)&directions[from];
            const bool is_known = other != NO_DIRECTION && !(other & FRESH(round));
            if (is_known && distance == own && reach == own && direction == NO_DIRECTION) direction = code;
        });
        if (direction == NO_DIRECTION) continue;
        directions[cell] = direction | FRESH(round);
        atomicAdd(&counts[1], ~0u);
    }
}

// Clears the marks.
extern "C" __global__ void end_claims(u8* directions, u32 count) {
    for (u32 cell = grid_thread(); cell < count; cell += grid_threads())
        if (directions[cell] != NO_DIRECTION) directions[cell] &= 15;
}

// Labels each cell with the one that its direction leads to, or −1; `label_sources` labels a source with −2 − its
// number. Following labels twice as far in each round then ends at the sources, whatever the order.
extern "C" __global__ void label_cells(const u8* directions, int* labels, u32 rows, u32 columns) {
    const int row_steps[] = {0, 1, 1, 1, 0, -1, -1, -1}, column_steps[] = {1, 1, 0, -1, -1, -1, 0, 1};
    for (u32 cell = grid_thread(); cell < rows * columns; cell += grid_threads()) {
        const u8 code = directions[cell];
        const bool leads = code != SOURCE && code != NO_DIRECTION;
        labels[cell] = leads ? (int)cell + row_steps[code - 1] * (int)columns + column_steps[code - 1] : -1;
    }
}

extern "C" __global__ void label_sources(int* labels, const i64* sources, const int* numbers, u32 count) {
    for (u32 i = grid_thread(); i < count; i += grid_threads()) labels[sources[i]] = -2 - numbers[i];
}

// A round; counts[0] becomes positive if a cell has not come to its source.
extern "C" __global__ void follow_labels(int* labels, u32 count, u32* counts) {
    bool is_over = true;
    for (u32 cell = grid_thread(); cell < count; cell += grid_threads()) {
        const int next = labels[cell];
        if (next < 0) continue;
        const int label = *(volatile int*)&labels[next];
        labels[cell] = label;
        is_over &= label < 0;
    }
    if (!is_over) counts[0] = 1;
}

// Makes the labels of sources their numbers.
extern "C" __global__ void number_cells(int* labels, u32 count) {
    for (u32 cell = grid_thread(); cell < count; cell += grid_threads())
        labels[cell] = labels[cell] == -1 ? -1 : -2 - labels[cell];
}
