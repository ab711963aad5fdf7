// Thick turns: every warp of the grid takes groups of entries from near, when it is ready for them.
#pragma once

#define LEAST_GROUP 4  // entries

__device__ __forceinline__ void relax_groups(Relax<WarpLists>& relax) {
    const u32 count = relax.now.near_in_count, each = places_at_once(count, LEAST_GROUP, 32);
    hand_out(relax.now.taken, count, each, [&](u32 first) {
        u32 index = first + lane();
        bool wanted = lane() < each && index < count;
        Ready ready = {};
        if (wanted) ready = looked_up(relax.rank.share, listed_at(relax.now.near_in, index));
        relax.rows(wanted, ready);
    });
}
