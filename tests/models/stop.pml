/*
 * The stop flag, the wait of heavy steps, and how the ranks of a fused run end together.
 *
 * Models   groute_py/kernels/exchange/pacing.cuh (leader_await_heavy_steps, leader_publish_epoch),
 *          leader.cuh (leader_plan_step, leader_publish), shutdown.cuh (leader_shut_down),
 *          groute_py/engine/fused.py (_is_late_at_the_end) and device/cuda/sssp/linked_kernels.py (stop).
 *
 * A host may raise the stop flag in its rank's mailbox at any time. The leader block forwards it to
 * all ranks and ends. After a heavy step a rank says that it has ended it, then waits for the heavy
 * steps its peers are in. A rank that has read "quiet" exchanges farewells with all others.
 *
 * Memory   A poll yields the older or the newer value of each word. A wait reads the newest at last.
 *
 * Abstractions, and why they lose nothing
 *  - A step is light or heavy and does nothing else; HEAVY bounds the heavy ones of a rank.
 *  - Rank 0 gives the verdict at any moment once every rank is without steps (see fused_steps.pml for
 *    when it may). With ENDLESS it never does, and some host raises the flag.
 *  - A wait has no time limit here: that the code has one shortens waits and is not relied on.
 *  - Patience runs out only on a rank whose kernel has failed (FAILURE): a second is taken to be longer
 *    than a step. If it were not, that rank reports an error, and never that all are quiet.
 *
 * Properties
 *  - no invalid end state: a raised flag ends every rank, and so does quiet; no wait lasts for ever.
 *  - assert together: all ranks or none know that all are quiet, and none if a rank was stopped. With
 *    FAILURE no rank says so of a peer that has not.
 *
 * Options  RANKS, HEAVY; ENDLESS; FAILURE: the last rank's kernel may fail, and every host
 *          raises its flag, as at a time limit: a rank in its farewell does not forward it
 *
 * Guards, and what fails without each
 *  NO_FORWARD       a raised flag is not forwarded (with ENDLESS)          invalid end state
 *  NO_STOP_IN_WAIT  a heavy step's wait does not look at the flag (with ENDLESS)  invalid end state
 *  NO_PACE_FIRST    a rank waits before it says that its step has ended   invalid end state
 *  NO_FAREWELL      a rank goes by "quiet" alone                           together
 *  NO_PATIENCE      a stopped rank waits for a failed one's farewell (with FAILURE)  invalid end state
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef HEAVY
#define HEAVY 1
#endif
#define QUIET 1
#define STOPPED 2
#define TO(from, to) ((from) * RANKS + (to))
#define LAST (RANKS - 1)

bit stop[RANKS], quiet, idle[RANKS], dead, over[RANKS], all_quiet[RANKS];
byte pace[RANKS], farewell[RANKS], ended;

#if RANKS == 2
#define ALL_IDLE (idle[0] && idle[1])
#else
#define ALL_IDLE (idle[0] && idle[1] && idle[2])
#endif

inline forward() {
    for (q : 0 .. RANKS - 1) { stop[q] = 1 }
}

inline leader_await_heavy_steps() { /* lane q waits for peer q: all lanes go on when all have */
    q = 0;
    do
    :: q < RANKS ->
        if
        :: q == r || heard_pace[q] % 2 == 0
        :: q != r && heard_pace[q] % 2 && pace[q] != heard_pace[q]
#ifndef NO_STOP_IN_WAIT
        :: q != r && heard_pace[q] % 2 && stop[r]
#endif
        fi;
        q++
    :: else -> break
    od;
    q = 0
}

inline poll() { /* early or late */
    if :: stop[r] -> stopped = 1 :: skip fi;
    if :: quiet -> heard_quiet = 1 :: skip fi
}

inline poll_paces() { /* while blocks of the grid are still to come to the barrier */
    q = 0;
    do
    :: q < RANKS ->
        if
        :: q != r -> heard_pace[q] = pace[q]
        :: q != r && pace[q] -> heard_pace[q] = pace[q] - 1 /* early */
        :: q == r
        fi;
        q++
    :: else -> break
    od;
    q = 0
}

proctype Rank(byte r) {
    byte heard_pace[RANKS], heavy, q;
    bit stopped, heard_quiet, unheard, others_stopped;
    do
    :: atomic { (!idle[r] || stop[r] || quiet || (r == 0 && ALL_IDLE)) ->
        poll();
        if
        :: stopped ->
            if /* the orders may call the step heavy that is not taken */
            :: heavy < HEAVY -> pace[r] = pace[r] + 1 - pace[r] % 2
            :: skip
            fi;
#ifndef NO_FORWARD
            forward();
#endif
            break
        :: !stopped && heard_quiet -> break
        :: else
        fi;
#ifndef ENDLESS
        if
        :: r == 0 && ALL_IDLE -> quiet = 1
        :: else
        fi;
#endif
        q = 0
       }
       if
       :: heavy < HEAVY ->
            heavy++;
            pace[r]++; /* in a heavy step */
            atomic { poll_paces() }
#ifdef NO_PACE_FIRST
            leader_await_heavy_steps();
            pace[r]++;
#else
            pace[r]++;
            leader_await_heavy_steps();
#endif
            atomic {
                do
                :: q < RANKS -> heard_pace[q] = 0; q++
                :: else -> break
                od;
                q = 0
            }
       :: idle[r] = 1; heavy = HEAVY
       fi
#ifdef FAILURE
       ;
       if
       :: r == LAST -> dead = 1; goto finish
       :: skip
       fi
#endif
    od;
    /* leader_shut_down */
    farewell[r] = (stopped -> STOPPED : QUIET);
#ifndef NO_FAREWELL
    q = 0;
    do
    :: q < RANKS && !stopped ->
        if
        :: farewell[q] -> others_stopped = others_stopped || farewell[q] == STOPPED
#if defined(FAILURE) && !defined(NO_PATIENCE)
        :: farewell[q] == 0 && stop[r] && dead -> unheard = 1
#endif
        fi;
        q++
    :: else -> break
    od;
#endif
    atomic {
        all_quiet[r] = !stopped && !others_stopped && !unheard;
        q = 0;
        do
        :: q < RANKS ->
            assert(!all_quiet[r] || farewell[q] != STOPPED /* together */);
#ifdef FAILURE
            assert(!all_quiet[r] || farewell[q] == QUIET /* together */);
#else
            assert(!over[q] || all_quiet[q] == all_quiet[r] /* together */);
#endif
            q++
        :: else -> break
        od;
        over[r] = 1
    }
finish:
    ended++
}

proctype Host() { /* of any rank */
#ifdef FAILURE
    byte q;
    do
    :: q < RANKS -> stop[q] = 1; q++
    :: else -> break
    od
#else
    do
    :: stop[0] = 1
    :: stop[LAST] = 1
#ifdef ENDLESS
    :: stop[0] || stop[LAST] -> break
#else
    :: break
#endif
    od
#endif
}

init {
    byte q;
    atomic {
        for (q : 0 .. RANKS - 1) { run Rank(q) }
        q = 0;
        run Host()
    }
}
