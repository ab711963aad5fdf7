// Thick turns: every warp of the grid takes groups of entries from near, when it is ready for them.
#pragma once

#define LEAST_GROUP 4  // entries

// `fetch(i)` brings entry i with its row.
template <class Fetch>
__device__ __forceinline__ void relax_groups(Relax<WarpLists>& relax, Fetch fetch) {
    const u32 count = relax.now.near_in_count, each = places_at_once(count, LEAST_GROUP, 32);
    hand_out(relax.now.taken, count, each, [&](u32 first) {
        u32 index = first + lane();
        bool wanted = lane() < each && index < count;
        Ready ready = {};
        if (wanted) ready = fetch(index);
        relax.rows(wanted, ready);
    });
}
