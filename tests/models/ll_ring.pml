/*
 * The low-latency ring: words that carry the parity of their lap, and credits of few bits.
 *
 * Models   groute_py/kernels/exchange/ll_ring.cuh, peers.cuh (pack_credits), push.cuh (push),
 *          flow_control.cuh (leader_account_step, leader_update_cursors, leader_publish_counts), and
 *          sssp/relax.cuh (block_list_ll_arrivals). Rank 0 receives from every other rank.
 *
 * Nothing says how many words a ring holds: a word has come when it carries the mark of its lap. The
 * threads of the receiver's leader block read a word each and take those in a row. A sender knows by
 * the lower bits of the receiver's cursor how far the ring is full; what finds no room goes by the
 * ordinary ring (see ring.pml), which is taken to deliver here.
 *
 * Memory   Words become visible in any order after they are written: there is no fence. The threads
 *          of the receiver read in ascending or descending order.
 *
 * Abstractions, and why they lose nothing
 *  - Entry number n of a sender is for vertex n. Rings of different senders share the receiver only.
 *  - CAPACITY words stand for 256 and BITS bits of a cursor for 24; the code demands
 *    CAPACITY < 2^BITS by static_assert, and so do the models that hold.
 *
 * Properties
 *  - assert content: a word that is taken is the one with that number.
 *  - assert lost: in the end the receiver has every entry.
 *  - no invalid end state: every word that is written is taken.
 *
 * Guards, and what fails without each
 *  NO_CREDIT      a sender writes whatever was taken                      invalid end state
 *  NO_FIRST_MARK  words of the first lap look like cleared memory               content
 *  NO_SPARE_BIT   CAPACITY = 2^BITS: a full ring looks like an empty one  invalid end state
 *  NO_ONE_LOOK    two threads read one word, the second for the next lap        content
 */
#ifndef RANKS
#define RANKS 2
#endif
#define CAPACITY 2
#ifdef NO_SPARE_BIT
#define BITS 1
#else
#define BITS 2
#endif
#ifndef ENTRIES
#define ENTRIES 6
#endif
#ifdef NO_ONE_LOOK
#define THREADS (2 * CAPACITY)
#else
#define THREADS CAPACITY
#endif
#define SENDERS (RANKS - 1)
#define MASK ((1 << BITS) - 1)
#define EVERY ((1 << ENTRIES) - 1)
#ifdef NO_FIRST_MARK
#define MARK(n) ((n) / CAPACITY % 2)
#else
#define MARK(n) ((n) / CAPACITY % 2 -> 0 : 1)
#endif
#define AT(s, n) ((s) * CAPACITY + (n) % CAPACITY)

/* a word: two times the vertex, plus the mark; of a pending one more, so that 0 is none */
byte ring[SENDERS * CAPACITY], pending[SENDERS * CAPACITY];
byte taken[SENDERS];               /* the bits of the receiver's cursor that the sender polls */
byte vertex_of[SENDERS * ENTRIES]; /* of number n */
byte other[SENDERS];               /* vertices sent by the ordinary ring */
byte sent[SENDERS];
byte known[SENDERS];
bit finished[SENDERS];

inline appear(at) {
    atomic { pending[at] -> ring[at] = pending[at] - 1; pending[at] = 0 }
}

proctype Sender(byte s) {
    byte number, room = CAPACITY, next;
    do
    :: next < ENTRIES ->
        do /* a step */
        :: atomic { next < ENTRIES ->
            if
            :: number < room ->
                if
                :: pending[AT(s, number)] -> ring[AT(s, number)] = pending[AT(s, number)] - 1
                :: else
                fi;
                pending[AT(s, number)] = next * 2 + MARK(number) + 1;
                vertex_of[s * ENTRIES + number] = next;
                number++;
                sent[s] = number
            :: else -> other[s] = other[s] | (1 << next)
            fi;
            next++ }
        :: break
        od;
        if /* leader_update_cursors: ll_room */
#ifdef NO_CREDIT
        :: room = 255
#else
        :: atomic { room = number + CAPACITY - ((number - taken[s]) & MASK) }
        :: skip
#endif
        fi
    :: else -> break
    od;
    finished[s] = 1
}

proctype Appear() {
end:
    do
    :: appear(0)
    :: appear(1)
#if RANKS > 2
    :: appear(2)
    :: appear(3)
#endif
    od
}

inline read(s, t) { word[t] = ring[AT(s, at[s] + (t))] }

inline take(s) { /* block_list_ll_arrivals */
    if
    :: read(s, 0); read(s, 1)
#ifdef NO_ONE_LOOK
    :: read(s, 3); read(s, 2); read(s, 1); read(s, 0)
#else
    :: read(s, 1); read(s, 0)
#endif
    fi;
    atomic {
        t = 0;
        do
        :: t < THREADS && word[t] % 2 == MARK(at[s] + t) ->
            assert(at[s] + t < sent[s] /* content */);
            assert(word[t] / 2 == vertex_of[s * ENTRIES + at[s] + t] /* content */);
            known[s] = known[s] | (1 << (word[t] / 2));
            t++
        :: else -> break
        od;
        at[s] = at[s] + t;
        t = 0;
        do
        :: t < THREADS -> word[t] = 0; t++
        :: else -> break
        od;
        t = 0
    }
    if /* leader_publish_counts */
    :: taken[s] = at[s] & MASK
    :: skip
    fi
}

#define COME(s) (ring[AT(s, at[s])] % 2 == MARK(at[s]))
#define DONE(s) (finished[s] && at[s] == sent[s])

proctype Receiver() {
    byte at[SENDERS], word[THREADS], t;
    do
    :: COME(0) -> take(0)
#if RANKS == 2
    :: DONE(0) -> break
#else
    :: COME(1) -> take(1)
    :: DONE(0) && DONE(1) -> break
#endif
    od;
    assert((known[0] | other[0]) == EVERY /* lost */);
#if RANKS > 2
    assert((known[1] | other[1]) == EVERY /* lost */)
#endif
}

init {
    atomic {
        run Sender(0);
#if RANKS > 2
        run Sender(1);
#endif
        run Receiver();
        run Appear()
    }
}
