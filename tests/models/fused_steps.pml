/*
 * The step protocol of the fused mode: arrivals, counts, ballots, the verdict and the dense pull.
 *
 * Models   groute_py/kernels/exchange/flow_control.cuh (leader_account_step, leader_update_cursors,
 *          leader_publish_counts), termination.cuh (leader_vote, leader_detect_termination),
 *          leader.cuh (leader_plan_step, leader_publish), push.cuh (write_to), sssp/relax.cuh (grid_list_arrivals),
 *          and the loop of `relax` in sssp/near_far.cu.
 *
 * A rank's grid takes a step: it takes what has arrived (entries of rings, and dense pulls of peers
 * whose ring was full), relaxes, and pushes what came into near. Then the leader block settles the
 * counts, polls the mailbox, decides whether there is work, and writes what peers are to know. Rank 0
 * judges the ballots.
 *
 * Memory   Every word in a peer's mailbox has a pending and a visible value. `Data` and `Control`
 *          make pending values visible in any order, whatever order they were written in, and as late
 *          as they like. So the ballot's three words, and limit, quiet and vote of a verdict, are seen
 *          in all orders. The only order that is kept is the one that the fence in leader_publish_counts makes:
 *          what a step has written is visible to who sees `published` or `shown` of that step.
 *
 * Abstractions, and why they lose nothing
 *  - Each rank owns one vertex; its distance is a version that grows. A row leads to every rank, so
 *    all peers have a mirror. Whether relaxing a row improves the own vertex, now or beyond the limit
 *    (far), is drawn; IMPROVEMENTS bounds how often. `version` counts what peers are to know.
 *  - Polling, deciding and writing are one step, since a word that is polled early is one that is not
 *    visible yet, and a word that is written late one that becomes visible late.
 *  - A bucket is a level: limit 0 leaves far alone, limit 1 does not. Any limit is right.
 *  - A pull reads any version from what the fence guarantees up to the newest.
 *  - The contents of rings are kept by credits, see ring.pml. The vote is counted modulo 4, and no two ranks are
 *    two votes apart. Waiting in step only removes behaviours. The stop flag is left out.
 *
 * Properties
 *  - assert quiet: a rank that reads "quiet" finds no work anywhere, and every mirror up to date.
 *  - no invalid end state: no rank waits for ever.
 *  - ltl ends: every run ends, under weak fairness, if words are seen when they are polled
 *    (PROMPT_DATA, PROMPT_VOTES).
 *
 * Options  RANKS, IMPROVEMENTS, CAPACITY of a ring; LL_RING: entries go by the low-latency ring, so
 *          they are taken before their sender's step has ended and been counted;
 *          PROMPT_DATA, PROMPT_VOTES: what is polled is never older than what is written
 *
 * Guards, and what fails without each
 *  NO_SECOND_WAVE   quiet after one calm vote                                  quiet
 *  NO_COUNTS        entries sent need not equal entries received               quiet
 *  NO_PARITY        ballot words do not carry the parity of their vote         quiet
 *  NO_OWN_VERDICT   rank 0 may poll its own verdict late and judge a vote twice  quiet
 *  NO_SHOW          what finds a ring full is dropped                          quiet
 *  NO_SHOW_COUNT    a ballot does not count dense pulls                        quiet
 *  NO_FENCE         what a pull reads may be older than `shown`                quiet
 *  NO_LIMIT         the verdict leaves the limit where it is                   ltl ends
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef IMPROVEMENTS
#define IMPROVEMENTS 3
#endif
#ifndef CAPACITY
#define CAPACITY 1
#endif
#define TO(from, to) ((from) * RANKS + (to))
#define INFINITE 2
#define FLOOR (near[r] -> 0 : (far[r] -> 1 : INFINITE))
#define ALL (RANKS * RANKS)

byte improvements = IMPROVEMENTS;

/* a rank's work */
byte near[RANKS];    /* bit v: the row of rank v's vertex is to be relaxed */
bit far[RANKS];      /* the own vertex is to be relaxed beyond the limit */
byte version[RANKS]; /* of the own vertex, as pushed */
byte mirror[ALL];    /* TO(v, r): the version of v's vertex that r knows */

/* rings and dense pulls, TO(sender, receiver) */
byte slot[ALL * CAPACITY], written[ALL], counted[ALL], begin[ALL], end_[ALL], room[ALL];
byte shown[RANKS], to_see[ALL], seen[ALL], pull_bound[ALL];
bit showing[RANKS];

/* words of mailboxes, as written last */
byte published[ALL], pull[ALL], pull_version[ALL];
byte ballot[RANKS * 3], older[RANKS * 3];
byte vote = 1;
bit limit, quiet; /* written to all ranks at once */

/* the leader block */
bit busy[RANKS], limit_now[RANKS];
byte balloted[RANKS];
byte calm; /* rank 0: entries sent in all when the last vote was calm, plus one */
byte ended;

