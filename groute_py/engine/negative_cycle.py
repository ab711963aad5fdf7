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
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.comm.termination import Verdict
from groute_py.device.base import unreached
from groute_py.engine.agree import on_root
from groute_py.errors import NegativeCycleError
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts
from groute_py.graph.ids import Numbering
from groute_py.kernels.cpu import cycle
from groute_py.partition.order import Ordered


class CycleWatch:
    """Looks for a negative cycle each time the work has doubled; every rank has one.

    Args:
        channel: of the run.
        ordered: the whole graph on rank 0, None elsewhere.
        numbering: the ids of the input's vertices on rank 0, None elsewhere.
        facts: of the graph.
        distances: takes this rank's distances.
    """

    def __init__(
        self,
        channel: Channel,
        ordered: Ordered | None,
        numbering: Numbering | None,
        facts: Facts,
        distances: Callable[[], NDArray[Any]],
    ) -> None:
        self._channel, self._ordered, self._distances = channel, ordered, distances
        self._numbering = numbering
        self._due = 4 * facts.arc_count

    def __call__(self, verdict: Verdict) -> None:
        """Look if it is time; all ranks see the same verdicts, so all look together."""
        if verdict.relaxations <= self._due:
            return
        self._due = 2 * verdict.relaxations
        self.look()

    def look(self) -> None:
        """Raise `NegativeCycleError` on every rank if a negative cycle shows; collective."""
        collected = self._channel.collect(self._distances())
        on_root(self._channel, lambda: self._look(collected))

    def _look(self, collected: list[NDArray[Any]] | None) -> None:
        assert collected is not None
        assert self._ordered is not None
        assert self._numbering is not None
        found = find_cycle(self._ordered.graph, np.concatenate(collected))
        if found is not None:
            vertices, weight = found
            in_input = self._ordered.in_input(np.array(vertices))
            ids = self._numbering.ids_of(in_input).tolist()
            raise NegativeCycleError(in_input.tolist(), weight, ids=ids)


def find_cycle(graph: Graph, distances: NDArray[Any]) -> tuple[list[int], float] | None:
    """A negative cycle that shows in ``distances``, as (vertices, weight), or None.

    Args:
        graph: the graph.
        distances: shape (n,), upper bounds that relaxation has reached.

    Returns:
        The vertices in path order, the first repeated at the end, and the exact total weight.
    """
    nothing = unreached(distances.dtype)
    weights = graph.weights.astype(distances.dtype, copy=False)
    tails, arcs = cycle.best_arcs(graph.offsets, graph.heads, weights, distances, nothing)
    for start in cycle.starts(tails):
        vertices, used = [int(start)], []
        while len(vertices) == 1 or vertices[-1] != start:
            used.append(weights[arcs[vertices[-1]]].item())
            vertices.append(int(tails[vertices[-1]]))
        total = math.fsum(used) if weights.dtype.kind == "f" else sum(used)
        if total < 0:
            return vertices[::-1], total
    return None
