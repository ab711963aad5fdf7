// What follows from the distances of a raster: steps back to the sources, the certificate, and nearest sources.
// Directions are 1 to 8, clockwise from east; 0 is a source.

#include "grid/cells.cuh"
#include "primitives/warp.cuh"

#define FRESH(turn) ((turn) & 1 ? 0x80 : 0x40)  // marks directions that a turn has found

// Calls visit(direction, cell, reach) for the neighbours of a cell, with their distance and that of the step from them.
template <class Visit>
__device__ __forceinline__ void visit_neighbours(const Raster& raster, u32 cell, Visit visit) {
    const u32 row = cell / raster.columns, column = cell % raster.columns;
    const Distance friction = passable(raster, cell);
    const int rows[] = {0, 1, 1, 1, 0, -1, -1, -1}, columns[] = {1, 1, 0, -1, -1, -1, 0, 1};
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const u32 r = row + rows[k], c = column + columns[k];  // wraps before the first
        if (r >= raster.rows || c >= raster.columns) continue;
        const u32 from = r * raster.columns + c;
        const Distance half = !rows[k] ? raster.half_x : !columns[k] ? raster.half_y : raster.half_diagonal;
        const Distance cost = step_cost(friction, passable(raster, from), half);
        visit(k + 1, from, raster.distance[from], plus(raster.distance[from], cost));
    }
}

// Makes what is beyond the cutoff unreached.
extern "C" __global__ void forget_beyond(const __grid_constant__ Raster raster) {
    for (u32 cell = grid_thread(); cell < raster.rows * raster.columns; cell += grid_threads())
        if (raster.distance[cell] > raster.cutoff) raster.distance[cell] = UNREACHED;
}

// Finds steps back of the cells from `first` on, before `end`. Turn 0 finds those that fall. A later one finds level
// steps to cells that had a direction before it; its directions are marked until the next. counts[0] becomes the number
// of distances that are not the least over their neighbours, counts[1] that of reached cells that are left without a
// direction.
extern "C" __global__ void find_directions(const __grid_constant__ Raster raster, u8* directions, u32* counts, u32 turn,
                                           u32 first, u32 end) {
    for (u32 cell = first + grid_thread(); cell < end; cell += grid_threads()) {
        const Distance own = raster.distance[cell];
        int direction = directions[cell];
        if (direction == SOURCE || (turn && direction != NO_DIRECTION)) {
            directions[cell] = direction & ~FRESH(turn + 1);
            if (direction == SOURCE && own != 0) atomicAdd(&counts[0], 1u);
            continue;
        }
        Distance least = UNREACHED;
        visit_neighbours(raster, cell, [&](int code, u32 from, Distance distance, Distance reach) {
            least = min(least, reach);
            if (direction != NO_DIRECTION || reach != own || own == UNREACHED) return;
            const u8 other = *(volatile u8*)&directions[from];
            const bool is_known = turn && other != NO_DIRECTION && !(other & FRESH(turn));
            if (distance < own || (is_known && distance == own)) direction = code | (turn ? FRESH(turn) : 0);
        });
        directions[cell] = direction;
        if (own < least || (least < own && least <= raster.cutoff)) atomicAdd(&counts[0], 1u);
        if (own < UNREACHED && direction == NO_DIRECTION) atomicAdd(&counts[1], 1u);
    }
}

// Labels cells from `first` on, before `end`, with the one that their direction leads to. Sources and rows of other
// ranks are labelled before, with −2 − their number, and cells without a direction with −1. Following labels twice as
// far in each round then ends at the former, whatever the order.
extern "C" __global__ void label_cells(const u8* directions, int* labels, u32 columns, u32 first, u32 end) {
    const int row_steps[] = {0, 1, 1, 1, 0, -1, -1, -1}, column_steps[] = {1, 1, 0, -1, -1, -1, 0, 1};
    for (u32 cell = first + grid_thread(); cell < end; cell += grid_threads()) {
        const u8 code = directions[cell];
        if (code != SOURCE && code != NO_DIRECTION)
            labels[cell] = (int)cell + row_steps[code - 1] * (int)columns + column_steps[code - 1];
    }
}

// A round; `left` becomes 1 if a cell has not come to its source.
extern "C" __global__ void follow_labels(int* labels, u32 count, u32* left) {
    bool is_over = true;
    for (u32 cell = grid_thread(); cell < count; cell += grid_threads()) {
        const int next = labels[cell];
        if (next < 0) continue;
        const int label = *(volatile int*)&labels[next];
        labels[cell] = label;
        is_over &= label < 0;
    }
    if (!is_over) *left = 1;
}