#ifdef NO_PARITY
#define KEPT(word) (word)
#else
#define KEPT(word) ((word) % 2) /* an older word is refused by its parity, so its value does not matter */
#endif
#ifdef LL_RING
#define COME(p, r) (written[TO(p, r)] != begin[TO(p, r)])
#else
#define COME(p, r) (published[TO(p, r)] != end_[TO(p, r)])
#endif
#define CHANGED(p, r) (COME(p, r) || pull[TO(p, r)] != to_see[TO(p, r)])
#if RANKS == 2
#define ARRIVAL(r) (CHANGED(0, r) || CHANGED(1, r))
#define ALL_BALLOTED (balloted[1] == vote)
#else
#define ARRIVAL(r) (CHANGED(0, r) || CHANGED(1, r) || CHANGED(2, r))
#define ALL_BALLOTED (balloted[1] == vote && balloted[2] == vote)
#endif

inline learn(peer, news) { /* a mirror becomes as near */
    if
    :: news > mirror[TO(peer, r)] -> mirror[TO(peer, r)] = news; near[r] = near[r] | (1 << peer)
    :: else
    fi
}

inline push() { /* the own vertex has come into near */
    version[r]++;
    near[r] = near[r] | (1 << r);
    for (q : 0 .. RANKS - 1) {
        i = TO(r, q);
        if
        :: q != r && written[i] < room[i] -> slot[i * CAPACITY + written[i] % CAPACITY] = version[r]; written[i]++
        :: q != r && written[i] >= room[i] ->
#ifndef NO_SHOW
            showing[r] = 1
#else
            skip
#endif
        :: q == r -> mirror[i] = version[r]
        fi
    }
}

inline step() { /* of the whole grid */
    for (q : 0 .. RANKS - 1) {
        i = TO(q, r);
#ifdef LL_RING
        do
        :: q != r && begin[i] < written[i] -> learn(q, slot[i * CAPACITY + begin[i] % CAPACITY]); begin[i]++
        :: break
        od;
#else
        do
        :: begin[i] < end_[i] -> learn(q, slot[i * CAPACITY + begin[i] % CAPACITY]); begin[i]++
        :: else -> break
        od;
#endif
        if
        :: to_see[i] != seen[i] ->
            seen[i] = to_see[i];
#ifdef NO_FENCE
            v = 0;
#else
            v = pull_bound[i];
#endif
            do
            :: v < version[q] -> v++
            :: break
            od;
            learn(q, v)
        :: else
        fi
    }
    todo = near[r];
    near[r] = 0;
    if
    :: todo == 0 && far[r] && limit_now[r] -> far[r] = 0; push()
    :: else
    fi;
    for (v : 0 .. RANKS - 1) {
        if
        :: (todo >> v & 1) && improvements > 0 -> improvements--; push()
        :: (todo >> v & 1) && improvements > 0 && limit_now[r] == 0 -> improvements--; far[r] = 1
        :: skip
        fi
    }
}

inline sums() {
    sent = 0; received = 0;
    for (q : 0 .. RANKS - 1) {
        if
        :: q != r ->
            sent = sent + counted[TO(r, q)];
            received = received + begin[TO(q, r)];
#ifndef NO_SHOW_COUNT
            sent = sent + shown[r];
            received = received + seen[TO(q, r)];
#endif
        :: else
        fi
    }
}

inline leader_account_step() {
    if :: showing[r] -> showing[r] = 0; shown[r]++ :: else fi;
    for (q : 0 .. RANKS - 1) { counted[TO(r, q)] = written[TO(r, q)] }
}

#ifdef PROMPT_VOTES
#define MAY_LAG 0
#elif defined(NO_OWN_VERDICT)
#define MAY_LAG 1
#else
#define MAY_LAG (r != 0) /* rank 0 polls its own words after a barrier of the warp */
#endif

inline poll() { /* leader_poll, leader_update_cursors: of each word what is polled already, or news */
    for (q : 0 .. RANKS - 1) {
        i = TO(q, r);
        do
        :: end_[i] < published[i] -> end_[i]++
#ifdef PROMPT_DATA
        :: else -> break
#else
        :: break
#endif
        od;
        if
        :: to_see[i] != pull[i] -> to_see[i] = pull[i]; pull_bound[i] = pull_version[i]
#ifndef PROMPT_DATA
        :: to_see[i] != pull[i]
#endif
        :: to_see[i] == pull[i]
        fi;
        v = begin[TO(r, q)] + CAPACITY;
        if
        :: room[TO(r, q)] != v -> room[TO(r, q)] = v
#ifndef PROMPT_DATA
        :: room[TO(r, q)] != v
#endif
        :: room[TO(r, q)] == v
        fi
    }
    v = 0;
    if
    :: limit_now[r] != limit -> limit_now[r] = limit
    :: limit_now[r] != limit && MAY_LAG
    :: limit_now[r] == limit
    fi
}

