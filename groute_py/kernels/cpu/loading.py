"""Loading of trips on shortest paths, over a hierarchy from separators with lengths in float64.

Lengths are as in `groute_py.kernels.cpu.customization`, with infinity for no way. A *slot* is twice
an arc upward of the hierarchy, and one more for its way down. Trips are loaded on slots first, and
then handed from each slot to the two below it until they are on arcs of the graph (the idea of
elimination trees for traffic assignment: Buchhold, Sanders and Wagner, "Real-time traffic
assignment using engineered customizable contraction hierarchies", 2019).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import inlined_kernel, kernel


@kernel
def fold_costs(slots: Any, costs: Any, lengths: Any, lightest: Any) -> None:
    """Lower lengths (infinite before) to costs of arcs, and note the first arc of the least cost.

    ``slots`` (int32, (m,)) are −1 for arcs that no path takes; no cost is negative. ``lightest``
    (int32, (2 a,)) is filled where a length becomes finite.
    """
    for arc in range(len(slots)):
        slot = slots[arc]
        if slot >= 0 and costs[arc] < lengths[slot]:
            lengths[slot] = costs[arc]
            lightest[slot] = arc


@kernel
def load_trips(
    origins: Any, ends: Any, trips: Any, arcs: Any, lengths: Any, flows: Any
) -> tuple[float, float]:
    """Add trips of k origins, each a lane, to flows (2 a,) of the slots on their shortest paths.

    The ``ends`` are where the destinations of each origin begin (int64, (k + 1,)), and these; all
    are numbers, and no trip is negative. The ``arcs`` are offsets, heads and tails of the
    hierarchy, ``lengths`` customized. Returns the sum of trips times their distance, and of the
    trips that no path serves.
    """
    (starts, destinations), (offsets, heads, _) = ends, arcs
    count, lanes = len(offsets) - 1, len(origins)
    reach, via, rises = _ways(origins, arcs, lengths)
    load = np.zeros((count, lanes))
    cost = lost = 0.0
    for lane in range(lanes):
        for place in range(starts[lane], starts[lane + 1]):
            distance = reach[destinations[place], lane]
            if distance < np.inf:
                cost += distance * trips[place]
                load[destinations[place], lane] += trips[place]
            else:
                lost += trips[place]
    for low in range(count - 1, -1, -1):
        for lane in range(lanes):
            slot = via[low, lane]
            if load[low, lane] > 0 and slot >= 0 and slot % 2:
                flows[slot] += load[low, lane]
                load[heads[slot // 2], lane] += load[low, lane]
                load[low, lane] = 0
    for lane in range(lanes):
        _descend(origins[lane], lane, arcs, rises, load, flows)
    return cost, lost


@kernel
def lift_values(lower: Any, own: Any, lengths: Any, values: Any) -> None:
    """Give values (2 a,) to the slots that bridge two others: the sum of the values of these.

    The slots of the graph's arcs have theirs. The arguments are as for `hand_down`.
    """
    for slot in range(len(values) - 1, -1, -1):
        if own[slot] != lengths[slot]:
            first, second = _legs(slot, lower, lengths)
            values[slot] = values[first] + values[second]


@kernel
def sum_values(origins: Any, ends: Any, arcs: Any, lengths: Any, values: Any, sums: Any) -> None:
    """Fill sums (q, d) of q values of the slots, (q, 2 a), along the paths that `load_trips` takes.

    A sum is infinite without a path.
    """
    (starts, destinations), (offsets, heads, tails) = ends, arcs
    count, lanes = len(offsets) - 1, len(origins)
    reach, via, rises = _ways(origins, arcs, lengths)
    for kind in range(len(values)):
        total = np.zeros((count, lanes))
        for lane in range(lanes):
            vertex = origins[lane]
            while offsets[vertex] < offsets[vertex + 1]:
                vertex = heads[offsets[vertex]]
                slot = rises[vertex, lane]
                if slot >= 0:
                    total[vertex, lane] = total[tails[slot // 2], lane] + values[kind, slot]
        for low in range(count):
            for lane in range(lanes):
                slot = via[low, lane]
                if slot >= 0 and slot % 2:
                    total[low, lane] = total[heads[slot // 2], lane] + values[kind, slot]
        for lane in range(lanes):
            for place in range(starts[lane], starts[lane + 1]):
                end = destinations[place]
                sums[kind, place] = total[end, lane] if reach[end, lane] < np.inf else np.inf


@kernel
def _ways(origins: Any, arcs: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """Distances from k origins, (n, k), the last slots of the ways, and those of ways upward."""
    offsets, heads, _ = arcs
    count, lanes = len(offsets) - 1, len(origins)
    reach = np.full((count, lanes), np.inf)
    via = np.full((count, lanes), -1, np.int32)
    for lane in range(lanes):
        _climb(origins[lane], lane, arcs, lengths, reach, via)
    rises = via.copy()  # before a way from above takes an ancestor's place
    for low in range(count):
        for arc in range(offsets[low], offsets[low + 1]):
            slot = 2 * arc + 1
            length, head = lengths[slot], heads[arc]
            if length == np.inf:
                continue
            for lane in range(lanes):
                through = reach[head, lane] + length
                if through < reach[low, lane]:
                    reach[low, lane] = through
                    via[low, lane] = slot
    return reach, via, rises


@kernel
def _climb(origin: Any, lane: int, arcs: Any, lengths: Any, reach: Any, via: Any) -> None:
    """Distances from an origin to its ancestors by ways that only go up."""
    offsets, heads, _ = arcs
    reach[origin, lane] = 0
    vertex = origin
    while True:
        here = reach[vertex, lane]
        begin, stop = offsets[vertex], offsets[vertex + 1]
        for arc in range(begin, stop):
            length = here + lengths[2 * arc]
            if length < reach[heads[arc], lane]:
                reach[heads[arc], lane] = length
                via[heads[arc], lane] = 2 * arc
        if begin == stop:
            break
        vertex = heads[begin]


@kernel
def _descend(origin: Any, lane: int, arcs: Any, rises: Any, load: Any, flows: Any) -> None:
    """Move what has come to the ancestors of an origin down to it, the highest first."""
    offsets, heads, tails = arcs
    chain = [origin]
    while offsets[chain[-1]] < offsets[chain[-1] + 1]:
        chain.append(heads[offsets[chain[-1]]])
    for place in range(len(chain) - 1, 0, -1):
        vertex = chain[place]
        amount, slot = load[vertex, lane], rises[vertex, lane]
        if amount > 0:
            flows[slot] += amount
            load[tails[slot // 2], lane] += amount


@kernel
def hand_down(lower: Any, own: Any, lengths: Any, flows: Any) -> None:
    """Hand the flow (2 a,) of each slot to the two slots that it bridges.

    It stays on the slots of the graph's arcs: where the length of `fold_costs`, ``own``, is the
    shortest. ``lower`` are ends and legs of `groute_py.kernels.cpu.customization.list_lower`.
    """
    for slot in range(len(flows)):
        if flows[slot] > 0 and own[slot] != lengths[slot]:
            first, second = _legs(slot, lower, lengths)
            flows[first] += flows[slot]
            flows[second] += flows[slot]
            flows[slot] = 0


@inlined_kernel
def _legs(slot: int, lower: Any, lengths: Any) -> tuple[int, int]:
    """The two slots, over the deepest vertex, whose lengths add up to that of a slot.

    A length is the sum of two others in the very operation that customization made, so that
    comparing for equality finds them. Of ways that cost the same, that over the deepest vertex
    passes none twice, also where arcs cost nothing.
    """
    (ends, legs), side = lower, slot % 2
    for place in range(ends[slot // 2 + 1] - 1, ends[slot // 2] - 1, -1):
        first, second = 2 * legs[place, side] + 1, 2 * legs[place, 1 - side]
        if lengths[slot] == lengths[first] + lengths[second]:
            return first, second
    return slot, slot
