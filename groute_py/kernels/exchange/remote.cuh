// All access to the memory of peers. Another transport, such as NVSHMEM, changes this file and the code on the host
// that fills `Peers`; PROTOCOL.md says in which order words may be written and read.
//
// Nothing else dereferences `mailbox`, `outbox` or `distances` of another rank; of its own mailbox a rank reads words
// itself.
#pragma once

#include "exchange/ll_ring.cuh"
#include "exchange/peers.cuh"
#include "primitives/access.cuh"

// Orders all that this rank has put before all that it puts later, for the peers that acquire a later word.
__device__ __forceinline__ void put_fence() { fence_system(); }

// The mailbox of a peer.
struct RemoteMailbox {
    const Peers& peers;
    Mailbox* box;

    __device__ __forceinline__ RemoteMailbox(const Peers& peers, u32 peer) : peers(peers), box(peers.mailbox[peer]) {}

    // Puts a word.
    template <class Box, class Word>
    __device__ __forceinline__ void put(Word Box::* word, Word value) const {
        store_volatile(&(box->*word), value);
    }

    // Puts this rank's one of a word that each rank has.
    template <class Box, class Word>
    __device__ __forceinline__ void put(Word (Box::*words)[MAX_PEERS], Word value) const {
        store_volatile(&(box->*words)[peers.me], value);
    }
};

// Puts this rank's ballot into the mailbox of rank 0, word by word.
__device__ __forceinline__ void put_ballot(const Peers& peers, u64 floor, u64 sent, u64 received) {
    Ballot* place = &peers.mailbox[0]->ballot[peers.me];
    store_volatile(&place->floor, floor);
    store_volatile(&place->sent, sent);
    store_volatile(&place->received, received);
}

// Puts an entry into this rank's ring in the inbox of a peer; `index` counts the entries since the start.
__device__ __forceinline__ void put_entry(const Peers& peers, u32 peer, u64 index, const Entry& entry) {
    store(&peers.outbox[peer][index & (peers.capacity - 1)], entry);
}

// Puts an entry into this rank's low-latency ring in the mailbox of a peer.
__device__ __forceinline__ void put_ll_word(const Peers& peers, u32 peer, u32 number, const Entry& entry) {
    store_volatile(ll_place(peers.mailbox[peer]->ll_ring[peers.me], number), pack_ll_word(entry, number));
}

// The distance of the vertex at `place` among those that a peer owns.
__device__ __forceinline__ Distance get_distance(const Peers& peers, u32 peer, u32 place) {
    return load_volatile(&peers.distances[peer][place]);
}

// Reads a peer's memory at the place that is `part` of `parts` through the inbox and through the distances.
__device__ __forceinline__ void touch(const Peers& peers, u32 peer, u64 part, u32 parts) {
    load_volatile(&peers.outbox[peer][part * peers.capacity / parts].vertex);
    if (peers.owned[peer]) load_volatile(&peers.distances[peer][part * peers.owned[peer] / parts]);
}
