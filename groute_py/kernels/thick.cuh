// Thick turns: every warp of the grid takes groups of entries, from near and of what has been sent, in turn and then as it
// is ready for them.
#pragma once

#define FEW 4u     // entries that a warp takes at once, if there are no more than as many for each
#define IN_TURN 4  // of so many groups all but one: an atomic each, all at one place, may take longer than short rows

// Near, and the first `sent` of what peers have sent.
__device__ __forceinline__ void relax_groups(Relax<WarpLists>& relax, u32 sent) {
    const u32 listed = relax.now.near_in_count, count = listed + sent, warps = grid_warps();
    const u32 each = places_at_once(count, SHARES_OF_NEAR, min(count / warps + 1, FEW), 32);
    const u32 groups = count / (warps * each);
    hand_out(relax.now.taken, count, each, max(groups - groups / IN_TURN, 1u), [&](u32 first) {
        const u32 index = first + lane();
        const bool wanted = lane() < each && index < count;
        const bool is_sent = exchanges(relax.rank.peers) && index >= listed;
        Ready ready = {};
        if (wanted && is_sent) ready = of_entry(relax.sent(index - listed), NO_VERTEX);
        else if (wanted) ready = listed_at(relax.now.near_in, index);
        if (wanted) ready = looked_up(relax.rank.share, ready);
        relax.rows(wanted, ready, is_sent);
    });
}
