
#include "sssp/rows.cuh"
#include "sssp/step.cuh"

// Without peers, between slices: moves near entries at or above a lowered threshold to far. The other entries and the
// row chunks go to the lists of the next step, which the host then makes current.
extern "C" __global__ void narrow(const __grid_constant__ Work work, Control* control, Distance threshold) {
    const u32 step = control->step, near_count = min(control->near_count[step % 3], work.capacity);
    const u32 chunk_count = min(control->chunk_count[step % 3], work.chunk_capacity);
    const StepLists now = begin_step(work, control, step, control->far_side, near_count, chunk_count);
    u32 rounded = (now.near_in_count + 31) & ~31u, stride = gridDim.x * blockDim.x;
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 i = thread; i < rounded; i += stride) {
        Ready ready = {};
        bool live = false;
        if (i < now.near_in_count) {
            ready = entry_in(now.near_in, i);
            live = ready.distance == load_l2(&work.distance[ready.vertex]);
        }
        bool close = live && ready.distance < threshold;
        warp_append(work, control, now.near_out, entry_of(ready), ready.tail, close);
        warp_append(work, control, now.far, entry_of(ready), ready.tail, live && !close);
    }
    for (u32 i = thread; i < now.chunks_in_count; i += stride)
        now.chunks_out[atomicAdd(now.chunks_out_count, 1u)] = load(&now.chunks_in[i]);
}
