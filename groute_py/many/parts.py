"""The parts of a graph that is open on all ranks; each is made when a job first needs it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from groute_py.comm.agree import at_root, on_root
from groute_py.comm.base import Channel
from groute_py.device.registry import kind_of, maker_on_gpu
from groute_py.engine.algorithms.methods import CONTRACTION, devices_of
from groute_py.engine.option_values import SHORTEST
from groute_py.engine.options import Options
from groute_py.engine.preparing import BEFORE, contract
from groute_py.engine.solver import SourceSolver
from groute_py.graph.arrays import host_array
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Facts, counting_hops, facts_of
from groute_py.graph.hierarchy import prepared
from groute_py.graph.hierarchy.prepared import PreparedFile
from groute_py.graph.hierarchy.problems import UnsuitableError, cannot
from groute_py.graph.hierarchy.separators.order import OneOrder
from groute_py.graph.ids import Numbering
from groute_py.graph.scale import Scale
from groute_py.graph.turns.expanded import layout_of
from groute_py.graph.units import number_of
from groute_py.io.tables.columns import BY_TITLE
from groute_py.many.labels import GraphLabels
from groute_py.many.new_weights import with_other_weights
from groute_py.source.base import Supply
from groute_py.source.generated import Generated, count_generated
from groute_py.source.graph_source import GraphSource
from groute_py.source.shared import SharedFile, on_every_rank
from groute_py.source.whole import GraphSupply
from groute_py.system.environment import local_rank

if TYPE_CHECKING:
    from groute_py.device.base import Device
    from groute_py.io.graph_file import MappedFile
    from groute_py.many.row_graph import RowGraph

T = TypeVar("T")


class About(NamedTuple):
    """Facts of a graph; on rank 0 also the ids of its vertices, and the credit to show."""

    facts: Facts
    numbering: Numbering | None
    attribution: str


class Parts:
    """A graph on all ranks; nothing is read before it is needed.

    What one job has made serves the next.
    """

    def __init__(self, source: GraphSource, channel: Channel, options: Options) -> None:
        self.source, self.channel, self.options = source, channel, options
        self._cutoff = options.cutoff  # as it was given
        self.origin = source  # with what lies beside the graph, whatever its weights are now
        self.order: OneOrder | None = None  # on rank 0, of a prepared graph with other weights now
        self.keeps_order = not options.reverse
        self.why_prepared = ""  # on rank 0
        self._file: MappedFile | None = None
        self._is_watched = False
        self._supply: Supply | None = None
        self.supply_direction = self.direction
        self._source_solver: SourceSolver | None = None
        self._graph: Graph | None = None
        self._was_contracted = False
        self._row_graphs: dict[Direction, RowGraph] = {}
        self._labels: dict[Direction, GraphLabels] = {}
        self._memos: dict[str, Any] = {}

    @property
    def direction(self) -> Direction:
        """The direction of the paths from a source of this graph."""
        return Direction(self.options.reverse)

    @property
    def options_again(self) -> Options:
        """The options by which the graph is opened once more."""
        if self.options.objective == SHORTEST:
            return self.options
        return replace(self.options, cutoff=self._cutoff)

    def supply(self) -> Supply:
        """Return the graph's supply; a first call takes the forward graph. Collective."""
        return self.first_supply(Direction.FORWARD, whole=True)

    def first_supply(self, direction: Direction, *, whole: bool) -> Supply:
        """Return the supply of the first call, whatever a later one asks for. Collective."""
        if self._supply is None:
            if not self._is_watched:
                self._file = self.source.watched(self.channel)
                self._is_watched = self.channel.broadcast(self._file is not None)
            source = self.source  # `replace` would lose its cached `file`
            if direction is not source.direction:
                source = replace(source, direction=direction)
            generated = None if whole else self._generated(source)
            self._supply = generated or source.supply(self.channel, whole=whole)
            self.supply_direction = direction
            cutoff, is_other = self.options.cutoff, self.options.objective != SHORTEST
            if isinstance(cutoff, str) or (cutoff is not None and is_other):
                cutoff = on_root(self.channel, partial(self._bound, cutoff))
                self.options = replace(self.options, cutoff=cutoff)
        return self._supply

    def _generated(self, source: GraphSource) -> Generated | None:
        """Count a generated graph of which each rank may make its rows. Collective."""
        spec, options = on_root(self.channel, lambda: source.spec), self.options
        if spec is None:
            return None
        makers = devices_of(options.algorithm)
        on_gpu = maker_on_gpu(options.device, local_rank(self.channel.rank), makers)
        return count_generated(spec, self.channel, on_gpu)

    def _bound(self, cutoff: float | str) -> float | None:
        """The greatest distance within a cutoff, which may have a unit, on rank 0; None for all."""
        assert self._supply is not None
        graph = self._supply.graph()
        if isinstance(cutoff, str):
            cutoff = number_of(cutoff, graph.unit, graph.name)
        bound = cutoff if graph.scale is None else graph.scale.bound(cutoff)
        return bound if math.isfinite(bound) else None

    def about(self) -> About:
        """Return facts of the graph, and load its shares unless they may wait. Collective.

        They wait for a first tree if the graph is to be contracted for it.
        """
        if self._source_solver is None and self.channel.size == 1 and self.options.loads_late:
            supply = self.supply()
            facts = supply.facts(self.channel)
            self.options.check_against(facts)
            if cannot(facts) is None and supply.hierarchy() is None:
                kind_of(self.options.device)
                return About(facts, supply.numbering(), supply.geography().attribution)
        solver = self.source_solver
        return About(solver.facts, solver.numbering, solver.attribution)

    @property
    def source_solver(self) -> SourceSolver:
        """The shares of all ranks, for solves from one source; collective when first used."""
        if self._source_solver is None:
            renumbers = self.options.cutting.renumbers
            supply = self.first_supply(self.direction, whole=renumbers)
            if self.supply_direction is not self.direction:
                supply = on_root(self.channel, lambda: GraphSupply(self.graph(self.direction)))
            if self.channel.size > 1 or renumbers:
                self.options = self.options.with_coordinates(self.origin.what)
            self._source_solver = SourceSolver(supply, self.channel, self.options)
        return self._source_solver

    def forward(self) -> Graph:
        """Return the forward graph, with its own weights; on rank 0, once there is a supply."""
        assert self._supply is not None
        if self.supply_direction is Direction.FORWARD:
            return self._supply.graph()
        # only `following` makes a backward supply that keeps the order, of the forward graph
        if self.keeps_order:
            graph: Graph = self.source.what
            return graph
        return self._supply.graph().reversed()

    def graph(self, direction: Direction | None = None) -> Graph:
        """Return the whole graph in host memory, contracted if it is to be prepared.

        On rank 0, once there is a supply; so `plain_graph`.
        """
        if not self._was_contracted:
            self._contract()
        return self.plain_graph(direction)

    def plain_graph(self, direction: Direction | None = None) -> Graph:
        """Return the whole graph in host memory, perhaps not yet contracted."""
        assert self._supply is not None
        if self._graph is None:
            graph = self._supply.graph()
            self._graph = graph.with_unit_weights() if self.options.hops else graph.to_host()
        sense = self.direction if direction is None else direction
        if sense is self.supply_direction:
            return self._graph
        return self.memo(f"graph {sense.name}", self._graph.reversed)

    @property
    def scale(self) -> Scale | None:
        """The meaning of distances, None for themselves; on rank 0, once there is a supply."""
        if self.options.objective == SHORTEST:
            return None
        assert self._supply is not None
        return self._supply.graph().scale

    def device(self, direction: Direction) -> Device | None:
        """Return the device that has the shares of a direction, if they are loaded."""
        if self._source_solver is None or direction is not self.direction:
            return None
        return self._source_solver.device

    def row_graph(self, direction: Direction | None = None, *, contracts: bool = True) -> RowGraph:
        """Return the whole graph on every rank, in the form for solves of rows. Collective.

        A graph in a native or a prepared file is mapped by the ranks that see it. With
        ``contracts`` it has a hierarchy if it is to be prepared.
        """
        from groute_py.many.row_graph import RowGraph

        row_direction = self.direction if direction is None else direction
        supply, row_graph = self.supply(), self._row_graphs.get(row_direction)

        def is_due() -> bool:
            whole = (self.graph if contracts else self.plain_graph)(self.supply_direction)
            gains = prepared.hierarchy_of(whole) is not None
            return row_graph is None or (gains and prepared.hierarchy_of(row_graph.graph) is None)

        if on_root(self.channel, is_due):

            def make(graph: Graph) -> RowGraph:
                return RowGraph.of(graph, self.supply_direction, row_direction)

            def file() -> PreparedFile | SharedFile | None:  # contraction may have replaced it
                return None if self.options.hops else supply.file()

            seen = on_root(self.channel, file)
            first = at_root(self.channel, lambda: make(self.plain_graph(self.supply_direction)))
            row_graph = on_every_rank(self.channel, first, seen, make)
            assert row_graph is not None
            own = GraphLabels(self.origin)
            row_graph.labels = self._labels.setdefault(row_direction, own)
            row_graph.labels.order = self.order
            self._memos.pop("route", None)  # which has the one from before
            self._row_graphs[row_direction] = row_graph
        assert row_graph is not None
        return row_graph

    def may_wait(self) -> bool:
        """Return whether to try labels before the graph is contracted. Collective."""
        labels, supply = self._labels.get(self.direction), self.supply()
        if not self.options.keeps_prepared:
            return False

        def is_plain() -> bool:
            has_labels = labels is None or not labels.why_not
            return has_labels and not self._was_contracted and supply.hierarchy() is None

        return on_root(self.channel, is_plain)

    def memo(self, name: str, make: Callable[[], T]) -> T:
        """Return what an earlier job made under a name, or make it."""
        if name not in self._memos:
            self._memos[name] = make()
        memo: T = self._memos[name]
        return memo

    def update(self, weights: Any, arcs: Any) -> Facts:
        """Take other weights for all arcs of the forward graph, or for some; return the facts.

        Collective. Orders stay; the shares and the contraction for the weights before do not.
        """
        self.supply()

        def changed() -> tuple[Graph, Any, Any]:
            before = self.forward()
            some, values = arcs(before) if callable(arcs) else (arcs, weights)
            graph = with_other_weights(prepared.without_hierarchy(before).to_host(), values, some)
            self.options.check_against(facts_of(graph))
            if (order := prepared.order_of_prepared(before)) is not None:
                self.order = OneOrder(order)
            return graph, some, values

        forward, arcs, weights = at_root(self.channel, changed) or (None, None, None)
        if self.channel.size > 1:
            weights, arcs = on_root(self.channel, lambda: (host_array(weights), arcs))
        for direction, labels in self._labels.items():
            is_forward = direction is self.supply_direction is Direction.FORWARD
            if is_forward and not self.options.hops:
                labels.update(weights, arcs)
            else:
                labels.drop()
        columns = BY_TITLE._replace(carry=self.source.columns.carry)
        self.source = replace(self.source, what=forward, columns=columns)
        source_solver, self._source_solver = self._source_solver, None
        self._supply = self._graph = None
        self._was_contracted, self.why_prepared = False, ""
        self._forget()
        if source_solver is not None:
            source_solver.close()
        facts = self.supply().facts(self.channel)
        return counting_hops(facts) if self.options.hops else facts

    def drop(self) -> None:
        """Keep nothing but the graph, the shares and orders. Collective."""
        self._forget()
        for labels in self._labels.values():
            labels.drop()

    def _forget(self) -> None:
        """Keep nothing but the graph, the shares and labels. Collective."""
        memos, self._row_graphs, self._memos = self._memos, {}, {}
        for memo in memos.values():
            if isinstance(memo, SourceSolver):
                memo.close()

    def _contract(self) -> None:
        """Contract the whole graph if it is to be prepared; on rank 0."""
        assert self._supply is not None
        self._was_contracted = True
        if not self.options.keeps_prepared or layout_of(self._supply.graph()).is_expanded:
            return
        if self._source_solver is None:  # else its loading has tried
            kind = kind_of(self.options.device, CONTRACTION.devices)
            try:
                limit = self.options.memory_limit
                self.why_prepared = contract(self._supply, kind, limit)
            except UnsuitableError as problem:
                self.why_prepared = f"not contracted: {problem}"
        elif self._supply.hierarchy() is not None:
            self.why_prepared = BEFORE
        if self._supply.hierarchy() is not None and self._graph is not None:
            self._graph = self._supply.graph().to_host()
            self._memos.pop(f"graph {self.supply_direction.other.name}", None)
