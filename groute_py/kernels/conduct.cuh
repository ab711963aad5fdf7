// What the last block at the barrier does for its rank, by one warp: publish what was sent, acknowledge
// what was taken, see what has come, and take part in the vote. A lane speaks with a peer each.
//
// Every round trip to L2 or to a peer counts here, since all blocks wait. So the warp copies what it
// needs to shared memory at once, and one fence a round orders all it has read and all it will say.
#pragma once

struct Desk {  // in shared memory
    Exchange own;
    Mailbox heard;  // this rank's, as of the last look
};

// Two words a lane, both under way at once.
template <class T>
struct Copy {
    static_assert(sizeof(T) % 8 == 0 && sizeof(T) <= 2 * 32 * 8, "two words of 8 bytes a lane");
    static constexpr u32 words = sizeof(T) / 8;
    u64 first, second;

    __device__ __forceinline__ explicit Copy(const T* from) {
        const u64* word = (const u64*)from + lane();
        if (lane() < words) first = anew(word);
        if (lane() + 32 < words) second = anew(word + 32);
    }

    __device__ __forceinline__ void put(T* to) const {
        u64* word = (u64*)to + lane();
        if (lane() < words) word[0] = first;
        if (lane() + 32 < words) word[32] = second;
    }
};

__device__ __forceinline__ void hear(const Peers& peers, Desk& desk) {
    Copy<Mailbox>(peers.mailbox[peers.me]).put(&desk.heard);
    __threadfence_system();
    __syncwarp();
}

// Lane p: waits until the thick turn that peer p is in has ended, or the run is to stop.
__device__ __forceinline__ void await_pace(const Peers& peers, const Desk& desk) {
    const Mailbox* mine = peers.mailbox[peers.me];
    u32 p = lane();
    if (p < peers.count && p != peers.me && desk.heard.pace[p] % 2)
        while (anew(&mine->pace[p]) == desk.heard.pace[p] && !anew(&mine->stop)) {}
    __syncwarp();
}

// Lane p: tells peer p how far this rank has written and taken.
__device__ __forceinline__ void tell_counts(const Peers& peers, Exchange& own) {
    u32 p = lane();
    if (p >= peers.count || p == peers.me) return;
    Mailbox* theirs = peers.mailbox[p];
    own.sent[p] = min(own.sent[p], own.room[p]);  // places beyond the room were not written
    if (own.sent[p] != own.told_sent[p]) say(&theirs->published[peers.me], own.sent[p]);
    if (own.end[p] != own.begin[p]) say(&theirs->taken[peers.me], own.end[p]);
    own.told_sent[p] = own.sent[p];
    own.begin[p] = own.end[p];
}

// Lane p: sees how far peer p has.
__device__ __forceinline__ void see_counts(const Peers& peers, Desk& desk) {
    u32 p = lane();
    if (p >= peers.count || p == peers.me) return;
    desk.own.end[p] = desk.heard.published[p];
    desk.own.room[p] = desk.heard.taken[p] + peers.capacity;
}

// Lane p: tells peer p whether this rank is in a thick turn.
__device__ __forceinline__ void tell_pace(const Peers& peers, u64 pace) {
    u32 p = lane();
    if (p < peers.count && p != peers.me) say(&peers.mailbox[p]->pace[peers.me], pace);
}

__device__ __forceinline__ u64 sum_over_peers(const Peers& peers, const u64* counts) {
    u64 sum = 0;
    for (u32 p = 0; p < peers.count; p++) sum += p == peers.me ? 0 : counts[p];
    return sum;
}

// States this rank's floor and counts in the open vote, once.
__device__ __forceinline__ void take_part(const Peers& peers, Desk& desk, double floor) {
    u64 vote = desk.heard.vote;
    if (vote == desk.own.balloted || lane()) return;
    Mailbox* board = peers.mailbox[0];
    volatile Ballot& mine = board->ballot[peers.me];
    mine.floor = floor;
    mine.sent = sum_over_peers(peers, desk.own.sent);
    mine.received = sum_over_peers(peers, desk.own.begin);
    __threadfence_system();
    say(&board->balloted[peers.me], vote);
    desk.own.balloted = vote;
}

