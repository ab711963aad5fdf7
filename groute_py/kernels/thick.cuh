// Thick turns: every warp of the grid takes groups of entries from near, when it is ready for them.
#pragma once

// `fetch(i)` brings entry i with its row. Which warp takes its next group is settled while it works
// on the one before.
template <class Fetch>
__device__ __forceinline__ void relax_groups(Relax<WarpLists>& relax, Fetch fetch) {
    const u32 count = relax.now.near_in_count;
    u32 next = grid_warp() * 32;
    while (next < count) {
        u32 index = next + lane(), ticket = 0;
        if (lane() == 0) ticket = atomicAdd(relax.now.taken, 32u);
        bool wanted = index < count;
        Ready ready = {};
        if (wanted) ready = fetch(index);
        relax.rows(wanted, ready);
        next = grid_warps() * 32 + __shfl_sync(~0u, ticket, 0);
    }
}
