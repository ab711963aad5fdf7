#pragma once

#include "exchange/leader_state.cuh"
#include "layout/control.cuh"
#include "primitives/grid_barrier.cuh"

// References to everything that the kernel of a rank works with.
struct Rank {
    const Share& share;
    const Work& work;
    const Peers& peers;
    Control* control;
    const Seen& seen;  // in shared memory: control words as of the start of the step
    BarrierPhase& phase;
    LeaderState& leader;  // state of the leader block
};
