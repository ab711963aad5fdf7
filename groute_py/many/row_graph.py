"""A graph as rows are solved on it, and the solver that stays from one job to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.engine.algorithms.numbers import one_precision
from groute_py.engine.options import Options
from groute_py.errors import NegativeCycleError
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Facts, facts_of
from groute_py.graph.geography import Units
from groute_py.graph.hierarchy import prepared
from groute_py.graph.hierarchy.prepared import PreparedGraph
from groute_py.graph.ids import Numbering
from groute_py.graph.turns.expanded import Layout, layout_of, solved_graph
from groute_py.many.carry import Carrier
from groute_py.many.choose import Choice, why_no_matrix
from groute_py.many.johnson import potentials
from groute_py.many.labels import GraphLabels
from groute_py.many.solve import Solving
from groute_py.many.storage.folder import digest_of


@dataclass(eq=False)
class RowGraph:
    """A graph in host memory, in the form in which it is solved."""

    graph: Graph  # of one precision, in the direction of the rows, perhaps expanded by turns
    facts: Facts
    input_type: np.dtype[Any]  # of weights, before they were of one precision
    direction: Direction  # of the rows, in the graph as it was given
    layout: Layout  # of the vertices in ``graph``
    numbering: Numbering
    attribution: str
    units: Units
    labels: GraphLabels = field(default_factory=GraphLabels)
    _solvings: dict[tuple[Any, ...], tuple[Choice, Solving]] = field(default_factory=dict)
    _no_matrix: dict[str, str | None] = field(default_factory=dict)
    _carrier: Carrier | None = None

    @classmethod
    def of(cls, graph: Graph, direction: Direction, row_direction: Direction) -> RowGraph:
        """Return one for rows in a wanted direction, of a graph with arcs of some direction."""
        if row_direction is not direction:
            graph = graph.reversed()
        whole = one_precision(solved_graph(graph).to_host())
        about = layout_of(graph), graph.numbering, graph.attribution, graph.units
        return cls(whole, facts_of(whole), graph.weights.dtype, row_direction, *about)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that other ranks get, who may not see the file of a prepared graph."""
        hierarchy, order = prepared.hierarchy_of(self.graph), prepared.order_of_prepared(self.graph)
        return vars(self) | {"graph": (prepared.without_hierarchy(self.graph), hierarchy, order)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        graph, hierarchy, order = state["graph"]
        if hierarchy is not None:
            graph = PreparedGraph(graph, hierarchy, order=order)
        vars(self).update(state, graph=graph)

    @cached_property
    def digest(self) -> str:
        """The digest of the arcs, for records of runs."""
        return digest_of(self.graph)

    def carrier(self, names: Sequence[str]) -> Carrier:
        """Return what sums columns along paths."""
        if self._carrier is None or self._carrier.names != names:
            self._carrier = Carrier(self.graph, names)
        return self._carrier

    def heights(self, options: Options, sources: NDArray[np.int64]) -> NDArray[Any] | None:
        """Return Johnson's potentials for some places where weights may be negative, else None.

        A `NegativeCycleError` names the cycle in the graph as it was given.
        """
        if not self.facts.has_negative:
            return None
        plain = Options(device=options.device, predecessors=False)
        try:
            return potentials(self.graph, plain, sources, self.input_type)
        except NegativeCycleError as error:
            raise self.direction.of_cycle(self.layout.cycle(error)) from None

    def no_matrix(self, channel: Channel, options: Options) -> str | None:
        """Return why the ranks' GPUs cannot hold one matrix, found out once. Collective."""
        if options.device not in self._no_matrix:
            self._no_matrix[options.device] = why_no_matrix(channel, options)
        return self._no_matrix[options.device]

    def resident(self, options: Options) -> Choice | None:
        """Return the method that is ready to solve as for an earlier job, if one is."""
        choice, solving = self._solvings.get(_likeness(options), (None, None))
        return choice if solving is not None and solving.is_open else None

    def solving(
        self, height: NDArray[Any] | None, options: Options, choice: Choice, channel: Channel
    ) -> Solving:
        """Return the solver that stays if it is of the same method; else a new one in its place.

        Cores keep one for each of the options that it depends on, a GPU has room for one. With
        potentials, which depend on the sources, it does not stay.
        """
        like = _likeness(options)
        if height is None and like in self._solvings:
            by, solving = self._solvings[like]
            if (by.algorithm, by.device) == (choice.algorithm, choice.device):
                return solving
        if choice.device == "cuda":
            self._solvings.clear()  # before the next one needs the room
        self._solvings.pop(like, None)
        solving = Solving(self.graph, height, options, choice, channel, stays=height is None)
        if height is None:
            self._solvings[like] = choice, solving
        return solving


def _likeness(options: Options) -> tuple[Any, ...]:
    """Return the options that a solver depends on."""
    return options.algorithm, options.predecessors, options.memory_limit, options.bound
