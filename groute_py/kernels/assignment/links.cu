// Costs of links by their volumes, and sums over all links that an equilibrium needs: what travellers pay, the
// objective, products of directions, and the part of a way where the objective is least. Flows are float64, by class
// and link; a volume is the sum over the classes, in passenger cars.

#include "primitives/memory_order.cuh"
#include "primitives/warp.cuh"

#define SUM_BLOCK 256
#define POINTS 4  // whose products are taken, or whose sum

// Times of links; assignment/link_costs.py has the formulas and their coefficients.
struct Times {
    const double* coefficients;  // 4 rows of one for each link
    u32 formula, links;
};

#define BPR 0

struct Power {
    double base, delay, room, power, volume, x;
    __device__ Power(const Times& t, u32 link, double of_link) : volume(of_link) {
        const double* own = t.coefficients + link;
        base = own[0], delay = own[(u64)t.links], room = own[2 * (u64)t.links], power = own[3 * (u64)t.links];
        x = volume / room;
    }
    __device__ double time() const { return base + delay * pow(x, power); }
    __device__ double slope() const { return delay * power / room * pow(x, power - 1); }
    __device__ double integral() const { return volume * (base + delay * pow(x, power) / (power + 1)); }
};

struct Cone {
    double free, alpha, beta, room, volume, left;
    __device__ Cone(const Times& t, u32 link, double of_link) : volume(of_link) {
        const double* own = t.coefficients + link;
        free = own[0], alpha = own[(u64)t.links], beta = own[2 * (u64)t.links], room = own[3 * (u64)t.links];
        left = alpha * (1 - volume / room);
    }
    __device__ double time() const { return free * (2 + hypot(left, beta) - left - beta); }
    __device__ double slope() const { return free * alpha / room * (1 - left / hypot(left, beta)); }
    __device__ double area(double to) const {
        return (to * hypot(to, beta) + beta * beta * asinh(to / beta) - to * to) / 2;
    }
    __device__ double integral() const {
        return free * ((2 - beta) * volume + room / alpha * (area(alpha) - area(left)));
    }
};

__device__ __forceinline__ double time_of(const Times& t, u32 link, double volume) {
    return t.formula == BPR ? Power(t, link, volume).time() : Cone(t, link, volume).time();
}

__device__ __forceinline__ double slope_of(const Times& t, u32 link, double volume) {
    return t.formula == BPR ? Power(t, link, volume).slope() : Cone(t, link, volume).slope();
}

__device__ __forceinline__ double integral_of(const Times& t, u32 link, double volume) {
    return t.formula == BPR ? Power(t, link, volume).integral() : Cone(t, link, volume).integral();
}

// Classes of travellers: fixed costs by class and link, and passenger cars of a trip.
struct Classes {
    const double* fixed;
    const double* cars;
    u32 count;
};

__device__ __forceinline__ double volume_of(const Times& t, const Classes& classes, const double* flows, u32 link) {
    double volume = 0;
    for (u32 k = 0; k < classes.count; k++) volume += classes.cars[k] * flows[(u64)k * t.links + link];
    return volume;
}

// Words by which blocks add; each order is fixed, so that a sum is the same each time.
struct Sums {
    double* parts;  // by block
    u32* arrivals;  // 0 between launches
    double* totals;
};

// Adds COUNT values of all threads of the grid; all of them call it. Returns true in the block that comes last, whose
// threads see the totals.
template <u32 COUNT>
__device__ __forceinline__ bool grid_add(const Sums& sums, const double* values) {
    __shared__ double warps[COUNT][SUM_BLOCK / 32];
    __shared__ bool is_last;
    for (u32 i = 0; i < COUNT; i++) {
        double value = values[i];
        for (u32 apart = 16; apart; apart /= 2) value += __shfl_xor_sync(~0u, value, apart);
        if (lane() == 0) warps[i][threadIdx.x / 32] = value;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 i = 0; i < COUNT; i++) {
            double value = 0;
            for (u32 warp = 0; warp < SUM_BLOCK / 32; warp++) value += warps[i][warp];
            sums.parts[i * gridDim.x + blockIdx.x] = value;
        }
        fence_gpu();
        is_last = atomicAdd(sums.arrivals, 1u) == gridDim.x - 1;
        fence_gpu();
    }
    __syncthreads();
    if (!is_last) return false;
    for (u32 i = threadIdx.x / 32; i < COUNT; i += SUM_BLOCK / 32) {
        double value = 0;
        for (u32 k = lane(); k < gridDim.x; k += 32) value += load_l2(sums.parts + i * gridDim.x + k);
        for (u32 apart = 16; apart; apart /= 2) value += __shfl_xor_sync(~0u, value, apart);
        if (lane() == 0) sums.totals[i] = value;
    }
    if (threadIdx.x == 0) *sums.arrivals = 0;
    __syncthreads();
    return true;
}

