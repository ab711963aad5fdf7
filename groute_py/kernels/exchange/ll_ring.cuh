// Low-latency ("express") rings, like NCCL's LL protocol. A word holds 32 bits of distance, 31 bits of vertex and one
// lap bit, the parity of the lap of the ring. The receiver knows from the lap bit that the word has arrived, so no
// separate count and no fence is needed. Words are written and read as a whole.
#pragma once

#include "exchange/peers.cuh"
#include "primitives/arithmetic.cuh"

#define LAP_MARK (1u << 31)

static_assert(EXPRESS <= BLOCK && (EXPRESS & (EXPRESS - 1)) == 0, "laps divide all numbers of 32 bits");
static_assert(EXPRESS < 1u << EXPRESS_BITS, "the credits in a word say how full a ring is");

// The lap bit of word `number`, counted from the start of the run. A cleared ring has no valid word of the first lap.
__device__ __forceinline__ u32 mark_of(u32 number) { return number / EXPRESS % 2 ? 0 : LAP_MARK; }

__device__ __forceinline__ u64* express_place(u64 (&ring)[EXPRESS], u32 number) { return &ring[number % EXPRESS]; }

// The number of the first word that has no room. `taken` holds the lower EXPRESS_BITS bits of the receiver's cursor.
__device__ __forceinline__ u64 express_room(u64 sent, u32 taken) {
#if RECORDS
    u32 lacking = ((u32)sent - taken) & ((1u << EXPRESS_BITS) - 1);
    return sent - lacking + EXPRESS;
#else
    return 0;  // a word does not hold an entry
#endif
}

__device__ __forceinline__ u64 as_express(const Entry& entry, u32 number) {
#if RECORDS
    return as_word(entry.distance, entry.vertex | mark_of(number));
#else
    return 0;
#endif
}

__device__ __forceinline__ Entry from_express(u64 word) {
    Entry entry = {};
#if RECORDS
    entry.distance = distance_in(word);
    entry.vertex = (u32)word & ~LAP_MARK;
#endif
    return entry;
}

__device__ __forceinline__ bool has_mark(u64 word, u32 number) { return ((u32)word & LAP_MARK) == mark_of(number); }

// Whether word `number` from peer p has arrived.
__device__ __forceinline__ bool has_come(const Peers& peers, u32 p, u32 number) {
    return has_mark(load_volatile(express_place(peers.mailbox[peers.me]->express[p], number)), number);
}
