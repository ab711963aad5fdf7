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
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
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

typedef unsigned long long Argument;
typedef void (*Kernel)(Argument, Argument, Argument, Argument, Argument, Argument, Argument, Argument, Argument,
                       Argument, Argument, Argument);

// A barrier of a block, of a warp, or of some lanes of a warp.
struct Barrier {
    unsigned long phase = 0;  // how often all have come
    unsigned came = 0;        // of this phase
};

struct Fiber {
    void* place[5];  // where it has paused; the compiler's own jumps take no call of the system or a library
    std::unique_ptr<char[]> stack;
    bool begun = false, ended = false;

    // The barrier that it waits at until the phase is over, if there is one.
    Barrier* barrier = nullptr;
    unsigned long phase = 0;
    unsigned lanes = 0;  // of its warp that the barrier is for; 0 for all threads of the block
};

// The block that a thread of the host runs.
struct Block {
    std::vector<Fiber> fibers;
    void* scheduler[5];
    unsigned running = 0;
    unsigned long waited = 0;  // how often its threads have ended waiting for others

    Barrier of_block;
    std::vector<Barrier> of_warps;
    std::map<std::pair<unsigned, unsigned>, Barrier> of_lanes;  // by warp and lanes
    std::vector<unsigned> ended;  // lanes of each warp whose threads have ended, and wait for nobody
    unsigned ended_count = 0;

    unsigned long long exchanged[1024];  // what lanes give each other
    Kernel kernel = nullptr;
    const Argument* arguments = nullptr;
    unsigned drawn = 1;
};
static thread_local Block* block;  // a plain pointer, which is found faster than what is made at first use

static __attribute__((noinline)) void jump(void** place) { __builtin_longjmp(place, 1); }

static __attribute__((noinline)) void pause() {
    if (__builtin_setjmp(block->fibers[block->running].place) == 0) jump(block->scheduler);
}

#define STACK_BYTES (1 << 16)

static void live();

// Until it pauses.
static __attribute__((noinline)) void resume(Fiber& fiber) {
    if (__builtin_setjmp(block->scheduler) != 0) return;
    if (fiber.begun) jump(fiber.place);
    fiber.begun = true;
    ucontext_t beginning;
    getcontext(&beginning);
    beginning.uc_stack.ss_sp = fiber.stack.get();
    beginning.uc_stack.ss_size = STACK_BYTES;
    makecontext(&beginning, live, 0);
    setcontext(&beginning);
}

// Whether it has to wait at its barrier. The scheduler looks, which is faster than to resume it for nothing.
static bool waits(Fiber& fiber, unsigned thread) {
    Barrier* barrier = fiber.barrier;
    if (!barrier) return false;
    if (barrier->phase == fiber.phase) {
        const unsigned lanes = fiber.lanes, ended = block->ended[thread / 32];
        const unsigned awaited = lanes ? __builtin_popcount(lanes & ~ended) : block->fibers.size() - block->ended_count;
        if (barrier->came < awaited) return true;
        barrier->phase++;
        barrier->came = 0;
    }
    fiber.barrier = nullptr;
    return false;
}

static __attribute__((noinline)) void wait_at(Barrier& barrier, unsigned lanes) {
    const unsigned thread = block->running;
    Fiber& fiber = block->fibers[thread];
    fiber.barrier = &barrier;
    fiber.phase = barrier.phase;
    fiber.lanes = lanes;
    barrier.came++;
    while (waits(fiber, thread)) pause();
    block->waited++;
}

static void __syncthreads() { wait_at(block->of_block, 0); }
static void __syncwarp(unsigned lanes = ~0u) {
    const unsigned warp = block->running / 32, threads = block->fibers.size() - warp * 32;
    const unsigned there = threads < 32 ? (1u << threads) - 1 : ~0u;
    wait_at(lanes == ~0u ? block->of_warps[warp] : block->of_lanes[{warp, lanes}], lanes & there);
}

static bool __syncthreads_or(bool vote) {
    unsigned long long* given = block->exchanged;
    given[block->running] = vote;
    __syncthreads();
    bool some = false;
    for (unsigned thread = 0; thread < block->fibers.size(); thread++) some |= given[thread] != 0;
    __syncthreads();
    return some;
}