// Fills costs by class and link. Totals: what all travellers pay, and the objective.
extern "C" __global__ void __launch_bounds__(SUM_BLOCK)
    evaluate(const __grid_constant__ Times t, const __grid_constant__ Classes classes, const double* flows,
             double* costs, const __grid_constant__ Sums sums) {
    double mine[2] = {0, 0};
    for (u32 link = grid_thread(); link < t.links; link += grid_threads()) {
        const double volume = volume_of(t, classes, flows, link), time = time_of(t, link, volume);
        mine[1] += integral_of(t, link, volume);
        for (u32 k = 0; k < classes.count; k++) {
            const u64 place = (u64)k * t.links + link;
            const double cars = classes.cars[k] * flows[place];
            costs[place] = time + classes.fixed[place];
            mine[0] += cars * costs[place];
            mine[1] += cars * classes.fixed[place];
        }
    }
    grid_add<2>(sums, mine);
}

// Flows by class and link.
struct Points {
    const double* flows[POINTS];
};

// Totals: the products, with the slopes at some flows between them, of the ways from there to the points; those of the
// first with each, of the second with each but the first, and so on.
extern "C" __global__ void __launch_bounds__(SUM_BLOCK)
    multiply(const __grid_constant__ Times t, const __grid_constant__ Classes classes, const double* flows,
             const __grid_constant__ Points points, const __grid_constant__ Sums sums) {
    constexpr u32 PRODUCTS = POINTS * (POINTS + 1) / 2;
    double mine[PRODUCTS] = {};
    for (u32 link = grid_thread(); link < t.links; link += grid_threads()) {
        const double volume = volume_of(t, classes, flows, link), slope = slope_of(t, link, volume);
        double ways[POINTS];
        for (u32 i = 0; i < POINTS; i++) ways[i] = volume_of(t, classes, points.flows[i], link) - volume;
        for (u32 i = 0, pair = 0; i < POINTS; i++)
            for (u32 j = i; j < POINTS; j++) mine[pair++] += slope * ways[i] * ways[j];
    }
    grid_add<PRODUCTS>(sums, mine);
}

// The shares of points in a sum.
struct Shares {
    double of[POINTS];
};

// Fills the sum of points, each times its share, of so many values.
extern "C" __global__ void __launch_bounds__(SUM_BLOCK)
    mix(u32 values, const __grid_constant__ Points points, const __grid_constant__ Shares shares, double* whole) {
    for (u32 place = grid_thread(); place < values; place += grid_threads()) {
        double value = 0;
        for (u32 i = 0; i < POINTS; i++) value += shares.of[i] * points.flows[i][place];
        whole[place] = value;
    }
}

// A search along a way: where the derivative of the objective, which rises, is 0.
struct Search {
    double low, high, step;  // between 0 and 1
    double fixed;            // the part of the derivative that does not change
    double is_over;
};

// Begins a search on the way from flows to a target: volumes and their changes by link, and what is fixed.
extern "C" __global__ void __launch_bounds__(SUM_BLOCK)
    begin_search(const __grid_constant__ Times t, const __grid_constant__ Classes classes, const double* flows,
                 const double* target, double* volumes, double* changes, Search* search,
                 const __grid_constant__ Sums sums) {
    double fixed = 0;
    for (u32 link = grid_thread(); link < t.links; link += grid_threads()) {
        volumes[link] = volume_of(t, classes, flows, link);
        changes[link] = volume_of(t, classes, target, link) - volumes[link];
        for (u32 k = 0; k < classes.count; k++) {
            const u64 place = (u64)k * t.links + link;
            fixed += classes.cars[k] * classes.fixed[place] * (target[place] - flows[place]);
        }
    }
    if (grid_add<1>(sums, &fixed) && threadIdx.x == 0) *search = {0, 1, 0, sums.totals[0], 0};
}

// A trial of Newton's method; a step that leaves the part that is still possible is a bisection. See
// assignment/links.py.
__device__ void take_step(Search& s, double rise, double bend, double accuracy) {
    (rise < 0 ? s.low : s.high) = s.step;
    if (s.high - s.low <= accuracy || (s.step == 0 && rise >= 0)) {
        s.step = s.low;
        s.is_over = 1;
        return;
    }
    double trial = bend > 0 ? s.step - rise / bend : 1;
    if (fabs(trial - s.step) <= accuracy)
        s.is_over = 1;
    else if (trial >= 1 && s.high == 1 && s.step < 1)
        trial = 1;
    else if (!(s.low < trial && trial < s.high))
        trial = (s.low + s.high) / 2;
    s.step = trial;
    if (s.step == 1 && s.low == 1) s.is_over = 1;
}

extern "C" __global__ void __launch_bounds__(SUM_BLOCK)
    search_step(const __grid_constant__ Times t, const double* volumes, const double* changes, double accuracy,
                Search* search, const __grid_constant__ Sums sums) {
    if (search->is_over) return;
    const double step = search->step;
    double mine[2] = {0, 0};
    for (u32 link = grid_thread(); link < t.links; link += grid_threads()) {
        const double change = changes[link], volume = volumes[link] + step * change;
        mine[0] += time_of(t, link, volume) * change;
        mine[1] += slope_of(t, link, volume) * change * change;
    }
    if (grid_add<2>(sums, mine) && threadIdx.x == 0)
        take_step(*search, sums.totals[0] + search->fixed, sums.totals[1], accuracy);
}
