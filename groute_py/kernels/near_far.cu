// Near-far relaxation of one share: a persistent cooperative grid that takes many steps a launch.
//
// A step reads the near list and writes the next one. A block first relaxes its part of near, then
// goes on by itself: what its own relaxations put in near it keeps in shared memory and relaxes at
// once, up to DEPTH levels deep, before the grid meets again. On graphs with thin frontiers (roads)
// the time of a level is latency, and this way the blocks pay for a barrier once in DEPTH levels.
// What does not fit in shared memory goes to the global list, so thick frontiers lose nothing.
//
// When near is empty the window moves: far is split by a new threshold. A vertex whose distance
// fell has an entry for that very distance in near or far (or its bit in `spilled`), so entries can
// be taken at any time and in any order, and the distances they end with are the same.
//
// Counters rotate by `turn`, so that a block never reads one that a faster block may be writing:
// what a turn decides by was settled before the barrier it began with.

#define HUB_DEGREE 4096  // the arcs of a vertex with more are shared by the whole grid, a turn later
#define CHUNK 32         // entries a warp takes at a time, at most

struct Staging {  // what a block keeps to itself until it flushes
    Entry near[2][STAGED];
    Entry far[STAGED];
    u32 near_count[2];
    u32 far_count;
    u32 base;
};

// The lists and counters of one turn.
struct Turn {
    const Entry* near_in;
    u32 near_in_count;
    const u32* hubs_in;
    u32 hubs_in_count;
    Entry* near_out;
    u32* near_out_count;
    u32* hubs_out;
    u32* hubs_out_count;
    Entry* far;
    u32* far_count;
};

__device__ __forceinline__ Turn begin_turn(const Work& work, Control* control, u32 turn, u32 far_side) {
    u32 next = turn + 1;
    Turn now;
    now.near_in = work.near[turn % 2];
    now.near_in_count = min(__ldcg(&control->near_count[turn % 3]), work.capacity);
    now.hubs_in = work.hubs + (turn % 2) * HUBS;
    now.hubs_in_count = min(__ldcg(&control->hub_count[turn % 3]), (u32)HUBS);
    now.near_out = work.near[next % 2];
    now.near_out_count = &control->near_count[next % 3];
    now.hubs_out = work.hubs + (next % 2) * HUBS;
    now.hubs_out_count = &control->hub_count[next % 3];
    now.far = work.far[far_side];
    now.far_count = &control->far_count[far_side];
    return now;
}

// The turn after next writes what this turn's predecessor read.
__device__ __forceinline__ void clear_ahead(Control* control, u32 turn, u32 far_side) {
    if (blockIdx.x || threadIdx.x) return;
    control->near_count[(turn + 2) % 3] = 0;
    control->hub_count[(turn + 2) % 3] = 0;
    control->far_count[far_side ^ 1] = 0;
}

// Relaxes one arc for each active lane, and lists what became nearer.
struct Relax {
    const Share& share;
    const Work& work;
    Control* control;
    Staging& staged;
    const Turn& now;
    Distance threshold, cutoff;
    int side;  // of staged.near, written

    __device__ __forceinline__ void operator()(bool active, Offset index, u32, Distance base) {
        bool nearer = false;
        Entry entry = {};
        if (active) {
            Arc arc = load(&share.arcs[index]);
            entry.vertex = arc.head;
            entry.distance = plus(base, arc.weight);
            nearer = improves(arc, base, entry.distance);
        }
        if (!__any_sync(~0u, nearer)) return;
        bool remote = nearer && entry.vertex >= share.own;
        bool close = nearer && !remote && entry.distance < threshold;
        bool later = nearer && !remote && !close;
        push(close, entry, staged.near[side], &staged.near_count[side], now.near_out,
             now.near_out_count);
        push(later, entry, staged.far, &staged.far_count, now.far, now.far_count);
        if (__any_sync(~0u, remote)) mark_dirty(share, work, control, entry.vertex, remote);
    }

    __device__ __forceinline__ bool improves(const Arc& arc, Distance base, Distance reach) {
        Distance known = current(&work.distance[arc.head]);
        bool wrapped = (arc.weight > 0 && reach < base) || (arc.weight < 0 && reach > base);
        if (reach < known && reach <= cutoff && !wrapped)
            return reach < atomic_min(&work.distance[arc.head], reach);
        // a sum that is not a distance matters only if nothing else reaches the vertex
        if ((wrapped || known == NOTHING) && cutoff == NOTHING) control->overflowed = 1;
        return false;
    }

