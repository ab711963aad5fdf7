// Types, arithmetic, loads and fences. The host defines these macros (options() in source.py); 0 compiles the code out:
// * DISTANCE: 0 int32, 1 int64, 2 float32, 3 float64
// * WIDE_OFFSETS: 1 if the largest share has 2^31 arcs or more
// * EXCHANGES: 1 if kernels of several GPUs exchange distances; HALO: 1 if arcs may lead to vertices of other ranks
// * PULLS: 1 if long arcs may be pulled, see outer.cuh
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#if DISTANCE == 0
typedef int Distance;
#define NOTHING 2147483647
#elif DISTANCE == 1
typedef i64 Distance;
#define NOTHING 9223372036854775807ll
#elif DISTANCE == 2
typedef float Distance;
#define NOTHING __int_as_float(0x7f800000)
#else
typedef double Distance;
#define NOTHING __longlong_as_double(0x7ff0000000000000ll)
#endif

#define RECORDS (DISTANCE == 0 || DISTANCE == 2)  // whether predecessors can be recorded

#define INFINITE __longlong_as_double(0x7ff0000000000000ll)

#if WIDE_OFFSETS
typedef u64 Offset;
#else
typedef u32 Offset;
#endif

// An arc in one load: 8 bytes with 32-bit distances, 16 with 64-bit ones.
struct alignas(2 * sizeof(Distance)) Arc {
    Distance weight;
    u32 head;
};

// A worklist entry. It is stale, and skipped, if the vertex has a smaller distance by now: that distance has an
// entry of its own. So a vertex may be listed twice, and no flags are needed.
struct alignas(2 * sizeof(Distance)) Entry {
    Distance distance;
    u32 vertex;
};

// A chunk of a long row: at most PART arcs, from arc number part * PART of the row.
struct alignas(16) Item {
    Distance distance;
    u32 vertex;
    u32 part;
};

#define NO_VERTEX 0xffffffffu  // an item that is none, a tail that is not known

// a + b. Integer sums wrap; the caller detects that with wraps().
__device__ __forceinline__ Distance plus(Distance a, Distance b) {
#if DISTANCE == 0
    return (int)((u32)a + (u32)b);
#elif DISTANCE == 1
    return (i64)((u64)a + (u64)b);
#else
    return a + b;
#endif
}

// Whether the integer sum a + b has overflowed: then a and b have the same sign, and the sum has the other.
__device__ __forceinline__ bool wraps(Distance a, Distance b, Distance sum) {
#if DISTANCE == 0 || DISTANCE == 1
    return ((a ^ sum) & (b ^ sum)) < 0;
#else
    return false;
#endif
}

// The smallest distance greater than this one, at most NOTHING.
__device__ __forceinline__ Distance just_above(Distance distance) {
#if DISTANCE == 0 || DISTANCE == 1
    return distance < NOTHING ? distance + 1 : NOTHING;
#elif DISTANCE == 2
    return nextafterf(distance, NOTHING);
#else
    return nextafter(distance, NOTHING);
#endif
}

// Atomic minimum. The order of IEEE floats is that of their bits as signed integers for positive
// ones and reversed as unsigned for negative ones; there is no -0.0 and no NaN among distances.
__device__ __forceinline__ Distance atomic_min(Distance* place, Distance value) {
#if DISTANCE == 0 || DISTANCE == 1
    return atomicMin(place, value);
#elif DISTANCE == 2
    return value >= 0 ? __int_as_float(atomicMin((int*)place, __float_as_int(value)))
                      : __uint_as_float(atomicMax((u32*)place, __float_as_uint(value)));
#else
    return value >= 0
               ? __longlong_as_double(atomicMin((i64*)place, __double_as_longlong(value)))
               : __longlong_as_double((i64)atomicMax((u64*)place, (u64)__double_as_longlong(value)));
#endif
}

// A distance as L2 has it: other multiprocessors lower distances, and a line in L1 may be old.
__device__ __forceinline__ Distance current(const Distance* place) { return __ldcg(place); }

// An entry as L2 has it: other multiprocessors write entries.
__device__ __forceinline__ Entry load(const Entry* place) {
    Entry entry;
#if DISTANCE == 0 || DISTANCE == 2
    *(u64*)&entry = __ldcg((const u64*)place);
#else
    *(ulonglong2*)&entry = __ldcg((const ulonglong2*)place);
#endif
    return entry;
}

// Writes an entry with its padding in one store, because readers load all of it at once.
__device__ __forceinline__ void store(Entry* place, const Entry& entry) {
#if DISTANCE == 0 || DISTANCE == 2
    *(u64*)place = *(const u64*)&entry;
#else
    *(ulonglong2*)place = *(const ulonglong2*)&entry;
#endif
}

#if RECORDS
// A distance and a number in one word.
__device__ __forceinline__ u64 as_word(Distance distance, u32 number) {
#if DISTANCE == 0
    u32 bits = (u32)distance;
#else
    u32 bits = __float_as_uint(distance);
#endif
    return (u64)bits << 32 | number;
}

__device__ __forceinline__ Distance distance_in(u64 word) {
#if DISTANCE == 0
    return (int)(u32)(word >> 32);
#else
    return __uint_as_float((u32)(word >> 32));
#endif
}
#endif

// Orders the accesses of this thread before the fence and after it, as threads of this GPU see them ...
__device__ __forceinline__ void order() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// ... and as peers see them.
__device__ __forceinline__ void order_with_peers() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

// Loads a word. Writes that its writer made before a fence are visible after the load: writes of this GPU ...
__device__ __forceinline__ u32 acquire(const u32* place) {
    u32 word;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(word) : "l"(place) : "memory");
    return word;
}

// ... and of peers.
__device__ __forceinline__ u64 acquire_from_peers(const u64* place) {
    u64 word;
    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(word) : "l"(place) : "memory");
    return word;
}

__device__ __forceinline__ void fetch_ahead(const void* place) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(place));
}

__device__ __forceinline__ Item load(const Item* place) {
    Item item;
    *(ulonglong2*)&item = __ldcg((const ulonglong2*)place);
    return item;
}

// Loads an arc as streaming data (evict first), because arcs are read about once and distances often.
__device__ __forceinline__ Arc load(const Arc* place) {
    Arc arc;
#if DISTANCE == 0 || DISTANCE == 2
    *(u64*)&arc = __ldcs((const u64*)place);
#else
    *(ulonglong2*)&arc = __ldcs((const ulonglong2*)place);
#endif
    return arc;
}

// Volatile load: it is issued here, and each time. The compiler moves other loads to their first use, behind a branch
// that waits for another load, and the assembler moves them behind an atomic whose result is needed. Then accesses
// that could share one round trip to L2 take two.
template <class Word>
__device__ __forceinline__ Word anew(const Word* place) {
    return *(const volatile Word*)place;
}

__device__ __forceinline__ Arc anew(const Arc* arc) {
#if DISTANCE == 0 || DISTANCE == 2
    u64 word = anew((const u64*)arc);
#else
    const ulonglong2* place = (const ulonglong2*)arc;
    ulonglong2 word;
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(word.x), "=l"(word.y) : "l"(place));
#endif
    return *(const Arc*)&word;
}
