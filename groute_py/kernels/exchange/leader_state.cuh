#pragma once

#include "layout/exchange.cuh"

struct LeaderState {  // in shared memory
    StepPlan plan;
    Exchange own;                 // as of the end of the last step
    MailboxHeader mailbox;        // this rank's mailbox as of the last poll
    u64 ll_taken[MAX_PEERS];      // words taken from each peer's low-latency ring since the start
    u64 began;                    // start of the step, by this multiprocessor's clock
    u32 ll_arrived;               // 1 if some low-latency ring holds words that have not been taken
    u32 valid_words[BLOCK / 32];  // for each warp the number of consecutive valid words of a ring
};
