// What a step of the loop in sssp/near_far.cu does.
//
// The table is read from the top; `-` is either. "beyond" is of the pull bound if a pull is due, else of far. All
// threads of a rank choose the same action, because the counters that they ask about have the same values for all of
// them; see sssp/step.cuh. Ranks may choose different ones.
//
// | over | behind | listed | arrivals | served | spilled | pull due | far | beyond | action           |
// |------|--------|--------|----------|--------|---------|----------|-----|--------|------------------|
// | yes  | -      | -      | -        | -      | -       | -        | -   | -      | end              |
// | no   | yes    | -      | -        | -      | -       | -        | -   | -      | join_bucket      |
// | no   | no     | yes    | -        | -      | -       | -        | -   | -      | relax            |
// | no   | no     | no     | yes      | no     | -       | -        | -   | -      | relax            |
// | no   | no     | no     | yes      | yes    | yes     | -        | -   | -      | relax            |
// | no   | no     | no     | no       | -      | yes     | -        | -   | -      | recover_spilled  |
// | no   | no     | no     | -        | -      | no      | yes      | -   | no     | pull_deferred    |
// | no   | no     | no     | -        | -      | no      | yes      | -   | yes    | idle             |
// | no   | no     | no     | -        | -      | no      | no       | yes | no     | open_bucket      |
// | no   | no     | no     | -        | -      | no      | no       | yes | yes    | idle             |
// | no   | no     | no     | -        | -      | no      | no       | no  | -      | idle             |
//
// In the last five rows there are no arrivals unless `served`. "relax" is local_step if the work is short, else
// grid_step. Without peers "idle" is end.
#pragma once

enum class Action : unsigned {
    end,              // leave the loop
    local_step,       // relax near and arrivals, each block for itself
    grid_step,        // relax near, row chunks and arrivals with all warps of the grid
    recover_spilled,  // list the vertices for which near had no place
    pull_deferred,    // pull the deferred arcs, and open the bucket at the pull bound
    open_bucket,      // raise the threshold, split far
    join_bucket,      // the same for the bucket that peers have opened; the step begins again then
    idle,             // list arrivals; without any, the leader waits for peers inside the barrier
};

// `Conditions` has a function for each column of the table. They are asked from left to right, and no more than the
// action depends on: each costs loads and registers in all threads of the grid.
template <class Conditions>
__device__ __forceinline__ Action choose_action(const Conditions& now) {
    if (now.is_over()) return Action::end;
    if (now.is_behind()) return Action::join_bucket;
    if (now.has_listed() || (now.has_arrivals() && (!now.has_served() || now.has_spilled())))
        return now.is_short() ? Action::local_step : Action::grid_step;
    if (now.has_spilled()) return Action::recover_spilled;
    if (now.is_pull_due()) {
        if (!now.is_bound_beyond()) return Action::pull_deferred;
    } else if (now.has_far() && !now.is_far_beyond()) {
        return Action::open_bucket;
    }
    return now.has_peers() ? Action::idle : Action::end;
}
