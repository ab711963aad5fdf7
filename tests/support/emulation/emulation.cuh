// CUDA C++ as plain C++, so that a kernel's answers can be looked at without a GPU.
//
// The threads of a block are fibers that take turns; one goes on until it waits for others at a
// barrier, a shuffle, a vote or a word that another writes. Which warp is next, in which order its lanes go, and
// whether they go on until they wait for other warps, is drawn: so what lacks a barrier goes wrong sooner or later.
// Blocks run one after the other; those of a cooperative launch take turns too, each in a thread of the host. So this
// shows what a kernel computes, also where threads wait for each other in vain, but not how fast, nor all races.
// Kernels launched by several threads of the host run side by side, as those of several GPUs do.
#pragma once

#undef _FORTIFY_SOURCE  // which takes a jump to another stack for an error

#include <sched.h>
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __grid_constant__

using std::max;
using std::min;

struct Position {
    unsigned x, y, z;
};
static thread_local Position threadIdx, blockIdx, blockDim, gridDim;

struct uint2 {
    unsigned x, y;
};
static uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
struct int4 {
    int each[4];
};
struct longlong2 {
    long long each[2];
};
struct ulonglong2 {
    unsigned long long each[2];
};

struct Fiber {
    ucontext_t beginning;
    jmp_buf place;  // where it has paused; to jump there, without a signal mask, takes no system call
    std::vector<char> stack;
    bool begun, ended;
};
static thread_local std::vector<Fiber> fibers;
static thread_local jmp_buf scheduler;
static thread_local unsigned running;

static __attribute__((noinline)) void pause() {
    if (_setjmp(fibers[running].place) == 0) _longjmp(scheduler, 1);
}

// Until it pauses.
static __attribute__((noinline)) void resume(Fiber& fiber) {
    if (_setjmp(scheduler) != 0) return;
    if (fiber.begun) _longjmp(fiber.place, 1);
    fiber.begun = true;
    setcontext(&fiber.beginning);
}

static thread_local unsigned long waited;  // how often threads of the block have ended waiting for others

// How often each thread has come to the meetings of its block, of its warp, and of some lanes of a warp.
typedef std::vector<unsigned long> Visits;
static thread_local Visits of_block, of_warps;
static thread_local std::map<std::pair<unsigned, unsigned>, Visits> of_lanes;

// Waits for those of `count` threads from `first` on whose bit is set, one for each lane of a warp.
static __attribute__((noinline)) void meet(Visits& visits, unsigned first, unsigned count, unsigned lanes) {
    const Fiber* all = fibers.data();
    unsigned long *came = visits.data(), visit = ++came[running];
    for (unsigned t = first; t < first + count; t++)
        while ((lanes >> t % 32 & 1) && came[t] < visit && !all[t].ended) pause();
    waited++;
}

static void __syncthreads() { meet(of_block, 0, fibers.size(), ~0u); }
static void __syncwarp(unsigned lanes = ~0u) {
    Visits& visits = lanes == ~0u ? of_warps : of_lanes[{running / 32, lanes}];
    visits.resize(fibers.size());  // if these have not met before
    meet(visits, running / 32 * 32, min<unsigned>(32, fibers.size() - running / 32 * 32), lanes);
}

static thread_local unsigned long long told[1024];

template <class Value>
static Value __shfl_sync(unsigned lanes, Value value, unsigned lane) {
    std::memcpy(&told[running], &value, sizeof(Value));
    __syncwarp(lanes);
    std::memcpy(&value, &told[running / 32 * 32 + lane % 32], sizeof(Value));
    __syncwarp(lanes);
    return value;
}
template <class Value>
static Value __shfl_up_sync(unsigned lanes, Value value, unsigned apart) {
    unsigned lane = running % 32;
    return __shfl_sync(lanes, value, lane < apart ? lane : lane - apart);
}
template <class Value>
static Value __shfl_xor_sync(unsigned lanes, Value value, unsigned apart) {
    return __shfl_sync(lanes, value, running % 32 ^ apart);
}
static unsigned __ballot_sync(unsigned lanes, bool vote) {
    told[running] = vote;
    __syncwarp(lanes);
    unsigned votes = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (lanes >> lane & 1) votes |= (unsigned)told[running / 32 * 32 + lane] << lane;
    }
    __syncwarp(lanes);
    return votes;
}
static bool __any_sync(unsigned lanes, bool vote) { return __ballot_sync(lanes, vote) != 0; }
static int __reduce_min_sync(unsigned lanes, int value) {
    for (unsigned lane = 0; lane < 32; lane++) {
        int other = __shfl_sync(lanes, value, lane);
        if (lanes >> lane & 1) value = min(value, other);
    }
    return value;
}
static bool __all_sync(unsigned lanes, bool vote) { return __ballot_sync(lanes, vote) == lanes; }
static int __popc(unsigned bits) { return __builtin_popcount(bits); }
static int __clz(int bits) { return bits ? __builtin_clz((unsigned)bits) : 32; }
static int __clzll(long long bits) { return bits ? __builtin_clzll((unsigned long long)bits) : 64; }
static void __nanosleep(unsigned) { sched_yield(); }
static unsigned long long clock64() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// Kernels call this where they wait for a word of others; see primitives/memory_order.cuh.
static void yield_to_others() { pause(); }
static int __ffs(unsigned bits) { return __builtin_ffs((int)bits); }