    // Into shared memory while there is room, else straight to the global list.
    __device__ __forceinline__ void push(bool wanted, const Entry& entry, Entry* here,
                                         u32* here_count, Entry* list, u32* list_count) {
        u32 place = slot(here_count, wanted);
        bool fits = place < STAGED;
        if (wanted && fits) here[place] = entry;
        if (__any_sync(~0u, wanted && !fits))
            append(work, control, list, list_count, entry, wanted && !fits);
    }
};

// Relaxes a list of entries with `warps` warps, of which this is number `warp`; thin lists are
// spread over all of them. `fetch(i)` brings entry i.
template <class Fetch>
__device__ __forceinline__ u32 relax_entries(Relax& visit, u32 count, u32 warp, u32 warps, Fetch fetch) {
    u32 chunk = min((count + warps - 1) / warps, (u32)CHUNK), relaxed = 0;
    for (u32 base = warp * chunk; base < count; base += warps * chunk) {
        bool wanted = lane() < chunk && base + lane() < count;
        Entry entry = {};
        if (wanted) {
            entry = fetch(base + lane());
            wanted = entry.distance == current(&visit.work.distance[entry.vertex]);
        }
        bool hub = false;
        if (wanted) {
            const Offset* row = &visit.share.offsets[entry.vertex];
            hub = __ldg(row + 1) - __ldg(row) > HUB_DEGREE;
        }
        if (__any_sync(~0u, hub)) {
            u32 place = slot(visit.now.hubs_out_count, hub);
            if (hub && place < HUBS) {
                visit.now.hubs_out[place] = entry.vertex;
                wanted = false;
            }
        }
        relaxed += expand(visit.share, wanted, entry.vertex, entry.distance, visit);
    }
    return relaxed;
}

// Relaxes the hubs of the last turn: each warp of the grid takes arcs of each.
__device__ u64 relax_hubs(Relax& visit, u32 warp, u32 warps) {
    u64 relaxed = 0;
    for (u32 h = 0; h < visit.now.hubs_in_count; h++) {
        u32 vertex = __ldcg(&visit.now.hubs_in[h]);
        Distance at = current(&visit.work.distance[vertex]);
        Offset end = visit.share.offsets[vertex + 1];
        for (Offset base = visit.share.offsets[vertex] + (Offset)warp * 32; base < end;
             base += (Offset)warps * 32) {
            visit(base + lane() < end, base + lane(), vertex, at);
            relaxed += base + lane() < end;
        }
    }
    return relaxed;
}

// Moves a block's staged entries to a global list, coalesced; all threads call it.
__device__ void flush(const Work& work, Control* control, Staging& staged, const Entry* here,
                      u32* here_count, Entry* list, u32* list_count) {
    __syncthreads();
    u32 count = min(*here_count, (u32)STAGED);
    if (count) {
        if (threadIdx.x == 0) staged.base = atomicAdd(list_count, count);
        __syncthreads();
        for (u32 i = threadIdx.x; i < count; i += blockDim.x)
            put(work, control, list, staged.base + i, here[i]);
        __syncthreads();
    }
    if (threadIdx.x == 0) *here_count = 0;
    __syncthreads();
}

// One step: hubs, this block's part of near, then its own levels below that.
__device__ u64 take_step(Relax& visit) {
    Staging& staged = visit.staged;
    u32 warps = blockDim.x >> 5, warp = threadIdx.x >> 5;
    u32 grid_warp = warp * gridDim.x + blockIdx.x, grid_warps = warps * gridDim.x;
    const Entry* near_in = visit.now.near_in;
    visit.side = 0;
    u64 relaxed = relax_hubs(visit, grid_warp, grid_warps);
    relaxed += relax_entries(visit, visit.now.near_in_count, grid_warp, grid_warps,
                             [=](u32 i) { return load(&near_in[i]); });
    for (int depth = 0; depth < DEPTH; depth++) {
        __syncthreads();
        u32 count = staged.near_count[visit.side];
        if (count == 0 || count > DEEP) break;
        const Entry* mine = staged.near[visit.side];
        visit.side ^= 1;
        relaxed += relax_entries(visit, count, warp, warps, [=](u32 i) { return mine[i]; });
        __syncthreads();
        if (threadIdx.x == 0) staged.near_count[visit.side ^ 1] = 0;
        if (staged.far_count > STAGED / 2)
            flush(visit.work, visit.control, staged, staged.far, &staged.far_count, visit.now.far,
                  visit.now.far_count);
    }
    flush(visit.work, visit.control, staged, staged.near[visit.side], &staged.near_count[visit.side],
          visit.now.near_out, visit.now.near_out_count);
    flush(visit.work, visit.control, staged, staged.far, &staged.far_count, visit.now.far,
          visit.now.far_count);
    return relaxed;
}