template <class Value>
static Value __shfl_sync(unsigned lanes, Value value, unsigned lane) {
    unsigned long long* given = block->exchanged;
    const unsigned own = block->running;
    std::memcpy(&given[own], &value, sizeof(Value));
    __syncwarp(lanes);
    std::memcpy(&value, &given[own / 32 * 32 + lane % 32], sizeof(Value));
    __syncwarp(lanes);
    return value;
}
template <class Value>
static Value __shfl_up_sync(unsigned lanes, Value value, unsigned apart) {
    unsigned lane = block->running % 32;
    return __shfl_sync(lanes, value, lane < apart ? lane : lane - apart);
}
template <class Value>
static Value __shfl_xor_sync(unsigned lanes, Value value, unsigned apart) {
    return __shfl_sync(lanes, value, block->running % 32 ^ apart);
}
static unsigned __ballot_sync(unsigned lanes, bool vote) {
    unsigned long long* given = block->exchanged;
    const unsigned own = block->running;
    given[own] = vote;
    __syncwarp(lanes);
    unsigned votes = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (lanes >> lane & 1) votes |= (unsigned)given[own / 32 * 32 + lane] << lane;
    }
    __syncwarp(lanes);
    return votes;
}
static bool __any_sync(unsigned lanes, bool vote) { return __ballot_sync(lanes, vote) != 0; }
template <class Word>
static Word __reduce_min_sync(unsigned lanes, Word value) {
    for (unsigned lane = 0; lane < 32; lane++) {
        Word other = __shfl_sync(lanes, value, lane);
        if (lanes >> lane & 1) value = min(value, other);
    }
    return value;
}
static unsigned __reduce_or_sync(unsigned lanes, unsigned value) {
    for (unsigned apart = 16; apart; apart /= 2) value |= __shfl_xor_sync(lanes, value, apart);
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
static float __fmul_rn(float a, float b) { return a * b; }
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

// A fiber, one kernel after another.
static void live() {
    while (true) {
        const Argument* a = block->arguments;
        block->kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
        const unsigned thread = block->running;
        block->fibers[thread].ended = true;
        block->ended[thread / 32] |= 1u << thread % 32;
        block->ended_count++;
        pause();
    }
}

// A block, ready to run in this thread.
static void enter(Kernel function, const Argument* twelve, Position grid, unsigned threads, unsigned number) {
    static thread_local Block own;
    block = &own;
    own.kernel = function;
    own.arguments = twelve;
    gridDim = grid;
    blockDim = {threads, 1, 1};
    blockIdx = {number % grid.x, number / grid.x, 0};
    own.of_block = {};
    own.of_warps.assign((threads + 31) / 32, {});
    own.of_lanes.clear();
    own.ended.assign((threads + 31) / 32, 0);
    own.ended_count = 0;
    own.fibers.resize(threads);
    for (Fiber& fiber : own.fibers) {
        fiber.ended = false;
        fiber.barrier = nullptr;
        if (!fiber.stack) fiber.stack.reset(new char[STACK_BYTES]);  // not cleared: most of it is never touched
    }
}

// Draws a number below `count`.
static unsigned draw(unsigned count) {
    block->drawn = block->drawn * 1664525 + 1013904223;
    return (block->drawn >> 8) % count;
}

#define AT_ONCE 64  // rounds of a warp at the most, since it may look for what another writes

// Each thread of a warp goes on until it waits, once or until all wait for other warps; whether there was one.
static bool go_on(unsigned warp) {
    std::vector<Fiber>& fibers = block->fibers;
    const unsigned begin = 32 * warp, lanes = min<unsigned>(32, fibers.size() - begin);
    for (unsigned rounds = draw(2) ? 1 : AT_ONCE;; rounds--) {
        const unsigned long before = block->waited;
        const unsigned first = draw(lanes), step = draw(2) ? 1 : lanes - 1;
        bool some = false;
        for (unsigned i = 0; i < lanes; i++) {
            const unsigned thread = begin + (first + i * step) % lanes;
            if (fibers[thread].ended) continue;
            some = true;
            if (waits(fibers[thread], thread)) continue;
            block->running = thread;
            threadIdx = {thread, 0, 0};
            resume(fibers[thread]);
        }
        if (!some || block->waited == before || rounds == 1) return some;
    }
}

// The same for all warps of the block.
static bool go_on() {
    const unsigned warps = (block->fibers.size() + 31) / 32, first = draw(warps), step = draw(2) ? 1 : warps - 1;
    bool some = false;
    for (unsigned i = 0; i < warps; i++) some = go_on((first + i * step) % warps) || some;
    return some;
}

// Integers and pointers are passed alike, and arguments that a function does not have do no harm.
extern "C" void launch(Kernel function, unsigned columns, unsigned rows, unsigned threads, const Argument* twelve) {
    for (unsigned number = 0; number < columns * rows; number++) {
        enter(function, twelve, {columns, rows, 1}, threads, number);
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
    const unsigned launch = launches++;
    auto run = [&](unsigned number) {
        enter(function, twelve, {blocks, 1, 1}, threads, number);
        block->drawn = launch * blocks + number;
        for (bool some = true; some;) {
            std::unique_lock<std::mutex> held(lock);
            handed_over.wait(held, [&] { return turn == number; });
            some = go_on();
            ended[number] = !some;
            for (unsigned step = 1; step <= blocks; step++) {
                turn = (number + step) % blocks;
                if (!ended[turn]) break;
            }
            handed_over.notify_all();
        }
    };
    std::vector<std::thread> running_blocks;
    for (unsigned number = 0; number < blocks; number++) running_blocks.emplace_back(run, number);
    for (std::thread& each : running_blocks) each.join();
}
