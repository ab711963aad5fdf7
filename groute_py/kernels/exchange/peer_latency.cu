// How long a load from a peer's memory takes: one thread goes round a ring of numbers there, each
// of which says where the next one lies. Volatile, so that no cache of this GPU answers.

extern "C" __global__ void peer_latency(const volatile unsigned* next, unsigned steps, unsigned* end) {
    unsigned at = 0;
    for (unsigned i = 0; i < steps; i++) at = next[at];
    *end = at;
}