// Splits far by the threshold: what lies below goes to near, the rest to the other far list.
__device__ void split_far(const Work& work, Control* control, const Turn& now, u32 count,
                          u32 far_side, Distance window, Distance threshold) {
    Distance least = NOTHING;
    u32 rounded = (count + 31) & ~31u, stride = gridDim.x * blockDim.x;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < rounded; i += stride) {
        Entry entry = {};
        bool live = false;
        if (i < count) {
            entry = load(&now.far[i]);
            live = entry.distance == current(&work.distance[entry.vertex]);
        }
        bool close = live && entry.distance < threshold, later = live && !close;
        if (later && entry.distance < least) least = entry.distance;
        append(work, control, now.near_out, now.near_out_count, entry, close);
        append(work, control, work.far[far_side ^ 1], &control->far_count[far_side ^ 1], entry, later);
    }
    if (least != NOTHING) atomic_min(&control->least_far[far_side ^ 1], least);
}

// Lists every spilled vertex in near, which is empty and has room for all of them.
__device__ void recover_spilled(const Share& share, const Work& work, const Turn& now) {
    u32 words = (share.own + 31) / 32, stride = gridDim.x * blockDim.x;
    for (u32 word = blockIdx.x * blockDim.x + threadIdx.x; word < words; word += stride) {
        u32 bits = __ldcg(&work.spilled[word]);
        if (bits) work.spilled[word] = 0;
        for (; bits; bits &= bits - 1) {
            u32 vertex = word * 32 + __ffs(bits) - 1;
            u32 place = atomicAdd(now.near_out_count, 1u);
            now.near_out[place].vertex = vertex;
            now.near_out[place].distance = current(&work.distance[vertex]);
        }
    }
}

// Works until nothing up to `limit` is left or `max_turns` are over; see Control for what it keeps.
extern "C" __global__ void __launch_bounds__(BLOCK)
relax(const Share* share_in, const Work* work_in, Control* control, Distance delta, Distance cutoff,
      double limit, u32 max_turns) {
    __shared__ Staging staged;
    const Share share = *share_in;
    const Work work = *work_in;
    if (threadIdx.x == 0) staged.near_count[0] = staged.near_count[1] = staged.far_count = 0;
    __syncthreads();

    u32 turn = control->turn, far_side = control->far_side;
    const u32 last_turn = turn + max_turns;
    Distance threshold = control->threshold, window = control->window;
    double floor = 0;
    u64 relaxed = 0, steps = 0;
    bool after_split = false;

    while (true) {
        const Turn now = begin_turn(work, control, turn, far_side);
        u32 far_count = min(__ldcg(now.far_count), work.capacity);
        u32 spilled = __ldcg(&control->any_spilled);
        Distance least_far = current(&control->least_far[far_side]);
        clear_ahead(control, turn, far_side);
        if (now.near_in_count + now.hubs_in_count > 0) {
            floor = (double)window;
            if (turn == last_turn) break;
            Relax visit{share, work, control, staged, now, threshold, cutoff, 0};
            relaxed += take_step(visit);
            steps++;
            after_split = false;
        } else {
            grid_barrier(control);  // all have read what the window moves by
            if (spilled) {
                floor = (double)window;
                if (turn == last_turn) break;
                if (blockIdx.x == 0 && threadIdx.x == 0) control->any_spilled = 0;
                recover_spilled(share, work, now);
            } else {
                Distance from = after_split ? least_far : threshold;
                floor = far_count ? (double)from : (double)INFINITE;
                if (far_count == 0 || floor > limit || turn == last_turn) break;
                window = from;
                threshold = from < NOTHING - delta ? plus(from, delta) : NOTHING;
                if (blockIdx.x == 0 && threadIdx.x == 0) control->least_far[far_side] = NOTHING;
                split_far(work, control, now, far_count, far_side, window, threshold);
                far_side ^= 1;
                after_split = true;
            }
        }
        turn++;
        grid_barrier(control);
    }
    atomicAdd(&control->relaxations, relaxed);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        control->steps += steps;
        control->turn = turn;
        control->far_side = far_side;
        control->threshold = threshold;
        control->window = window;
        control->floor = floor;
    }
}
