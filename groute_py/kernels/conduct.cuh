// What the last block at the barrier does for its rank, by one warp: publish what was sent,
// acknowledge what was taken, see what has come, and take part in the vote. Another block may have
// done it the last time, so all memory is read anew, from L2.
#pragma once

// Lane p: tells peer p how far this rank has written and taken, and sees how far peer p has.
__device__ __forceinline__ void trade_counts(const Peers& peers, Exchange& exchange) {
    u32 p = lane();
    if (p >= peers.count || p == peers.me) return;
    Mailbox* theirs = peers.mailbox[p];
    const Mailbox* mine = peers.mailbox[peers.me];
    u64 sent = min(anew(&exchange.sent[p]), anew(&exchange.room[p]));
    u64 end = anew(&exchange.end[p]);
    exchange.sent[p] = sent;  // places beyond the room were not written
    if (sent != anew(&exchange.told_sent[p])) publish(&theirs->published[peers.me], sent);
    if (end != anew(&exchange.begin[p])) publish(&theirs->taken[peers.me], end);
    exchange.told_sent[p] = sent;
    exchange.begin[p] = end;
    exchange.end[p] = published(&mine->published[p]);
    exchange.room[p] = published(&mine->taken[p]) + peers.capacity;
}

__device__ __forceinline__ u64 sum_over_peers(const Peers& peers, const u64* counts) {
    u64 sum = 0;
    for (u32 p = 0; p < peers.count; p++) sum += p == peers.me ? 0 : anew(&counts[p]);
    return sum;
}

// States this rank's floor and counts in the open vote, once.
__device__ __forceinline__ void take_part(const Peers& peers, Exchange& exchange, double floor) {
    u64 vote = published(&peers.mailbox[peers.me]->vote);
    if (vote == anew(&exchange.balloted)) return;
    Mailbox* board = peers.mailbox[0];
    Ballot& mine = board->ballot[peers.me];
    *(volatile double*)&mine.floor = floor;
    *(volatile u64*)&mine.sent = sum_over_peers(peers, exchange.sent);
    *(volatile u64*)&mine.received = sum_over_peers(peers, exchange.begin);
    publish(&board->balloted[peers.me], vote);
    exchange.balloted = vote;
}

// Rank 0: when all have taken part, tells all the verdict and opens the next vote.
__device__ __forceinline__ void judge(const Peers& peers, Exchange& exchange) {
    const Mailbox* board = peers.mailbox[0];
    u64 vote = anew(&board->vote), sent = 0, received = 0;
    double floor = INFINITE;
    for (u32 p = 0; p < peers.count; p++) {
        if (published(&board->balloted[p]) != vote) return;
        floor = min(floor, anew(&board->ballot[p].floor));
        sent += anew(&board->ballot[p].sent);
        received += anew(&board->ballot[p].received);
    }
    bool calm = floor == INFINITE && sent == received;
    bool quiet = calm && anew(&exchange.calm) == sent + 1;
    exchange.calm = calm ? sent + 1 : 0;
    for (u32 p = 0; p < peers.count; p++) {
        *(volatile double*)&peers.mailbox[p]->limit = floor + peers.lead;
        *(volatile u32*)&peers.mailbox[p]->quiet = quiet;
        publish(&peers.mailbox[p]->vote, vote + 1);
    }
}

// A host's wish to stop reaches all ranks.
__device__ __forceinline__ void pass_on_stop(const Peers& peers, Exchange& exchange) {
    if (!anew(&peers.mailbox[peers.me]->stop)) return;
    for (u32 p = 0; p < peers.count; p++) *(volatile u32*)&peers.mailbox[p]->stop = 1;
    __threadfence_system();
    exchange.stopped = 1;
}

__device__ __forceinline__ void conduct(const Peers& peers, Exchange& exchange, double floor) {
    trade_counts(peers, exchange);
    __syncwarp();
    if (lane() == 0) {
        exchange.resend = anew(&exchange.full);
        exchange.full = 0;
        take_part(peers, exchange, floor);
        if (peers.me == 0) judge(peers, exchange);
        const Mailbox* mine = peers.mailbox[peers.me];
        exchange.limit = anew(&mine->limit);
        exchange.quiet = anew(&mine->quiet);
        pass_on_stop(peers, exchange);
    }
}
