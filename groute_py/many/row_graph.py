"""A graph as rows are solved on it, and what of it stays from one job to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.engine.options import Options
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Facts, facts_of
from groute_py.graph.ids import Numbering
from groute_py.many.choose import Choice
from groute_py.many.precision import one_precision
from groute_py.many.solve import Solving
from groute_py.many.storage.folder import digest_of
from groute_py.turns.expanded import layout_of, solved_form
from groute_py.turns.layout import Layout


@dataclass(frozen=True, eq=False)
class RowGraph:
    """A graph in host memory, in the form in which it is solved.

    Attributes:
        graph: of one precision, turned round and expanded by turns if that was asked for.
        facts: of it.
        given: the type of the weights that were given, before they were of one precision.
        direction: of the rows, in the graph as it was given.
        layout: of the vertices in ``graph``, which turns may have expanded.
        numbering: of the vertices.
        attribution: the credit, as in a `Graph`.
    """

    graph: Graph
    facts: Facts
    given: np.dtype[Any]
    direction: Direction
    layout: Layout
    numbering: Numbering
    attribution: str

    @cached_property
    def digest(self) -> str:
        """See `digest_of`."""
        return digest_of(self.graph)

    @classmethod
    def of(cls, graph: Graph, direction: Direction, wanted: Direction) -> RowGraph:
        """Made for rows in a wanted direction, of a graph that has arcs of some direction."""
        if wanted is not direction:
            graph = graph.reversed()
        whole = one_precision(solved_form(graph).to_host())
        about = wanted, layout_of(graph), graph.numbering, graph.attribution
        return cls(whole, facts_of(whole), graph.weights.dtype, *about)


class KeptRowGraph:
    """What stays on a rank between the jobs of one graph: the graph itself, and the last solver.

    All ranks keep and drop together.

    Attributes:
        graph: None if none is kept.
    """

    def __init__(self) -> None:
        self.graph: RowGraph | None = None
        self._solving: tuple[tuple[Any, ...], Choice, Solving] | None = None
        self._apart: dict[str, str | None] = {}

    def apart(self, device: str, found: Callable[[], str | None]) -> str | None:
        """Why the ranks' GPUs cannot hold one matrix together, if so; found out once."""
        if device not in self._apart:
            self._apart[device] = found()
        return self._apart[device]

    def in_place(self, options: Options) -> Choice | None:
        """The method that is ready to solve as for an earlier job, if one is."""
        if self._solving is None or not self._solving[2].is_open:
            return None
        return self._solving[1] if self._solving[0] == _likeness(options) else None

    def solving(
        self,
        graph: Graph,
        height: NDArray[Any] | None,
        options: Options,
        choice: Choice,
        channel: Channel,
    ) -> Solving:
        """The solver that is kept, if it is of the same method; else a new one in its place.

        With potentials, which depend on the sources, it is not kept.

        Args:
            graph, height, options, choice, channel: as for `Solving`; the graph and the channel are
                always the same.
        """
        like, same = _likeness(options), (choice.algorithm, choice.device)
        if height is None and self._solving is not None:
            before, by, kept = self._solving
            if before == like and (by.algorithm, by.device) == same:
                return kept
        self._solving = None  # before the next one needs the room
        found = Solving(graph, height, options, choice, channel, stays=height is None)
        if height is None:
            self._solving = like, choice, found
        return found

    def drop(self) -> None:
        """Keep nothing."""
        self.graph = self._solving = None


def _likeness(options: Options) -> tuple[Any, ...]:
    """What of the options a solver depends on."""
    return options.algorithm, options.predecessors, options.memory_limit