template <class To, class From>
static To same_bits(From value) {
    To bits;
    std::memcpy(&bits, &value, sizeof(To));
    return bits;
}
static float __double2float_ru(double value) {
    float rounded = (float)value;
    return rounded < value ? std::nextafter(rounded, INFINITY) : rounded;
}
static double __dmul_rn(double a, double b) { return a * b; }
#define __float_as_int same_bits<int, float>
#define __int_as_float same_bits<float, int>
#define __float_as_uint same_bits<unsigned, float>
#define __uint_as_float same_bits<float, unsigned>
#define __double_as_longlong same_bits<long long, double>
#define __longlong_as_double same_bits<double, long long>

#define ATOMIC(name, result)                       \
    template <class Word, class Other>             \
    static Word name(Word* place, Other value) {   \
        Word before = *place, other = (Word)value; \
        *place = result;                           \
        return before;                             \
    }
ATOMIC(atomicExch, other)
ATOMIC(atomicAdd, before + other)
ATOMIC(atomicMin, min(before, other))
ATOMIC(atomicMax, max(before, other))
ATOMIC(atomicOr, before | other)
ATOMIC(atomicAnd, before& other)

template <class Word>
static Word atomicCAS(Word* place, Word expected, Word value) {
    Word before = *place;
    if (before == expected) *place = value;
    return before;
}

template <class Word>
static Word __ldcg(const Word* place) {
    return *place;
}
template <class Word>
static Word __ldcs(const Word* place) {
    return *place;
}
template <class Word>
static Word __ldg(const Word* place) {
    return *place;
}
template <class Word>
static void __stcs(Word* place, Word value) {
    *place = value;
}
template <class Word>
static void __stcg(Word* place, Word value) {
    *place = value;
}

typedef unsigned long long Argument;
typedef void (*Kernel)(Argument, Argument, Argument, Argument, Argument, Argument, Argument, Argument, Argument,
                       Argument, Argument, Argument);
static thread_local Kernel kernel;
static thread_local const Argument* arguments;

static void live() {
    const Argument* a = arguments;
    kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    fibers[running].ended = true;
    pause();
}

// A block, ready to run in this thread.
static void enter(Kernel function, const Argument* twelve, Position grid, unsigned threads, unsigned block) {
    kernel = function;
    arguments = twelve;
    gridDim = grid;
    blockDim = {threads, 1, 1};
    blockIdx = {block % grid.x, block / grid.x, 0};
    of_block.assign(threads, 0);
    of_warps.assign(threads, 0);
    of_lanes.clear();
    fibers.resize(threads);
    for (Fiber& fiber : fibers) {
        fiber.begun = fiber.ended = false;
        fiber.stack.resize(1 << 16);
        getcontext(&fiber.beginning);
        fiber.beginning.uc_stack.ss_sp = fiber.stack.data();
        fiber.beginning.uc_stack.ss_size = fiber.stack.size();
        makecontext(&fiber.beginning, live, 0);
    }
}

static thread_local unsigned drawn = 1;

// Draws a number below `count`.
static unsigned draw(unsigned count) {
    drawn = drawn * 1664525 + 1013904223;
    return (drawn >> 8) % count;
}

#define AT_ONCE 64  // rounds of a warp at the most, since it may look for what another writes

// Each thread of a warp goes on until it waits, once or until all wait for other warps; whether there was one.
static bool go_on(unsigned warp) {
    const unsigned begin = 32 * warp, lanes = min<unsigned>(32, fibers.size() - begin);
    for (unsigned rounds = draw(2) ? 1 : AT_ONCE;; rounds--) {
        const unsigned long before = waited;
        const unsigned first = draw(lanes), step = draw(2) ? 1 : lanes - 1;
        bool some = false;
        for (unsigned i = 0; i < lanes; i++) {
            running = begin + (first + i * step) % lanes;
            if (fibers[running].ended) continue;
            some = true;
            threadIdx = {running, 0, 0};
            resume(fibers[running]);
        }
        if (!some || waited == before || rounds == 1) return some;
    }
}

// The same for all warps of the block.
static bool go_on() {
    const unsigned warps = (fibers.size() + 31) / 32, first = draw(warps), step = draw(2) ? 1 : warps - 1;
    bool some = false;
    for (unsigned i = 0; i < warps; i++) some = go_on((first + i * step) % warps) || some;
    return some;
}

// Integers and pointers are passed alike, and arguments that a function does not have do no harm.
extern "C" void launch(Kernel function, unsigned columns, unsigned rows, unsigned threads, const Argument* twelve) {
    for (unsigned block = 0; block < columns * rows; block++) {
        enter(function, twelve, {columns, rows, 1}, threads, block);
        while (go_on()) {
        }
    }
}

extern "C" void launch_together(Kernel function, unsigned blocks, unsigned threads, const Argument* twelve) {
    std::mutex lock;
    std::condition_variable handed_over;
    std::vector<bool> ended(blocks);
    unsigned turn = 0;
    static std::atomic<unsigned> launches;
    const unsigned number = launches++;
    auto run = [&](unsigned block) {
        drawn = number * blocks + block;
        enter(function, twelve, {blocks, 1, 1}, threads, block);
        for (bool some = true; some;) {
            std::unique_lock<std::mutex> held(lock);
            handed_over.wait(held, [&] { return turn == block; });
            some = go_on();
            ended[block] = !some;
            for (unsigned step = 1; step <= blocks; step++) {
                turn = (block + step) % blocks;
                if (!ended[turn]) break;
            }
            handed_over.notify_all();
        }
    };
    std::vector<std::thread> running_blocks;
    for (unsigned block = 0; block < blocks; block++) running_blocks.emplace_back(run, block);
    for (std::thread& block : running_blocks) block.join();
}
