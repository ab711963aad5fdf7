/*
 * The ring of an inbox: credits, the fence before a count, and the dense pull when a ring is full.
 *
 * Models   groute_py/kernels/exchange/push.cuh (write_to, warp_reserve), flow_control.cuh
 *          (leader_account_step, leader_update_cursors, leader_publish_counts, is_due), and sssp/relax.cuh
 *          (inbox, sent). Rank 0 receives from every other rank.
 *
 * A sender's step takes the next places of the ring and writes an entry where there is room. What has
 * none is not sent: the step counts a dense pull. After the step the sender publishes how many
 * entries it has ever written. The receiver takes them in its next step, and afterwards it returns
 * credits: how many it has ever taken, once that is one place in CREDIT_SHARE.
 *
 * Memory   An entry that is written is pending until `Appear` makes it visible, in any order. The
 *          words `published`, `taken` and `pull` are polled late or early at will. A fence before
 *          `published` and `pull` is modelled by what it guarantees: who polls that count sees
 *          what was written before it.
 *
 * Abstractions, and why they lose nothing
 *  - Entry number n of a sender is for vertex n, so what the receiver knows is a set of vertices.
 *    A dense pull reads a vertex, or not if its distance is not visible yet.
 *  - Rings of different senders share nothing but the receiver's step.
 *  - A receiver reads entries one by one, so a sender may write at any moment in between.
 *
 * Properties
 *  - assert content: an entry that is taken is the one with that number.
 *  - assert lost: when all is taken and pulled, the receiver knows every vertex.
 *  - no invalid end state: the protocol ends, so no sender ever waits for room.
 *
 * Options  RANKS, CAPACITY, ENTRIES of each sender, CREDIT_SHARE (as in kernels/source.py)
 *
 * Guards, and what fails without each
 *  NO_CREDIT      a sender writes whatever was taken                         content
 *  NO_FENCE       `published` may be polled before its entries are visible   content
 *  NO_TAKE_FIRST  credits are returned when entries are seen, not taken      content
 *  NO_SHOW        what finds the ring full is dropped                        lost
 *  NO_SHOW_FENCE  `pull` may be polled before its distances are visible      lost
 *  NO_SEEN_FIRST  a pull acknowledges the newest count, not the one it began with   lost
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef CAPACITY
#define CAPACITY 2
#endif
#ifndef ENTRIES
#define ENTRIES 5
#endif
#ifndef CREDIT_SHARE
#define CREDIT_SHARE 16
#endif
#define SENDERS (RANKS - 1)
#define AT(s, n) ((s) * CAPACITY + (n) % CAPACITY)
#define EVERY ((1 << ENTRIES) - 1)
#define DUE (CAPACITY / CREDIT_SHARE > 1 -> CAPACITY / CREDIT_SHARE : 1)

#define DONE(s) (finished[s] && begin[s] == published[s] && seen[s] == pull[s])
#if RANKS == 2
#define ALL_DONE DONE(0)
#else
#define ALL_DONE (DONE(0) && DONE(1))
#endif

/* of each sender: a place holds an entry's vertex plus one */
byte place[SENDERS * CAPACITY], pending[SENDERS * CAPACITY];
byte published[SENDERS]; /* entries written, as told */
byte pull[SENDERS];      /* steps after which a pull is asked for, as told */
byte taken[SENDERS];     /* entries taken, as told by the receiver */
byte fenced[SENDERS];    /* vertices whose distances the fence before `pull` has made visible */
byte near[SENDERS];      /* vertices that the sender has improved */
byte vertex_of[SENDERS * ENTRIES]; /* of entry number n */
bit finished[SENDERS];
byte known[SENDERS];     /* to the receiver */

inline appear(at) { place[at] = pending[at]; pending[at] = 0 }

inline fence(s) { /* the sender's entries are visible to who polls what follows */
    for (i : 0 .. CAPACITY - 1) {
        if
        :: pending[s * CAPACITY + i] -> appear(s * CAPACITY + i)
        :: else
        fi
    }
}

