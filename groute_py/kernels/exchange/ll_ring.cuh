// Low-latency rings, like NCCL's LL protocol. A word holds 32 bits of distance, 31 bits of vertex and one
// lap bit, the parity of the lap of the ring. The receiver knows from the lap bit that the word has arrived, so no
// separate count and no fence is needed. Words are written and read as a whole.
#pragma once

#include "exchange/peers.cuh"
#include "primitives/arithmetic.cuh"

#define LAP_BIT (1u << 31)

static_assert(LL_WORDS <= BLOCK && (LL_WORDS & (LL_WORDS - 1)) == 0, "laps divide all numbers of 32 bits");
static_assert(LL_WORDS < 1u << CREDIT_BITS, "the credits in a word say how full a ring is");

// The lap bit of word `number`, counted from the start of the run. A cleared ring has no valid word of the first lap.
__device__ __forceinline__ u32 lap_bit_of(u32 number) { return number / LL_WORDS % 2 ? 0 : LAP_BIT; }

__device__ __forceinline__ u64* ll_place(u64 (&ring)[LL_WORDS], u32 number) { return &ring[number % LL_WORDS]; }

// The number of the first word that has no room. `taken` holds the lower CREDIT_BITS bits of the receiver's cursor.
__device__ __forceinline__ u64 ll_room(u64 sent, u32 taken) {
#if RECORDS
    u32 lacking = ((u32)sent - taken) & ((1u << CREDIT_BITS) - 1);
    return sent - lacking + LL_WORDS;
#else
    return 0;  // a word does not hold an entry
#endif
}

__device__ __forceinline__ u64 pack_ll_word(const Entry& entry, u32 number) {
#if RECORDS
    return as_word(entry.distance, entry.vertex | lap_bit_of(number));
#else
    return 0;
#endif
}

__device__ __forceinline__ Entry unpack_ll_word(u64 word) {
    Entry entry = {};
#if RECORDS
    entry.distance = distance_in(word);
    entry.vertex = (u32)word & ~LAP_BIT;
#endif
    return entry;
}

__device__ __forceinline__ bool has_lap_bit(u64 word, u32 number) {
    return ((u32)word & LAP_BIT) == lap_bit_of(number);
}

// Whether word `number` from peer p has arrived.
__device__ __forceinline__ bool has_arrived(const Peers& peers, u32 p, u32 number) {
    return has_lap_bit(load_volatile(ll_place(peers.mailbox[peers.me]->ll_ring[p], number)), number);
}
