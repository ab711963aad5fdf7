"""Near–far Δ-stepping: Meyer and Sanders (2003), with the two lists of Davidson et al. (2014).

Vertices nearer than a threshold are relaxed first, in any order and as often as they improve. When
none is left, the threshold moves to Δ above the nearest of the other vertices. A small Δ works like
Dijkstra (few relaxations, many buckets), a large one like Bellman-Ford.

The automatic Δ is c · mean weight / mean degree: the weight a path gains until about one vertex
has been settled by each arc of the frontier (the form of Davidson et al. and of cuGraph). c grows
with the work that a device can take at once. Two rules come from sweeps
(docs/what-we-learned.md#delta-and-bucket-width):

* Above `BUSY_DEGREE` arcs a vertex, a frontier keeps a device busy, and Δ shrinks with the degree
  once more, for fewer relaxations; not on one GPU that the graph does not fill, where the time of
  a step does not depend on its relaxations.
* Below it, such a GPU, and several GPUs, have room for more work: Δ grows with the room that the
  vertices leave, and with the square root of the number of GPUs.

On GPUs buckets begin at a small part of Δ and grow if arcs are many. Few vertices hold most of the
arcs then, and paths to them are short: narrow buckets relax them in order, nearly once each. Wide
buckets are enough for the many others.
"""

from __future__ import annotations

import math

from groute_py.device.base import Buckets, alike
from groute_py.graph.facts import Facts

PARALLELISM = {"cpu": 8.0, "cuda": 128.0}
"""c by device; that of GPUs is measured, see docs/what-we-learned.md#delta-and-bucket-width."""

BUSY_DEGREE = 16.0
"""Mean degree beyond which Δ shrinks with its square."""

FILLS_GPU, MOST_ROOM = 1 << 22, 4.0
"""Vertices whose frontiers keep a GPU busy; a smaller graph counts as leaving room up to this."""

TEAM_GROWTH = 8.0
"""Widest bucket of a team of threads over Δ, which takes half as many relaxations again."""

GROWTH = 256.0
"""Δ over the first bucket, where the graph fills a GPU."""

MANY_ARCS, GROWING_DEGREE = 1 << 23, 16.0
"""Arcs, and mean degree, from which buckets grow."""

LEVELS_AHEAD = 1024.0
"""Width of a bucket of breadth-first search on GPUs, where levels come nearly in order by
themselves; measured, see docs/what-we-learned.md#methods."""

PULL_BELOW = 2.0
"""Mean weights: few arcs lead out of a bucket that is as wide."""

WEIGHT_CLASS_UNITS, LEAST_UNIT = 256, 2.0**-100
"""Units of weight classes to the mean weight, of which the highest class is half; and what float32
holds."""

WIDEST_GROWN = 1e38
"""Δ up to which they do: the filter tells parts of Δ apart by a float32; see
`kernels/sssp/distance_filter.cuh`."""


RANK_BUCKETS = {"cpu": 1024.0, "cuda": 4.0}
"""Buckets of all ranks of weights, where a path has the greatest of its arcs: wide ones take few
steps, which counts on a GPU, and up to twenty times the relaxations, which count on a core."""


def automatic_buckets(facts: Facts, device: str, ranks: int) -> Buckets:
    """Buckets of width Δ; on a GPU and with many arcs the first is narrower.

    On a CPU a team of threads may widen those of a graph with few arcs a vertex.
    """
    if facts.has_maxima:
        return alike(usable(facts.greatest / RANK_BUCKETS[device], facts))
    delta = automatic_delta(facts, device, ranks)
    if device == "cpu" and _degree(facts) <= BUSY_DEGREE:
        return Buckets(delta, delta * TEAM_GROWTH)
    many = facts.arc_count >= MANY_ARCS and facts.mean_degree >= GROWING_DEGREE
    if device != "cuda" or not many or delta > WIDEST_GROWN:
        return alike(delta)
    return Buckets(usable(delta * _room(facts) / GROWTH, facts), delta)


def buckets_of_levels(facts: Facts, device: str, ranks: int) -> Buckets:
    """Buckets of near–far relaxation where every arc counts 1."""
    in_order = ranks == 1 or facts.mean_degree < BUSY_DEGREE
    if device == "cuda" and in_order:
        return alike(LEVELS_AHEAD)
    if device == "cpu":
        return automatic_buckets(facts, device, ranks)
    return alike(automatic_delta(facts, device, ranks))


def pull_below_width(facts: Facts, buckets: Buckets) -> float:
    """Return the width of buckets from which pulling deferred arcs does not pay; 0 if never.

    With negative weights it never does: a far tail may improve a vertex.
    """
    pulls = buckets.first < buckets.widest and not facts.has_negative
    return PULL_BELOW * facts.mean if pulls else 0.0


def weight_class_unit(facts: Facts) -> float:
    """A power of two, a 256th of the mean weight or down to half of it; for integers at least 1."""
    least = LEAST_UNIT if facts.weight_type.kind == "f" else 1.0
    units = min(max(facts.mean, least), WIDEST_GROWN) / WEIGHT_CLASS_UNITS
    return max(2.0 ** math.floor(math.log2(units)), least)


def automatic_delta(facts: Facts, device: str, ranks: int) -> float:
    """Δ from the graph: at least 1 for integers, so that a bucket always moves."""
    if device != "cuda":
        return stride(facts, device)
    delta = _plain(facts, device)
    if _degree(facts) <= BUSY_DEGREE:
        delta *= _room(facts) * math.sqrt(ranks)
    elif ranks > 1 or _room(facts) == 1.0:
        delta *= BUSY_DEGREE / _degree(facts)
    return usable(delta, facts)


def stride(facts: Facts, device: str) -> float:
    """The width of a step towards targets: Δ without the factor for room on the device."""
    return usable(_plain(facts, device) * min(BUSY_DEGREE / _degree(facts), 1.0), facts)


def _degree(facts: Facts) -> float:
    return max(facts.mean_degree, 1.0)


def _plain(facts: Facts, device: str) -> float:
    return PARALLELISM[device] * facts.mean / _degree(facts)


def usable(delta: float, facts: Facts) -> float:
    """Return Δ, at least 1 and whole for integers, so that a bucket moves."""
    if facts.weight_type.kind != "f":
        return max(round(delta), 1)
    return delta if delta > 0 else 1.0


def _room(facts: Facts) -> float:
    """Return how many times the work of such a graph a GPU could take at once."""
    return min(max(FILLS_GPU / facts.vertex_count, 1.0), MOST_ROOM)
