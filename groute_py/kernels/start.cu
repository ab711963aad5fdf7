// Begins a solve: nothing is reached but the source, which is the only entry of near.

#define TOUCHED 256  // places of each array that are touched

// The first access to a part of a peer's memory takes some 50 us. Here nobody waits for it.
__device__ __forceinline__ void touch(const Peers& peers, u32 thread) {
    u32 p = thread / TOUCHED;
    u64 place = thread % TOUCHED;
    if (!is_peer(peers, p)) return;
    if (place == 0) say(&peers.mailbox[p]->pace[peers.me], 0);  // as it is before this rank's first turn
    anew(&peers.outbox[p][place * peers.capacity / TOUCHED].vertex);
    if (peers.owned[p]) anew(&peers.shown[p][place * peers.owned[p] / TOUCHED]);
}

// `source` is NO_VERTEX on a rank that does not own it; `width` is of the first window, `room` the capacity
// of an outbox.
extern "C" __global__ void start(const __grid_constant__ Share share, const __grid_constant__ Work work,
                                 const __grid_constant__ Peers peers, Control* control, u32 source,
                                 Distance width, u32 room) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    touch(peers, thread);
    for (u32 i = thread; i < local_count(share); i += stride)
        work.distance[i] = i == source ? (Distance)0 : NOTHING;
    for (u32 i = thread; i < share.own; i += stride) {
        if (work.record) work.record[i] = UNRECORDED;
        if (work.hints) work.hints[i] = UNKNOWN;
    }
    for (u32 i = thread; i < (share.rows + 31) / 32; i += stride) work.spilled[i] = 0;
    for (u32 i = thread; i < (share.halo + 31) / 32; i += stride) work.dirty_bits[i] = 0;
    if (thread) return;
    *control = Control{};
    control->threshold = width;
    control->exchange.width = (double)width;
    control->least_far[0] = control->least_far[1] = NOTHING;
    for (u32 p = 0; p < MAX_PEERS; p++) control->orders.with[p].room = room;
    if (source == NO_VERTEX) return;
    control->near_count[0] = 1;
    const Entry entry{0, source};
    put(work, control, near_list(work, control, 0), 0, entry, NO_VERTEX);
    if (peers.count == 1) return;
    for (u32 p = 0; p < peers.count; p++) {  // told as what comes into near later
        if (!(share.leads[source] >> p & 1)) continue;
        peers.outbox[p][0] = entry;
        control->exchange.sent[p] = 1;
    }
}
