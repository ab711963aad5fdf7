// Thick turns: every warp of the grid takes groups of entries from near, when it is ready for them.
#pragma once

#define GROUPS 4  // that a warp takes at least, if they are of more than LEAST_GROUP entries
#define LEAST_GROUP 4

// `fetch(i)` brings entry i with its row. Which warp takes its next group is settled while it works
// on the one before.
template <class Fetch>
__device__ __forceinline__ void relax_groups(Relax<WarpLists>& relax, Fetch fetch) {
    const u32 count = relax.now.near_in_count, warps = grid_warps();
    const u32 each = min(max(count / (GROUPS * warps), (u32)LEAST_GROUP), 32u);
    u32 next = grid_warp() * each;
    while (next < count) {
        u32 index = next + lane(), ticket = 0;
        if (lane() == 0) ticket = atomicAdd(relax.now.taken, each);
        bool wanted = lane() < each && index < count;
        Ready ready = {};
        if (wanted) ready = fetch(index);
        relax.rows(wanted, ready);
        next = warps * each + __shfl_sync(~0u, ticket, 0);
    }
}
