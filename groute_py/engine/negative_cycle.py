"""Detection of a reachable negative cycle during a solve.

Distances of vertices on a reachable negative cycle sink for ever. After many turns each of them is
most often reached best from its predecessor on the cycle, so the map from vertex to best tail
closes a cycle there. Such a cycle has weight ≤ 0 (sum the inequalities distance[tail] + weight ≤
distance[head] around it), and its exact weight tells a negative one from one of weight zero. So a
report is always right, whatever moment the distances were taken at.

Where several tails are equally good, or distances sink in step with the looks, the map may miss the
cycle each time. So a look goes on from there by sweeps of Bellman-Ford, in which each vertex that
becomes nearer takes a new tail. Follow the tails back from one that did so in sweep k: each step
leads to a vertex that last did so one sweep earlier at the most, so where k is more than there are
vertices one of them comes twice; and tails that are taken in this way close none but negative
cycles, but for rounding (Cherkassky and Goldberg, "Negative-cycle detection algorithms", 1999).
Looks come each time that the work has doubled, and sweep for a part of that work: so a cycle is
found in the end.

With float weights a cycle counts as negative only beyond the tolerance of
`groute_py.results.tolerance`. Cycles of weight zero may sink by rounding, lap after lap, and
there is no distance to arrive at. That shows in three ways: the tails close a cycle that is
negative within the tolerance; or distances have sunk between looks by no more than so many
roundings can do; or the work has become far too much. Then `SinkingError` ends the run, and the
solver solves in another way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.comm.termination import Verdict
from groute_py.device.base import unreached
from groute_py.errors import NegativeCycleError, RunError, everywhere
from groute_py.graph.facts import Facts
from groute_py.graph.ids import Numbering
from groute_py.kernels.cpu import cycle
from groute_py.partition.order import Order
from groute_py.partition.share import Share
from groute_py.results.tolerance import cycle_tolerance

PATIENCE = 4
"""Looks in a row that see nothing but rounding before that counts as for ever."""

TELLING = 1e-3
"""Share of the greatest distance: roundings that could add up to more are not told from progress.
float32 comes there after some thousand relaxations."""

MOST_PASSES, SMALL_ARCS = 64, 1 << 20
"""So often all arcs of a small graph may be relaxed before float distances count as sinking; those
of larger ones the more often, in proportion, since solving in another way costs more there."""

BEFORE_A_LOOK, BEFORE_A_SWEEP = 4, 16
"""Number of times that all arcs have been relaxed before the first look; and, for each of its
sweeps, before a later one."""


class SinkingError(RunError):
    """Float distances sink by rounding, or may; a solve that keeps a tree has an answer."""


class CycleWatch:
    """Looks for a negative cycle each time the work has doubled; every rank has one."""

    def __init__(
        self,
        channel: Channel,
        share: Share,
        order: Order,
        numbering: Numbering | None,
        facts: Facts,
        distances: Callable[[], NDArray[Any]],
    ) -> None:
        self._channel, self._share, self._distances = channel, share, distances
        self._order, self._numbering = order, numbering
        self._due = BEFORE_A_LOOK * facts.arc_count
        self._arcs = max(facts.arc_count, 1)
        self._sinking = Sinking(facts)
        self._tolerance = cycle_tolerance(facts.precision)

    def __call__(self, verdict: Verdict) -> None:
        """Look if it is time; all ranks see the same verdicts, so all look together."""
        if verdict.relaxations <= self._due:
            return
        self._due = 2 * verdict.relaxations
        distances = self.look(verdict.relaxations // (BEFORE_A_SWEEP * self._arcs))
        on_root(self._channel, lambda: self._sinking.look(distances, verdict.relaxations))

    def look(self, sweeps: int = 0) -> NDArray[Any] | None:
        """Raise `NegativeCycleError` on every rank if a negative cycle shows; collective.

        Make so many sweeps if none shows in the distances as they are; rank 0 gets these. One that
        is negative within the tolerance is a `SinkingError`.
        """
        channel, own = self._channel, self._distances()
        weights = self._share.weights.astype(own.dtype, copy=False)
        counts, parts = channel.gather(len(own)), channel.collect(own)
        best = None if parts is None else BestTails(np.concatenate(parts), self._tolerance)
        before = None if best is None else best.distances.copy()
        # more than one a vertex show nothing new, and float distances may sink by rounding for ever
        for _ in range(min(sweeps, sum(counts)) + 1):
            arcs = candidates(self._share, weights, own)
            columns = [channel.collect(column) for column in arcs]
            if not on_root(channel, partial(self._improve, best, columns)):
                break
            cuts = np.cumsum(counts)[:-1]
            own = channel.scatter(None if best is None else np.split(best.distances, cuts))
        return before

    def _improve(self, best: BestTails | None, columns: Any) -> bool:
        assert best is not None
        assert self._numbering is not None
        moved = best.take(map(Candidates._make, zip(*columns, strict=True)))
        result = best.negative_cycle() if moved else None
        if result is not None:
            vertices, weight = result
            in_input = self._order.in_input(np.array(vertices))
            ids = self._numbering.ids_of(in_input).tolist()
            raise NegativeCycleError(in_input.tolist(), weight, ids=ids)
        return moved


class ChangeWatch:
    """Ends a solve without negative weights whose distances fall below 0 all the same.

    The caller's arrays may be shared, and may have been written to since the graph was loaded.
    """

    def __init__(
        self, channel: Channel, facts: Facts, distances: Callable[[], NDArray[Any]]
    ) -> None:
        self._channel, self._name, self._distances = channel, facts.name, distances
        self._due = BEFORE_A_LOOK * facts.arc_count

    def __call__(self, verdict: Verdict) -> None:
        """Look each time the work has doubled; all ranks see the same verdicts."""
        if verdict.relaxations <= self._due:
            return
        self._due = 2 * verdict.relaxations
        if min(self._channel.gather(float(self._distances().min(initial=0)))) < 0:
            raise everywhere(
                RunError(
                    f"weights of {self._name} have become negative since it was loaded; do not "
                    "write to arrays that a graph shares, or let it copy them"
                )
            )


class Sinking:
    """Notices float distances that sink by rounding and by nothing else."""

    def __init__(self, facts: Facts) -> None:
        self._name = facts.name
        self._greatest_weight = max(abs(facts.least), abs(facts.greatest))
        passes = MOST_PASSES * max(facts.arc_count / SMALL_ARCS, 1.0)
        self._most = passes * (facts.arc_count + facts.vertex_count)
        self._before: NDArray[Any] | None = None
        self._looks = 0

    def look(self, distances: NDArray[Any] | None, relaxations: int) -> None:
        """Raise `SinkingError` if nothing but rounding has happened in `PATIENCE` looks.

        Also if the work is beyond what distances take that do not sink. Each relaxation may have
        rounded once.
        """
        assert distances is not None
        if distances.dtype.kind != "f":
            return
        if relaxations > self._most:
            raise self._error()
        before, self._before = self._before, distances
        reached = np.isfinite(distances)
        if before is None or not np.array_equal(reached, np.isfinite(before)):
            self._looks = 0
            return
        scale = max(self._greatest_weight, float(np.abs(distances[reached]).max()))
        rounding = relaxations * float(np.finfo(distances.dtype).eps)
        sunk = float((before[reached] - distances[reached]).max())
        by_rounding = rounding <= TELLING and sunk <= rounding * scale
        self._looks = self._looks + 1 if by_rounding else 0
        if self._looks == PATIENCE:
            raise self._error()

    def _error(self) -> SinkingError:
        return SinkingError(f"the distances in {self._name} sink by rounding")


class Candidates(NamedTuple):
    """The best arc of one rank to each of k heads that it can reach."""

    heads: NDArray[np.int64]  # (k,), global numbers, each once
    reaches: NDArray[Any]  # (k,), the distance by way of the arc
    tails: NDArray[np.int64]  # (k,), global numbers
    weights: NDArray[Any]  # (k,), in the distance type


def candidates(share: Share, weights: NDArray[Any], distances: NDArray[Any]) -> Candidates:
    """Return the best arcs of a share whose own vertices have these distances."""
    nothing = unreached(distances.dtype)
    local = np.full(share.local_count, nothing, distances.dtype)
    local[: share.own_count] = distances
    tails, arcs = cycle.best_arcs(share.offsets, share.heads, weights, local, nothing)
    heads = np.flatnonzero(tails >= 0)
    tails, weights = tails[heads], weights[arcs[heads]]
    own = np.arange(share.first, share.first + share.own_count)
    numbers = np.concatenate([own, share.halo])
    return Candidates(numbers[heads], local[tails] + weights, numbers[tails], weights)


class BestTails:
    """The tail that each vertex is reached best from, as far as arcs have been looked at."""

    def __init__(self, distances: NDArray[Any], tolerance: float = 0.0) -> None:
        self.distances, self._tolerance = distances, tolerance
        self._tails = np.full(len(distances), -1, np.int64)
        self._weights = np.zeros_like(distances)
        self._swept = False

    def take(self, parts: Iterable[Candidates]) -> bool:
        """Take what is nearer, the first time also what is as near; whether there was any."""
        moved = False
        for part in parts:
            better = part.reaches < self.distances[part.heads]
            if not self._swept:
                level = part.reaches == self.distances[part.heads]
                better |= level & (self._tails[part.heads] < 0)
            heads = part.heads[better]
            self.distances[heads], self._tails[heads] = part.reaches[better], part.tails[better]
            self._weights[heads] = part.weights[better]
            moved = moved or len(heads) > 0
        self._swept = True
        return moved

    def negative_cycle(self) -> tuple[list[int], float] | None:
        """Return a negative cycle of the tails, or None.

        The vertices come in path order, the first repeated at the end, with the exact total weight.
        One that is negative within the tolerance alone is a `SinkingError`.
        """
        sinks = False
        for start in cycle.starts(self._tails):
            vertices, weights = [int(start)], []
            while len(vertices) == 1 or vertices[-1] != start:
                weights.append(self._weights[vertices[-1]].item())
                vertices.append(int(self._tails[vertices[-1]]))
            total = math.fsum(weights) if self._weights.dtype.kind == "f" else sum(weights)
            if total < -self._tolerance * sum(map(abs, weights)):
                return vertices[::-1], total
            sinks = sinks or total < 0
        if sinks:
            raise SinkingError("a cycle is negative by rounding alone")
        return None
