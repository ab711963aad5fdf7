// Moves of rows of flows within the simplices of their points; assignment/simplices.py has the method, and
// kernels/cpu/simplices.py the same on cores. Follows assignment/links.cu, whose sums it uses.

#define TRIALS 20            // rounds of a search in one simplex, at most
#define SHARE_ACCURACY 1e-9  // the change of a share at which it ends

// Flows by row and link, and those of three points of each row.
struct Rows {
    const double* flows;
    const double* points[POINTS];
    const u32* owners;    // by row, its class
    const double* cars;   // by class
    const double* costs;  // by class and link
    const double* slopes;
    double *products, *shares, *moves;  // by row, POINTS² or POINTS each
    double* gains;                      // by row
    double *added, *way;                // by link: to costs by the moves before; the change of volumes by a move
    double* step;                       // the part of the moves to go
    u32 rows, links;
};

__device__ __forceinline__ double way_to(const Rows& r, u32 point, u64 place) {
    return r.points[point][place] - r.flows[place];
}

// Sums of COUNT values of the threads of a block, in a fixed order, for thread 0.
template <u32 COUNT>
__device__ __forceinline__ void block_add(double* values) {
    __shared__ double warps[COUNT][SUM_BLOCK / 32];
    for (u32 i = 0; i < COUNT; i++) {
        for (u32 apart = 16; apart; apart /= 2) values[i] += __shfl_xor_sync(~0u, values[i], apart);
        if (lane() == 0) warps[i][threadIdx.x / 32] = values[i];
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (u32 i = 0; i < COUNT; i++) {
        values[i] = 0;
        for (u32 warp = 0; warp < SUM_BLOCK / 32; warp++) values[i] += warps[i][warp];
    }
}

// Fills the slopes of times at the volumes of flows by class.
extern "C" __global__ void fill_slopes(const __grid_constant__ Times t, const __grid_constant__ Classes classes,
                                       const double* flows, double* slopes) {
    for (u32 link = grid_thread(); link < t.links; link += grid_threads())
        slopes[link] = slope_of(t, link, volume_of(t, classes, flows, link));
}

// Fills the products of the ways to the points, with slopes between them. A block takes a row.
extern "C" __global__ void __launch_bounds__(SUM_BLOCK) multiply_ways(const __grid_constant__ Rows r) {
    const u32 row = blockIdx.x;
    double mine[6] = {0, 0, 0, 0, 0, 0};
    for (u32 link = threadIdx.x; link < r.links; link += blockDim.x) {
        double ways[POINTS];
        for (u32 i = 0; i < POINTS; i++) ways[i] = way_to(r, i, (u64)row * r.links + link);
        for (u32 i = 0, pair = 0; i < POINTS; i++)
            for (u32 j = i; j < POINTS; j++) mine[pair++] += r.slopes[link] * ways[i] * ways[j];
    }
    block_add<6>(mine);
    if (threadIdx.x > 0) return;
    const double cars = r.cars[r.owners[row]];
    double* own = r.products + (u64)row * POINTS * POINTS;
    for (u32 i = 0, pair = 0; i < POINTS; i++)
        for (u32 j = i; j < POINTS; j++, pair++) own[i * POINTS + j] = own[j * POINTS + i] = cars * cars * mine[pair];
}

// Moves `change` of a share, and what it changes of the slopes.
__device__ __forceinline__ void move_share(double change, const double* products, double* share, double* slopes) {
    *share += change;
    for (u32 k = 0; k < POINTS; k++) slopes[k] += change * products[k];
}

// Moves shares to where a quadratic form is least, by coordinates and pairs of them.
__device__ void least_in_simplex(const double* products, double* slopes, double* own) {
    double most = 1;
    for (u32 trial = 0; trial < TRIALS && most > SHARE_ACCURACY; trial++) {
        most = 0;
        for (u32 i = 0; i < POINTS; i++) {
            const double* const mine = products + i * POINTS;
            if (mine[i] > 0) {
                const double left = max(1 - (own[0] + own[1] + own[2]), 0.0);
                const double change = min(max(-slopes[i] / mine[i], -own[i]), left);
                move_share(change, mine, own + i, slopes);
                most = max(most, fabs(change));
            }
            for (u32 j = 0; j < i; j++) {
                const double* const other = products + j * POINTS;
                const double bend = mine[i] + other[j] - 2 * mine[j];
                if (!(bend > 0)) continue;
                const double change = max(min((slopes[j] - slopes[i]) / bend, own[j]), -own[i]);
                move_share(change, mine, own + i, slopes);
                move_share(-change, other, own + j, slopes);
                most = max(most, fabs(change));
            }
        }
    }
}

// Chooses the move of every `turns`-th row to its least objective, alone. A block takes a row.
extern "C" __global__ void __launch_bounds__(SUM_BLOCK)
    choose_moves(const __grid_constant__ Rows r, u32 turn, u32 turns) {
    const u32 row = turn + blockIdx.x * turns, owner = r.owners[row];
    double rates[POINTS] = {0, 0, 0};
    for (u32 link = threadIdx.x; link < r.links; link += blockDim.x) {
        const double price = r.costs[(u64)owner * r.links + link] + r.added[link];
        for (u32 i = 0; i < POINTS; i++) rates[i] += price * way_to(r, i, (u64)row * r.links + link);
    }
    block_add<POINTS>(rates);
    if (threadIdx.x > 0) return;
    double own[POINTS], slopes[POINTS], gain = 0;
    for (u32 i = 0; i < POINTS; i++) {
        slopes[i] = rates[i] *= r.cars[owner];
        own[i] = r.shares[row * POINTS + i];
    }
    least_in_simplex(r.products + (u64)row * POINTS * POINTS, slopes, own);
    for (u32 i = 0; i < POINTS; i++) {
        const double move = own[i] - r.shares[row * POINTS + i];
        r.moves[row * POINTS + i] = move;
        gain -= rates[i] * move;
    }
    r.gains[row] = gain;
}

// Fills the change of volumes by the moves of these rows, and the part of them that leads to the least objective.
extern "C" __global__ void __launch_bounds__(SUM_BLOCK)
    combine_moves(const __grid_constant__ Rows r, u32 turn, u32 turns, const __grid_constant__ Sums sums) {
    double both[2] = {0, 0};
    for (u32 link = grid_thread(); link < r.links; link += grid_threads()) {
        double way = 0;
#pragma unroll 4
        for (u32 row = turn; row < r.rows; row += turns) {
            const u64 place = (u64)row * r.links + link;
            double own = 0;
            for (u32 i = 0; i < POINTS; i++) own += r.moves[row * POINTS + i] * way_to(r, i, place);
            way += r.cars[r.owners[row]] * own;
        }
        r.way[link] = way;
        both[0] += r.slopes[link] * way * way;
    }
    for (u32 row = turn + turns * grid_thread(); row < r.rows; row += turns * grid_threads()) both[1] += r.gains[row];
    if (!grid_add<2>(sums, both) || threadIdx.x > 0) return;
    const double bend = sums.totals[0], gain = max(sums.totals[1], 0.0);
    *r.step = bend > 0 ? min(gain / bend, 1.0) : 1;
}

// Fills targets by shares of the ways, and where the ways end: at the first point without a share.
extern "C" __global__ void blend(const __grid_constant__ Rows r, double* target, double* reached) {
    const u32 row = blockIdx.y;
    const double* const shares = r.shares + row * POINTS;
    const double whole = shares[0] + shares[1] + shares[2];
    for (u32 link = grid_thread(); link < r.links; link += grid_threads()) {
        const u64 place = (u64)row * r.links + link;
        const double flow = r.flows[place];
        double way = 0;
        for (u32 i = 0; i < POINTS; i++) way += shares[i] * way_to(r, i, place);
        target[place] = max(flow + way, 0.0);
        reached[place] = whole > 0 ? max(flow + way / whole, 0.0) : r.points[0][place];
    }
}

// Goes that part of the moves.
extern "C" __global__ void advance_shares(const __grid_constant__ Rows r, u32 turn, u32 turns) {
    const double step = *r.step;
    for (u32 link = grid_thread(); link < r.links; link += grid_threads())
        r.added[link] += step * r.slopes[link] * r.way[link];
    for (u32 row = turn + turns * grid_thread(); row < r.rows; row += turns * grid_threads())
        for (u32 i = 0; i < POINTS; i++) r.shares[row * POINTS + i] += step * r.moves[row * POINTS + i];
}
