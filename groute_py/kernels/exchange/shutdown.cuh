// How a run ends on all ranks.
#pragma once

#include "exchange/remote.cuh"
#include "layout/control.cuh"
#include "primitives/warp.cuh"

// How a rank has ended: by the verdict that all are quiet, or by the stop flag.
#define QUIET 1
#define STOPPED 2
#define OVERFLOWED 4  // with one of these: a sum did not fit in the distance type

// Shutdown handshake: writes to all peers how this rank has ended, and waits for theirs if it ended quiet. Each peer
// reads the same verdict or the stop flag, so either all ranks know that all are quiet, and whether some sum
// overflowed, or none does. If the stop flag is set and a peer does not answer (its kernel has failed or does not run),
// the wait ends after PATIENCE polls. The outcome of that peer is unknown then, and the job has to end.
__device__ __forceinline__ void leader_shut_down(const Peers& peers, const Control* control, bool stopped,
                                                 double floor) {
    const Mailbox* mine = peers.mailbox[peers.me];
    const u32 p = lane();
    const bool waits = p < peers.count && !stopped;
    u64 ending = (stopped ? STOPPED : QUIET) | (load_volatile(&control->overflowed) ? OVERFLOWED : 0);
    if (SILENT_END && peers.me == 0) {  // a fault, for tests: stops its peers when they wait for it
        while (is_peer(peers, p) && !load_acquire_system(&mine->ended[p])) {
        }
        if (p < peers.count) RemoteMailbox(peers, p).put(&Mailbox::stop, 1u);
        return;
    }
    if (p < peers.count) RemoteMailbox(peers, p).put(&Mailbox::ended, ending);
    __syncwarp();  // all are written before one is waited for
    if (waits) {
        u32 patience = PATIENCE;
        while (!(ending = load_acquire_system(&mine->ended[p])) && (!load_volatile(&mine->stop) || patience--)) {
        }
    }
    const bool all_quiet = __all_sync(~0u, !waits || (ending & (QUIET | STOPPED)) == QUIET) && !stopped;
    const bool overflowed = __any_sync(~0u, ending & OVERFLOWED), unreported = __any_sync(~0u, waits && !ending);
    if (p == 0) *peers.ending = {floor, all_quiet, overflowed, unreported};
}
