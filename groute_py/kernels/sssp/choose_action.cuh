// What a step does. This header is plain C++, and tests/emulation/test_choose_action.py compares it with the table for
// all inputs.
//
// 0 is false, 1 is true, and - is either. Each input has one row.
//
// | over | near | arrivals | again | spilled | moved | small | pull | far | beyond | peers | action         |
// |------|------|----------|-------|---------|-------|-------|------|-----|--------|-------|----------------|
// | 1    | -    | -        | -     | -       | -     | -     | -    | -   | -      | -     | Finish         |
// | 0    | 1    | -        | -     | -       | 1     | -     | -    | -   | -      | -     | JoinBucket     |
// | 0    | 0    | 1        | -     | -       | 1     | -     | -    | -   | -      | -     | JoinBucket     |
// | 0    | 1    | -        | -     | -       | 0     | 1     | -    | -   | -      | -     | RelaxLocally   |
// | 0    | 1    | -        | -     | -       | 0     | 0     | -    | -   | -      | -     | RelaxWide      |
// | 0    | 0    | 1        | 0     | -       | 0     | 1     | -    | -   | -      | -     | RelaxLocally   |
// | 0    | 0    | 1        | 0     | -       | 0     | 0     | -    | -   | -      | -     | RelaxWide      |
// | 0    | 0    | 1        | 1     | 1       | 0     | 1     | -    | -   | -      | -     | RelaxLocally   |
// | 0    | 0    | 1        | 1     | 1       | 0     | 0     | -    | -   | -      | -     | RelaxWide      |
// | 0    | 0    | 0        | -     | 1       | -     | -     | -    | -   | -      | -     | RecoverSpilled |
// | 0    | 0    | 1        | 1     | 0       | 0     | -     | 1    | -   | 0      | -     | PullDeferred   |
// | 0    | 0    | 0        | -     | 0       | -     | -     | 1    | -   | 0      | -     | PullDeferred   |
// | 0    | 0    | 1        | 1     | 0       | 0     | -     | 0    | 1   | 0      | -     | OpenBucket     |
// | 0    | 0    | 0        | -     | 0       | -     | -     | 0    | 1   | 0      | -     | OpenBucket     |
// | 0    | 0    | 1        | 1     | 0       | 0     | -     | 0    | 0   | 0      | 1     | AwaitPeers     |
// | 0    | 0    | 1        | 1     | 0       | 0     | -     | -    | -   | 1      | 1     | AwaitPeers     |
// | 0    | 0    | 0        | -     | 0       | -     | -     | 0    | 0   | 0      | 1     | AwaitPeers     |
// | 0    | 0    | 0        | -     | 0       | -     | -     | -    | -   | 1      | 1     | AwaitPeers     |
// | 0    | 0    | 1        | 1     | 0       | 0     | -     | 0    | 0   | 0      | 0     | Finish         |
// | 0    | 0    | 1        | 1     | 0       | 0     | -     | -    | -   | 1      | 0     | Finish         |
// | 0    | 0    | 0        | -     | 0       | -     | -     | 0    | 0   | 0      | 0     | Finish         |
// | 0    | 0    | 0        | -     | 0       | -     | -     | -    | -   | 1      | 0     | Finish         |
#pragma once

enum class Action {
    Finish,          // leave the loop
    RelaxLocally,    // block-local step
    RelaxWide,       // grid-wide step
    JoinBucket,      // peers have opened the next bucket: split far as they have, then relax
    RecoverSpilled,  // list the vertices for which near had no place
    PullDeferred,    // pull phase; opens the bucket beyond the bound
    OpenBucket,      // split far by a new threshold
    AwaitPeers,      // nothing to do; merge arrivals, and let the leader wait for peers
};

// What all blocks know at the start of a step, each the same.
struct StepFacts {
    bool over;      // all ranks are quiet, or the run is stopped
    bool near;      // near has entries or row chunks
    bool arrivals;  // peers have sent entries, or requested dense pulls
    bool again;     // the last step relaxed arrivals only; then they are merged, and the next bucket is opened
    bool spilled;   // the spill bitmap is not empty
    bool moved;     // the bucket that peers share has moved beyond this rank's
    bool small;     // few entries for each block, and no row chunks
    bool pull;      // arcs have been deferred, and nothing is left before the bound
    bool far;       // far has entries
    bool beyond;    // the smallest distance left beyond near is beyond the limit
    bool peers;     // the rank exchanges with peers in the kernel
};

__device__ __forceinline__ Action choose_action(const StepFacts& facts) {
    if (facts.over) return Action::Finish;
    if (facts.moved && (facts.near || facts.arrivals)) return Action::JoinBucket;
    if (facts.near || (facts.arrivals && (!facts.again || facts.spilled)))
        return facts.small ? Action::RelaxLocally : Action::RelaxWide;
    if (facts.spilled) return Action::RecoverSpilled;
    if (facts.pull && !facts.beyond) return Action::PullDeferred;
    if (facts.far && !facts.beyond) return Action::OpenBucket;
    return facts.peers ? Action::AwaitPeers : Action::Finish;
}
