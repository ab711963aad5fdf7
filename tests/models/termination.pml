/*
 * Termination of rounds: two consecutive idle waves with equal counts.
 *
 * Models   groute_py/comm/termination.py (Coordinator.judge), groute_py/engine/loop.py (_work) and
 *          the free verbs of a channel (groute_py/comm/base.py).
 *
 * Each rank repeats: receive and merge, work a slice, send, fill in a ballot unless a vote is open,
 * and look whether the open vote has ended. `Wire` delivers messages in any order, after any delay;
 * a rank may notice the end of a vote at any time after its last ballot.
 *
 * Abstractions, and why they lose nothing
 *  - A distance is a level, 0 or 1. The rule compares a floor with infinity and with the goal only.
 *  - A message holds no data: it gives its receiver one item of work, whose level is not below that
 *    of the item that sent it, since the rule with a goal is for weights that are not negative.
 *    SENDS bounds the messages of a run. Any number of ranks has work at the start.
 *  - To work, send and fill in a ballot is one step, because other ranks see nothing of it but
 *    messages, which may be late anyway. To receive and merge is one step of `Wire`: the rank looks
 *    at neither in between.
 *  - Ranks are at most one vote apart, so two buffers of ballots stand for all votes.
 *  - Counts do not overflow: they are exact in float64 up to 2^53 (tests/unit/test_termination.py).
 *
 * Properties
 *  - assert early: a rank concludes "quiet" only if no work and no message up to the goal is left.
 *  - assert together: all ranks end at the same vote, with the same outcome.
 *  - assert left behind: no message of this run can reach the next one.
 *  - no invalid end state, so no deadlock.
 *  - ltl ends: every run ends, under weak fairness. With ENDLESS, all ranks end by the stop.
 *
 * Options  RANKS, SENDS; GOAL: only level 0 is wanted; STOPS: the time limit of one rank passes,
 *          or later than the run; ENDLESS: it passes, and the work never ends
 *
 * Guards, and what fails without each
 *  NO_SECOND_WAVE  one idle wave is enough                                    early
 *  NO_COUNTS       as many need not be received as are sent                   early
 *  NO_UNCHANGED    counts may differ between the two waves (with SENDS=5)     early
 *  NO_ABANDON      messages beyond the goal are left on the wire (with GOAL)  left behind
 *  NO_STOP         the stop in a ballot is not obeyed (with ENDLESS)          ltl ends
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef SENDS
#define SENDS 3
#endif
#define INFINITE 2
#ifdef GOAL
#define BEYOND(level) ((level) > 0)
#else
#define BEYOND(level) ((level) == INFINITE)
#endif
#define AT(rank, level) ((rank) * 2 + (level))
#define FLOOR(rank) (items[AT(rank, 0)] -> 0 : (items[AT(rank, 1)] -> 1 : INFINITE))

byte items[RANKS * 2];  /* work of each rank and level */
byte flight[RANKS * 2]; /* messages on the wire to each rank */
byte sent[RANKS], received[RANKS];
byte sends = SENDS;

/* the ballots of the votes of each parity */
byte stated_floor[RANKS * 2], stated_sent[RANKS * 2], stated_received[RANKS * 2];
bit stated_stop[RANKS * 2];
byte filled[2], judged[2];
bit parity[RANKS], open[RANKS];
bit late[RANKS]; /* the rank's time limit has passed */

byte ended, at_abandon, at_end;
bit ended_at, ended_quiet; /* vote and outcome of the first rank that ended */

inline count_left() { /* work and messages up to the goal, of all ranks */
    left = 0; q = 0;
    do
    :: q < RANKS ->
        left = left + items[AT(q, 0)] + flight[AT(q, 0)];
#ifndef GOAL
        left = left + items[AT(q, 1)] + flight[AT(q, 1)];
#endif
        q++
    :: else -> break
    od
}

inline end_with(outcome) {
    if
    :: ended == 0 -> ended_at = parity[r]; ended_quiet = outcome
    :: else -> assert(ended_at == parity[r] && ended_quiet == outcome) /* together */
    fi;
    ended++
}

inline work_one(level) { /* an item, which may send to any peers */
    items[AT(r, level)]--;
    do
    :: sends > 0 ->
        sends--;
        sent[r]++;
        select(q : 1 .. RANKS - 1);
        q = (r + q) % RANKS;
        if
        :: flight[AT(q, level)]++
        :: level == 0 -> flight[AT(q, 1)]++
        fi
    :: break
    od
}

inline work() { /* a slice: one item at least */
    worked = 0;
    do
    :: items[AT(r, 0)] > 0 -> work_one(0); worked = 1
    :: items[AT(r, 1)] > 0 && limit > 0 -> work_one(1); worked = 1
    :: worked || (items[AT(r, 0)] == 0 && (items[AT(r, 1)] == 0 || limit == 0)) -> break
    od
}

