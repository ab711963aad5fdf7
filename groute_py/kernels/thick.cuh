// Thick steps: each warp of the grid takes groups of entries of near and of the inbox, first statically, then by an atomic
// ticket.
#pragma once

#define FEW 4u     // largest group if the list is short
#define IN_TURN 4  // all but 1 / IN_TURN of the groups are static: atomics on one word may take longer than short rows

// Relaxes near and the first `sent` entries of the inbox.
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
