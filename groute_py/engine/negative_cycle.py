"""Watching a solve with negative weights for a cycle that makes it endless.

Distances of vertices on a reachable negative cycle sink for ever. After many turns each of them is
reached best from its predecessor on the cycle, so the map from vertex to best tail closes a cycle
there. Such a cycle has weight ≤ 0 (sum the inequalities distance[tail] + weight ≤ distance[head]
around it), and its exact weight tells a negative one from one of weight zero. So a report is always
right, whatever moment the distances were taken at; and looking again each time the work has doubled
finds the cycle at the cost of a few passes over the arcs. (Cherkassky and Goldberg, "Negative-cycle
detection algorithms", 1999, study this family.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.comm.termination import Verdict
from groute_py.device.base import unreached
from groute_py.engine.agree import on_root
from groute_py.errors import NegativeCycleError
from groute_py.graph.facts import Facts
from groute_py.graph.ids import Numbering
from groute_py.kernels.cpu import cycle
from groute_py.partition.order import Order
from groute_py.partition.share import Share


class CycleWatch:
    """Looks for a negative cycle each time the work has doubled; every rank has one.

    Args:
        channel: of the run.
        share: this rank's.
        order: of the vertices in the shares; only rank 0's counts.
        numbering: the ids of the input's vertices on rank 0, None elsewhere.
        facts: of the graph.
        distances: takes this rank's distances.
    """

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
        self._due = 4 * facts.arc_count

    def __call__(self, verdict: Verdict) -> None:
        """Look if it is time; all ranks see the same verdicts, so all look together."""
        if verdict.relaxations <= self._due:
            return
        self._due = 2 * verdict.relaxations
        self.look()

    def look(self) -> None:
        """Raise `NegativeCycleError` on every rank if a negative cycle shows; collective."""
        own = self._distances()
        distances = self._channel.collect(own)
        columns = [self._channel.collect(column) for column in candidates(self._share, own)]
        on_root(self._channel, lambda: self._look(distances, columns))

    def _look(self, distances: Any, columns: Any) -> None:
        assert self._numbering is not None
        found = find_cycle(
            np.concatenate(distances), map(Candidates._make, zip(*columns, strict=True))
        )
        if found is not None:
            vertices, weight = found
            in_input = self._order.in_input(np.array(vertices))
            ids = self._numbering.ids_of(in_input).tolist()
            raise NegativeCycleError(in_input.tolist(), weight, ids=ids)


class Candidates(NamedTuple):
    """The best arc of one rank to each head that it can reach.

    Attributes:
        heads: int64, shape (k,), global numbers, each once.
        reaches: shape (k,), the distance by way of the arc.
        tails: int64, shape (k,), global numbers.
        weights: shape (k,), in the distance type.
    """

    heads: NDArray[np.int64]
    reaches: NDArray[Any]
    tails: NDArray[np.int64]
    weights: NDArray[Any]


def candidates(share: Share, distances: NDArray[Any]) -> Candidates:
    """The best arcs of a share, whose owned vertices have these distances."""
    nothing = unreached(distances.dtype)
    weights = share.weights.astype(distances.dtype, copy=False)
    known = np.full(share.local_count, nothing, distances.dtype)
    known[: share.own_count] = distances
    tails, arcs = cycle.best_arcs(share.offsets, share.heads, weights, known, nothing)
    heads = np.flatnonzero(tails >= 0)
    tails, weights = tails[heads], weights[arcs[heads]]
    owned = np.arange(share.first, share.first + share.own_count)
    numbers = np.concatenate([owned, share.halo])
    return Candidates(numbers[heads], known[tails] + weights, numbers[tails], weights)


def find_cycle(
    distances: NDArray[Any], parts: Iterable[Candidates]
) -> tuple[list[int], float] | None:
    """A negative cycle that shows in ``distances``, as (vertices, weight), or None.

    Args:
        distances: shape (n,), upper bounds that relaxation has reached.
        parts: every rank's.

    Returns:
        The vertices in path order, the first repeated at the end, and the exact total weight.
    """
    best, tails = distances.copy(), np.full(len(distances), -1, np.int64)
    weights = np.zeros_like(distances)
    for part in parts:
        level = (part.reaches == best[part.heads]) & (tails[part.heads] < 0)
        better = level | (part.reaches < best[part.heads])
        heads = part.heads[better]
        best[heads], tails[heads] = part.reaches[better], part.tails[better]
        weights[heads] = part.weights[better]
    for start in cycle.starts(tails):
        vertices, used = [int(start)], []
        while len(vertices) == 1 or vertices[-1] != start:
            used.append(weights[vertices[-1]].item())
            vertices.append(int(tails[vertices[-1]]))
        total = math.fsum(used) if weights.dtype.kind == "f" else sum(used)
        if total < 0:
            return vertices[::-1], total
    return None