inline fill_in_ballot() {
    b = AT(r, parity[r]);
    stated_floor[b] = FLOOR(r);
    stated_sent[b] = sent[r];
    stated_received[b] = received[r];
    stated_stop[b] = late[r];
    filled[parity[r]]++;
    open[r] = 1
}

inline judge() { /* Coordinator.judge */
    least = INFINITE; balance = 0; changed = 0; stops = 0; q = 0;
    do
    :: q < RANKS ->
        b = AT(q, parity[r]);
        least = (stated_floor[b] < least -> stated_floor[b] : least);
        balance = balance + stated_sent[b] - stated_received[b];
        changed = changed || last_sent[q] != stated_sent[b] || last_received[q] != stated_received[b];
        last_sent[q] = stated_sent[b];
        last_received[q] = stated_received[b];
        stops = stops || stated_stop[b];
        q++
    :: else -> break
    od;
    calm = BEYOND(least);
#ifndef NO_COUNTS
    calm = calm && balance == 0;
#endif
    quiet = calm;
#ifndef NO_SECOND_WAVE
    quiet = quiet && last_calm;
#ifndef NO_UNCHANGED
    quiet = quiet && !changed;
#endif
#endif
    last_calm = calm;
    q = 0;
    do
    :: q < RANKS && !calm -> last_sent[q] = 0; last_received[q] = 0; q++ /* never compared */
    :: else -> break
    od;
    judged[parity[r]]++;
    if
    :: judged[parity[r]] == RANKS -> /* nobody reads these ballots again */
        judged[parity[r]] = 0; filled[parity[r]] = 0; q = 0;
        do
        :: q < RANKS ->
            b = AT(q, parity[r]);
            stated_floor[b] = 0; stated_sent[b] = 0; stated_received[b] = 0; stated_stop[b] = 0;
            q++
        :: else -> break
        od
    :: else
    fi
}

proctype Rank(byte r) {
    byte limit = 0, last_sent[RANKS], last_received[RANKS];
    bit last_calm;
    byte q, b, least, left;
    short balance;
    bit changed, stops, calm, quiet, worked;
    do
    :: atomic { (!open[r]
#ifndef ENDLESS
        || items[AT(r, 0)] > 0 || (items[AT(r, 1)] > 0 && limit > 0)
#endif
        ) ->
#ifndef ENDLESS
        work();
#endif
        if
        :: !open[r] ->
            fill_in_ballot()
        :: else
        fi;
        q = 0; b = 0; worked = 0
       }
    :: atomic { open[r] && filled[parity[r]] == RANKS ->
        open[r] = 0;
        judge();
        if
        :: quiet -> count_left(); assert(left == 0 /* early */); end_with(1); break
#ifndef NO_STOP
        :: !quiet && stops -> end_with(0); break
#endif
        :: else
        fi;
        limit = (least < INFINITE -> least : limit);
        parity[r] = 1 - parity[r];
        q = 0; b = 0; least = 0; balance = 0; left = 0; changed = 0; stops = 0; calm = 0; quiet = 0
       }
    od;
#ifndef NO_ABANDON
    at_abandon++; /* Channel.abandon: hosts meet, then each receives what peers have sent it */
    at_abandon == RANKS;
    flight[AT(r, 0)] + flight[AT(r, 1)] == 0;
#endif
    assert(flight[AT(r, 0)] + flight[AT(r, 1)] == 0 /* left behind */);
    at_end++
}

inline deliver(rank, level) { /* receive and merge */
    atomic {
        flight[AT(rank, level)] > 0 ->
        flight[AT(rank, level)]--; items[AT(rank, level)]++; received[rank]++
    }
}

proctype Wire() {
end:
    do
    :: deliver(0, 0)
    :: deliver(0, 1)
    :: deliver(1, 0)
    :: deliver(1, 1)
#if RANKS > 2
    :: deliver(2, 0)
    :: deliver(2, 1)
#endif
    od
}

proctype Clock() { /* the time limit of some rank passes */
    if
    :: late[0] = 1
    :: late[1] = 1
#if RANKS > 2
    :: late[2] = 1
#endif
    fi
}

init {
    byte q = 0;
    atomic {
        do
        :: q < RANKS ->
#ifdef ENDLESS
            items[AT(q, 0)] = 1;
#else
            if :: items[AT(q, 0)] = 1 :: skip fi;
#endif
            q++
        :: else -> break
        od;
        q = 0;
        do
        :: q < RANKS -> run Rank(q); q++
        :: else -> break
        od;
        q = 0;
#if defined(STOPS) || defined(ENDLESS)
        run Clock();
#endif
        run Wire()
    }
}

ltl ends { <> (at_end == RANKS) }