// Rank 0: when all have taken part, tells all the verdict and opens the next vote.
__device__ __forceinline__ void judge(const Peers& peers, Desk& desk) {
    u32 p = lane();
    bool voter = p < peers.count;
    if (!__all_sync(~0u, !voter || desk.heard.balloted[p] == desk.heard.vote)) return;
    const volatile Ballot& ballot = peers.mailbox[0]->ballot[voter ? p : 0];
    double floor = voter ? ballot.floor : (double)INFINITE;
    u64 sent = voter ? ballot.sent : 0, received = voter ? ballot.received : 0;
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) {
        floor = min(floor, __shfl_xor_sync(~0u, floor, step));
        sent += __shfl_xor_sync(~0u, sent, step);
        received += __shfl_xor_sync(~0u, received, step);
    }
    bool calm = floor == INFINITE && sent == received;
    bool quiet = calm && desk.own.calm == sent + 1;
    __syncwarp();
    if (p == 0) desk.own.calm = calm ? sent + 1 : 0;
    if (!voter) return;
    volatile Mailbox& theirs = *peers.mailbox[p];
    if (floor != INFINITE) theirs.limit = floor + peers.lead;
    theirs.quiet = quiet;
    say(&peers.mailbox[p]->vote, desk.heard.vote + 1);
}

// A host's wish to stop reaches all ranks.
__device__ __forceinline__ void pass_on_stop(const Peers& peers, Desk& desk) {
    if (!desk.heard.stop) return;
    u32 p = lane();
    if (p < peers.count) *(volatile u32*)&peers.mailbox[p]->stop = 1;
    desk.own.stopped = 1;
}

// How many entries have arrived for the turn to come.
__device__ __forceinline__ u64 arrivals(const Peers& peers, const Exchange& exchange) {
    u64 sum = 0;
    for (u32 p = 0; p < peers.count; p++) sum += exchange.end[p] - exchange.begin[p];
    return sum;
}

// What a rank has to do next, apart from what arrives.
struct Prospect {
    u64 listed;    // entries and items in near
    bool pending;  // something else is due in any case
    double floor;  // the smallest distance left to work on
};

// Goes on until the rank has something to do, all are quiet, or the run is stopped.
__device__ __forceinline__ void conduct(const Peers& peers, Exchange& exchange, Desk& desk,
                                        const Prospect& prospect) {
    Exchange& own = desk.own;
    Copy<Exchange> before(&exchange);
    Copy<Mailbox> mail(peers.mailbox[peers.me]);
    before.put(&own);
    mail.put(&desk.heard);
    __threadfence_system();
    __syncwarp();
    while (true) {
        tell_counts(peers, own);
        if (own.pace % 2) {
            tell_pace(peers, own.pace + 1);
            await_pace(peers, desk);
            hear(peers, desk);
        }
        see_counts(peers, desk);
        __syncwarp();
        take_part(peers, desk, prospect.floor);
        __syncwarp();
        if (peers.me == 0) judge(peers, desk);
        pass_on_stop(peers, desk);
        __syncwarp();
        u64 work = prospect.listed + arrivals(peers, own);
        u64 pace = own.pace / 2 * 2 + (work > gridDim.x * THIN ? 3 : 2);
        bool beyond = prospect.floor == INFINITE || prospect.floor > desk.heard.limit;
        bool idle = !work && !prospect.pending && beyond && !own.full && !desk.heard.quiet && !own.stopped;
        __syncwarp();
        if (lane() == 0) {
            own.limit = desk.heard.limit;
            own.quiet = desk.heard.quiet;
            own.resend = own.full;
            own.full = 0;
            own.pace = pace;
        }
        __syncwarp();
        if (!idle) break;
        hear(peers, desk);
    }
    if (own.pace % 2) tell_pace(peers, own.pace);
    Copy<Exchange>(&own).put(&exchange);
}