proctype Sender(byte s) {
    byte sent, room = CAPACITY, next, shown, i;
    bit showing;
    do
    :: next < ENTRIES ->
        do /* a step */
        :: atomic { next < ENTRIES ->
            near[s] = near[s] | (1 << next);
            if
            :: sent < room ->
                pending[AT(s, sent)] = next + 1;
                vertex_of[s * ENTRIES + sent] = next;
                sent++
            :: else ->
#ifndef NO_SHOW
                showing = 1
#else
                skip
#endif
            fi;
            next++ }
        :: break
        od;
        atomic { /* leader_account_step, leader_publish_counts */
            if :: showing -> showing = 0; shown++ :: else fi;
#ifndef NO_FENCE
            if :: published[s] != sent || pull[s] != shown -> fence(s) :: else fi;
#endif
            published[s] = sent;
            if
            :: pull[s] != shown -> pull[s] = shown; fenced[s] = near[s]
            :: else
            fi;
            i = 0
        }
        if /* leader_update_cursors, early or late */
#ifdef NO_CREDIT
        :: room = 255
#else
        :: atomic { room != taken[s] + CAPACITY -> room = taken[s] + CAPACITY }
#endif
        :: skip
        fi
    :: else -> break
    od;
    finished[s] = 1
}

proctype Appear() {
    byte i;
end:
    do
    :: atomic { pending[0] -> appear(0) }
    :: atomic { pending[1] -> appear(1) }
#if RANKS > 2
    :: atomic { pending[2] -> appear(2) }
    :: atomic { pending[3] -> appear(3) }
#endif
    od
}

proctype Receiver() {
    byte begin[SENDERS], end_[SENDERS], to_see[SENDERS], seen[SENDERS], bound[SENDERS], s, i;
    do
    :: atomic { /* poll: published entries, pulls */
        s = 0;
        do
        :: s < SENDERS ->
            if
            :: end_[s] != published[s] -> end_[s] = published[s]
            :: skip
            fi;
            if
            :: to_see[s] != pull[s] -> to_see[s] = pull[s]; bound[s] = fenced[s]
            :: skip
            fi;
#ifdef NO_TAKE_FIRST
            taken[s] = end_[s];
#endif
            s++
        :: else -> break
        od;
        s = 0
       }
       do /* a step */
       :: s < SENDERS ->
            do
            :: atomic { begin[s] < end_[s] ->
                i = place[AT(s, begin[s])];
                assert(i == vertex_of[s * ENTRIES + begin[s]] + 1 /* content */);
                known[s] = known[s] | (1 << (i - 1));
                begin[s]++; i = 0 }
            :: else -> break
            od;
            atomic {
                if
                :: to_see[s] != seen[s] ->
#ifdef NO_SHOW_FENCE
                    i = 0;
#else
                    i = bound[s];
#endif
                    known[s] = known[s] | i;
                    i = 0
                :: else
                fi
            }
            s++
       :: else -> break
       od;
       atomic { /* leader_account_step, leader_publish_counts: credits when they are due */
        s = 0;
        do
        :: s < SENDERS ->
#ifdef NO_SEEN_FIRST
            seen[s] = pull[s]; to_see[s] = pull[s];
#else
            seen[s] = to_see[s];
#endif
#ifndef NO_TAKE_FIRST
            if
            :: begin[s] - taken[s] >= DUE -> taken[s] = begin[s]
            :: begin[s] != taken[s] -> taken[s] = begin[s] /* along with something else */
            :: begin[s] - taken[s] < DUE
            fi;
#endif
            s++
        :: else -> break
        od;
        s = 0
       }
       if
       :: ALL_DONE -> break
       :: else
       fi
    od;
    assert(known[0] == EVERY /* lost */);
#if RANKS > 2
    assert(known[1] == EVERY /* lost */)
#endif
}

init {
    byte s;
    atomic {
        for (s : 0 .. SENDERS - 1) { run Sender(s) }
        s = 0;
        run Receiver();
        run Appear()
    }
}

