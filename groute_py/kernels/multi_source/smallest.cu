// The k smallest distances of each vertex over rows of distances, with the rows' numbers and predecessors. While rows
// come, entry j of vertex v lies at j * vertices + v, so that neighbouring threads touch neighbouring words.

#include "multi_source/partial.cuh"

// Takes some rows into the k smallest, which ascend; of equal ones the lowest number counts first. Without any, a
// distance is the largest one, and an owner is -1.
extern "C" __global__ void keep_smallest(const Distance* rows, const int* parents, const u32* numbers, u32 count,
                                         u32 vertices, u32 k, Wide* distances, int* owners, int* before) {
    const u32 vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices) return;
    for (u32 row = 0; row < count; row++) {
        const u64 entry = (u64)row * vertices + vertex;
        if (rows[entry] == UNREACHED) continue;
        const Wide distance = rows[entry];
        const int number = numbers[row];
        u32 place = k;
        for (; place > 0; place--) {
            const u64 above = (u64)(place - 1) * vertices + vertex;
            if (distances[above] < distance || (distances[above] == distance && owners[above] < number)) break;
        }
        if (place == k) continue;
        for (u32 moved = k - 1; moved > place; moved--) {
            const u64 to = (u64)moved * vertices + vertex;
            distances[to] = distances[to - vertices];
            owners[to] = owners[to - vertices];
            before[to] = before[to - vertices];
        }
        const u64 to = (u64)place * vertices + vertex;
        distances[to] = distance;
        owners[to] = number;
        before[to] = parents[entry];
    }
}

// Puts some words (k, vertices) into lines of k for each vertex.
template <class Word>
__device__ __forceinline__ void turn(const Word* words, u32 vertices, u32 k, Word* lines) {
    const u64 entry = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (entry < (u64)vertices * k) lines[entry] = words[entry % k * vertices + entry / k];
}

extern "C" __global__ void turn_distances(const Wide* words, u32 vertices, u32 k, Wide* lines) {
    turn(words, vertices, k, lines);
}

extern "C" __global__ void turn_numbers(const int* words, u32 vertices, u32 k, int* lines) {
    turn(words, vertices, k, lines);
}