inline decide() {
    busy[r] = near[r] || (far[r] && limit_now[r]);
    for (q : 0 .. RANKS - 1) {
        i = TO(q, r);
#ifdef LL_RING
        busy[r] = busy[r] || (q != r && written[i] != begin[i]) || to_see[i] != seen[i]
#else
        busy[r] = busy[r] || end_[i] != begin[i] || to_see[i] != seen[i]
#endif
    }
}

inline leader_publish_counts() {
    for (q : 0 .. RANKS - 1) {
        i = TO(r, q);
        if
        :: q != r ->
            published[i] = counted[i];
            if
            :: pull[i] != shown[r] -> pull[i] = shown[r]; pull_version[i] = version[r]
            :: else
            fi
        :: else
        fi
    }
}

inline leader_vote() {
    if
    :: vote != balloted[r] ->
        balloted[r] = vote;
        for (q : 0 .. 2) { older[r * 3 + q] = KEPT(ballot[r * 3 + q]) }
        ballot[r * 3] = floor * 2 + vote % 2;
        ballot[r * 3 + 1] = sent * 2 + vote % 2;
        ballot[r * 3 + 2] = received * 2 + vote % 2
    :: vote != balloted[r] && MAY_LAG
    :: vote == balloted[r]
    fi
}

inline read_word(place, word) { /* of a ballot: as it was before the last vote, or as it is */
    word = ballot[place];
    if
    :: skip
#ifndef PROMPT_VOTES
    :: place >= 3 && word != older[place] -> word = older[place]
#endif
    fi
#ifndef NO_PARITY
    ; whole = whole && word % 2 == voted % 2
#endif
}

inline leader_detect_termination() { /* rank 0 */
    whole = 1; v = INFINITE; sent = 0; received = 0;
    for (q : 0 .. RANKS - 1) {
        read_word(q * 3, i);
        whole = whole && i % 2 == voted % 2;
        v = (i / 2 < v -> i / 2 : v);
        read_word(q * 3 + 1, i);
        sent = sent + i / 2;
        read_word(q * 3 + 2, i);
        received = received + i / 2
    }
    is_calm = v == INFINITE;
#ifndef NO_COUNTS
    is_calm = is_calm && sent == received;
#endif
    if
    :: whole ->
#ifndef NO_SECOND_WAVE
        quiet = quiet || (is_calm && calm == sent + 1);
#else
        quiet = quiet || is_calm;
#endif
        calm = (is_calm -> sent + 1 : 0);
#ifndef NO_LIMIT
        limit = limit || (v == 1 && sent == received);
#endif
        vote = (voted + 1) % 4;
        /* who has read a word does not read an older one later */
        for (q : 0 .. RANKS * 3 - 1) { older[q] = KEPT(ballot[q]) }
    :: else
    fi
}

inline check_quiet() {
    for (q : 0 .. RANKS - 1) {
        assert(near[q] == 0 && far[q] == 0 /* quiet */);
        for (v : 0 .. RANKS - 1) { assert(mirror[TO(q, v)] == version[q] /* quiet */) }
    }
}

proctype Rank(byte r) {
    byte q, i, v, todo, floor, sent, received, voted;
    bit is_calm, whole;
    do
    :: atomic { (busy[r] || vote != balloted[r] || quiet || limit != limit_now[r] || ARRIVAL(r)
            || (r == 0 && ALL_BALLOTED)) ->
        if
        :: busy[r] -> step()
        :: else
        fi;
        q = 0; i = 0; v = 0; todo = 0;
#ifdef LL_RING
       }
       atomic {
#endif
        leader_account_step();
        if
        :: quiet -> check_quiet(); ended++; break
        :: quiet && MAY_LAG
        :: !quiet
        fi;
        poll();
        decide();
        leader_publish_counts();
        floor = FLOOR;
        sums();
        leader_vote();
        voted = balloted[0];
        if
        :: r == 0 -> leader_detect_termination()
        :: else
        fi;
        q = 0; i = 0; v = 0; floor = 0; sent = 0; received = 0; voted = 0; is_calm = 0; whole = 0
       }
    od
}

init {
    byte q;
    atomic {
        for (q : 0 .. RANKS * RANKS - 1) { room[q] = CAPACITY }
        /* list_source of sssp/initialize.cuh */
        near[0] = 1; version[0] = 1; mirror[0] = 1; busy[0] = 1;
        for (q : 1 .. RANKS - 1) { slot[q * CAPACITY] = 1; written[q] = 1 }
        for (q : 0 .. RANKS - 1) { run Rank(q) }
        q = 0
    }
}

ltl ends { <> (ended == RANKS) }
