// Many sources, one warp each: Dijkstra with a binary heap of its own, and decrease-key (S15).
//
// place[v] is where v stands in the heap, counted from 1; 0: not in it. One lane keeps the heap; the
// arcs of the vertex that left it are looked at by all lanes. A vertex leaves once, so with weights
// that are not negative the work is Dijkstra's, whatever they are.
#pragma once

#define PATROL 128  // threads of a block, 32 for each source

struct Heap {
    Entry* entries;  // entries[0] is not used, so that children of i are 2i and 2i + 1, side by side
    u32* place;
    u32 size;

    __device__ __forceinline__ void put(u32 at, const Entry& entry) {
        entries[at] = entry;
        place[entry.vertex] = at;
    }

    // From `at`, which is free, towards the root, to where the entry belongs.
    __device__ __forceinline__ void rise(u32 at, const Entry& entry) {
        while (at > 1) {
            Entry parent = entries[at / 2];
            if (parent.distance <= entry.distance) break;
            put(at, parent);
            at /= 2;
        }
        put(at, entry);
    }

    __device__ __forceinline__ void lower(u32 vertex, Distance distance) {
        Entry entry;
        entry.distance = distance;
        entry.vertex = vertex;
        u32 at = place[vertex];
        rise(at ? at : ++size, entry);
    }

    __device__ __forceinline__ Entry take() {
        Entry top = entries[1], last = entries[size--];
        place[top.vertex] = 0;
        u32 at = 1;
        while (2 * at <= size) {
            u32 child = 2 * at;
            Entry least = entries[child];
            if (child < size) {
                Entry other = entries[child + 1];
                if (other.distance < least.distance) {
                    least = other;
                    child++;
                }
            }
            if (last.distance <= least.distance) break;
            put(at, least);
            at = child;
        }
        if (size) put(at, last);
        return top;
    }
};

// entries: vertices + 2 for each warp; places: vertices for each warp; counter: the next source.
extern "C" __global__ void __launch_bounds__(PATROL)
    heap(const Offset* offsets, const Arc* arcs, u32 vertices, const u32* sources, u32 count,
         Distance* rows, Entry* entries, u32* places, u32* counter, u32* overflowed) {
    u32 lane = threadIdx.x % 32;
    u64 warp = ((u64)blockIdx.x * PATROL + threadIdx.x) / 32;
    Heap heap;
    heap.entries = entries + warp * ((u64)vertices + 2);
    heap.place = places + warp * vertices;

    for (;;) {
        u32 job = lane == 0 ? atomicAdd(counter, 1) : 0;
        job = __shfl_sync(FULL, job, 0);
        if (job >= count) return;
        Distance* distance = rows + (u64)job * vertices;
        for (u32 v = lane; v < vertices; v += 32) {
            distance[v] = NOTHING;
            heap.place[v] = 0;
        }
        __syncwarp();
        heap.size = 0;
        if (lane == 0) {
            distance[sources[job]] = 0;
            heap.lower(sources[job], 0);
        }
        for (;;) {
            Entry taken;
            taken.vertex = NO_VERTEX;
            taken.distance = 0;
            if (lane == 0 && heap.size) taken = heap.take();
            u32 vertex = __shfl_sync(FULL, taken.vertex, 0);
            if (vertex == NO_VERTEX) break;
            Distance known = __shfl_sync(FULL, taken.distance, 0);
            Offset end = offsets[vertex + 1];
            for (Offset first = offsets[vertex]; first < end; first += 32) {
                Arc arc;
                Distance sum = NOTHING;
                arc.head = 0;
                if (first + lane < end) {
                    arc = load(arcs + first + lane);
                    sum = plus(known, arc.weight);
                    if (sum < known || sum >= NOTHING) {
                        *overflowed = 1;
                        sum = NOTHING;
                    }
                }
                u32 nearer = __ballot_sync(FULL, sum < distance[arc.head]);
                while (nearer) {
                    u32 from = __ffs(nearer) - 1;
                    nearer &= nearer - 1;
                    u32 head = __shfl_sync(FULL, arc.head, from);
                    Distance reach = __shfl_sync(FULL, sum, from);
                    if (lane == 0 && reach < distance[head]) {  // an arc beside it may be lighter
                        distance[head] = reach;
                        heap.lower(head, reach);
                    }
                }
                __syncwarp();
            }
        }
        __syncwarp();
    }
}
