"""Vertices within limits of some sources, and arcs cut where the limits fall.

For what is within reach of any of several sources one solve begins at a root with an arc of weight
0 to each; else there is a solve from each source. All end at the last limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import at_root, on_root
from groute_py.device.base import unreached
from groute_py.engine.keywords import IsochroneKeywords
from groute_py.engine.memory.host import bytes_of, refuse_beyond
from groute_py.engine.option import takes
from groute_py.engine.options import Options
from groute_py.engine.solver import Neighbourhood, SourceSolver
from groute_py.errors import InputError, check_number, check_truth, plain, quote, quoted
from groute_py.graph.csr import Graph, GraphLike
from groute_py.graph.facts import Size
from groute_py.graph.hierarchy.prepared import without_hierarchy
from groute_py.graph.tails import transposed
from groute_py.graph.turns.expanded import ExpandedGraph, layout_of, solved_graph
from groute_py.graph.units import number_of
from groute_py.jobs.isochrones import Isochrones
from groute_py.jobs.reaches import reach_each
from groute_py.many.johnson import rooted
from groute_py.many.opened import Opened, Work, open_for
from groute_py.many.sources import Vertices, vertices_in
from groute_py.many.storage.folder import run_of
from groute_py.many.storage.store import UNITS, SavedUnits, Store
from groute_py.maps.places import Coordinates, Places, has_places, places_of
from groute_py.maps.reach import Reach
from groute_py.results.answer import about
from groute_py.results.distances import reached_in
from groute_py.results.tables import attributes_of

GREATEST_LIMIT = 2**63  # no distance of integers is as great


@takes(Options, "isochrone")
def isochrone(
    graph: GraphLike,
    sources: Vertices,
    limits: Sequence[float | str] | float | str,
    *,
    each: bool = False,
    coordinates: Coordinates = None,
    planar: bool = False,
    **options: Unpack[IsochroneKeywords],
) -> Isochrones | None:
    """Find what lies within limits of some sources: vertices, parts of arcs, areas on a map.

    Args:
        graph: as for `groute_py.sssp`, without negative weights; rank 0 holds the whole graph.
        sources: ids of vertices, shape (k,).
        limits: the greatest distances, in any order: in units of weight, or as ``"5min"`` and
            ``"2km"`` if the unit of the weights is known, see `groute_py.graph.units`.
        each: whether to find what is within reach of each source by itself, instead of any.
        coordinates: of the vertices, as for `groute_py.snap`; distances do not need them.
        planar: whether coordinates are x and y on a plane.
        tail, head, weight, ignore_columns, comm: as for `groute_py.sssp`.
        **options: how to solve, see `groute_py.engine.options.Options`.

    Returns:
        `Isochrones` on rank 0; None on the other ranks.

    Raises:
        InputError: wrong arguments, the graph is not valid, or a weight is negative.
        SetupError, RunError, TimeLimitError: as for `groute_py.sssp`.

    >>> path = ([0, 1, 2, 3, 3], [1, 2, 3], [4, 4, 4])
    >>> answer = isochrone(path, [0], [5, 9], device="cpu")
    >>> answer.counts, answer.pieces(answer.reaches[0]).ends.tolist()
    ([2, 3], [1.0, 0.25, 1.0, 0.25])
    """
    with open_for("isochrone", graph, options, predecessors=False) as opened:
        find = partial(find_places, coordinates=coordinates, planar=planar, beside=graph)
        return opened.answer(IsochroneJob(sources, limits, each, planar, find))


def find_places(
    graph: Graph, coordinates: Coordinates, *, planar: bool, beside: object = None
) -> Places | None:
    """Return the coordinates of the vertices of a graph, if they are known; see `places_of`."""
    if not (planar or has_places(graph, coordinates, beside=beside)):
        return None
    return places_of(graph, coordinates, planar=planar, beside=beside)


@dataclass(frozen=True, eq=False)
class IsochroneJob:
    """The vertices and arcs within limits of some sources; fields as for `isochrone`.

    ``places`` finds the coordinates of the graph's vertices; called on rank 0.
    """

    sources: Vertices
    limits: Any
    each: bool = False
    planar: bool = False
    places: Callable[[Graph], Places | None] = lambda _: None

    def shared_arguments(self) -> dict[str, Any]:
        return {"function": "isochrone", "each": self.each, "limits": as_limits(self.limits)}

    def check(self, options: Options) -> None:
        options.refuse("cutoff", "isochrone")
        as_limits(self.limits)
        check_truth("each", self.each)
        check_truth("planar", self.planar)

    def run(self, opened: Opened, work: Work) -> Isochrones | None:
        channel = opened.channel
        opened.supply()  # collective; the graph can be read after it
        start = at_root(channel, lambda: _Start(opened, self))
        sources = channel.broadcast([] if start is None else start.sources.tolist())
        limits = channel.broadcast(() if start is None else start.limits)
        opened.choose_device()
        return replace(self, limits=limits)._from(opened, start, sources, work)

    def _from(
        self, opened: Opened, start: _Start | None, sources: list[int], work: Work
    ) -> Isochrones | None:
        """Answer for sources, and limits in units of weight. Collective."""
        if self.each:
            reaches, statistics = self._from_each(opened, start, sources, work)
        else:
            near = self._from_any(opened, start, sources)
            statistics = {} if near is None else near.statistics
            reaches = [] if start is None or near is None else [start.reach(-1, near)]
        if start is None:
            return None
        return Isochrones(
            start.sources,
            limits=as_limits(self.limits),
            reaches=tuple(reaches),
            reverse=opened.options.reverse,
            places=start.places,
            graph=start.base,
            statistics=statistics,
            attributes=attributes_of(source=self.sources),
            **about(start.base),
        )

    def _from_any(
        self, opened: Opened, start: _Start | None, sources: list[int]
    ) -> Neighbourhood | None:
        """States within the last limit of the nearest source, on rank 0. Collective."""
        limit = as_limits(self.limits)[-1]
        if len(sources) == 1:
            return opened.source_solver.reach(sources[0], limit)

        def make() -> Graph:
            assert start is not None
            return start.rooted()

        def solve(solver: SourceSolver, root: int) -> Neighbourhood | None:
            return solver.reach(root, limit)

        how: dict[str, Any] = {"predecessors": False, "reverse": False, "cutoff": limit}
        near = opened.from_root_vertex("isochrone", make, solve, **how)
        if near is None:
            return None
        return Neighbourhood(near.states[:-1], near.distances[:-1], near.statistics)

    def _from_each(
        self, opened: Opened, start: _Start | None, sources: list[int], work: Work
    ) -> tuple[list[Reach], dict[str, Any]]:
        """The reach of each source, and statistics of the last solve, on rank 0. Collective."""
        channel, keep, total = opened.channel, work.keep, len(sources)
        limits = as_limits(self.limits)

        def record() -> dict[str, Any]:
            assert start is not None
            choices: dict[str, Any] = {"job": "isochrone", "limits": list(limits)}
            choices["reverse"] = opened.options.reverse
            return run_of(solved_graph(start.graph), {"sources": start.sources}, choices)

        numbers, reaches = np.arange(total), dict[int, Reach]()
        if keep is not None:
            numbers = keep.begin(channel, record, total)
            reaches = _reaches_in(keep.parts, sources)
        progress = opened.collective_watch(opened.deadline(), work.progress)
        if progress is not None and len(numbers) < total:
            # the displayed rate leaves out what an earlier run did
            progress(total - len(numbers), total)
        statistics: dict[str, Any] = {"devices": []}
        missing = np.array(sources, np.int64)[numbers]
        with closing(reach_each(opened, missing, limits[-1])) as each:
            for done, number in enumerate(numbers.tolist(), total - len(numbers) + 1):
                near = next(each)
                if near is not None and start is not None:
                    reaches[number] = start.reach(sources[number], near)
                    statistics = near.statistics
                if keep is not None:
                    on_root(channel, partial(_save, keep, number, reaches))
                if progress is not None:
                    progress(done, total)
        return [reaches[number] for number in range(len(reaches))], statistics


def _save(keep: Store, number: int, reaches: dict[int, Reach]) -> None:
    """Save the reach of a source, by its number; without turns ``arc_counts`` is −1."""
    reach = reaches[number]
    begins = np.empty(0) if reach.arc_begins is None else reach.arc_begins
    keep.add(
        np.array([number]),
        counts=np.array([len(reach.vertices)]),
        vertices=reach.vertices,
        distances=reach.distances,
        arc_counts=np.array([-1 if reach.arc_begins is None else len(begins)]),
        arc_begins=begins,
    )


def _reaches_in(parts: Sequence[SavedUnits], sources: Sequence[int]) -> dict[int, Reach]:
    """The reaches that an earlier run saved, by the numbers of their sources."""
    reaches = {}
    for part in parts:
        splits, arcs = np.cumsum(part["counts"])[:-1], part["arc_counts"]
        rows = np.split(part["vertices"], splits), np.split(part["distances"], splits)
        begins = np.split(part["arc_begins"], np.cumsum(np.maximum(arcs, 0))[:-1])
        with_turns, numbers = (arcs >= 0).tolist(), part[UNITS].tolist()
        columns = zip(numbers, *rows, begins, with_turns, strict=True)
        for number, vertices, distances, arc_begins, has_turns in columns:
            reaches[number] = Reach(
                sources[number], vertices, distances, arc_begins if has_turns else None
            )
    return reaches


class _Start:
    """The sources in the graph as it is solved, perhaps expanded by turns; on rank 0.

    ``places`` are the vertices' coordinates, if known; ``base`` is the graph without its expansion.
    """

    def __init__(self, opened: Opened, job: IsochroneJob) -> None:
        self.graph = graph = opened.graph()
        self._layout = layout_of(graph)
        self.sources = vertices_in(graph, job.sources)
        self.places = job.places(graph)
        self._begins = ArcBegins(graph) if isinstance(graph, ExpandedGraph) else None
        self.base = graph if self._begins is None else self._begins.base
        self.limits = as_limits(job.limits, self.base.unit, self.base.name)
        opened.memo("negative arcs", partial(_refuse_negative, self.base))
        _refuse_memory(solved_graph(graph), has_root=not job.each and len(self.sources) > 1)

    def rooted(self) -> Graph:
        """The graph with a root before the sources; not prepared, so that a limit ends a solve."""
        solved = without_hierarchy(solved_graph(self.graph))
        return rooted(solved, self._layout.begins(self.sources))

    def reach(self, source: int, near: Neighbourhood) -> Reach:
        """Return the reach, by the states within the last limit."""
        if self._begins is None:
            return Reach(source, near.states, near.distances)
        kind = near.distances.dtype
        distances = np.full(solved_graph(self.graph).vertex_count, unreached(kind))
        distances[near.states] = near.distances
        of_vertices = self._layout.at_ends(distances)
        vertices = np.flatnonzero(of_vertices != unreached(kind))
        begins = self._begins.of(vertices, distances)
        return Reach(source, vertices, of_vertices[vertices], begins)


def as_limits(limits: Any, unit: str | None = None, graph: str = "") -> tuple[float, ...]:
    """Limits as a user gives them: ascending, each once.

    >>> as_limits([9, 5, 9.0])
    (5, 9)
    """
    data = plain(limits)
    is_one = isinstance(data, str | bytes | bytearray) or not isinstance(data, Iterable)
    values = [data] if is_one else list(data)
    result = [
        number_of(value, unit, graph) if isinstance(value, str) else plain(value)
        for value in values
    ]
    for value in result:
        check_number("limit", value)
        if not 0 < value < GREATEST_LIMIT or math.isnan(value):
            raise InputError(f"a limit must be more than 0 and less than 2^63, not {quote(value)}")
    if not result:
        raise InputError("limits must be at least one number")
    return tuple(sorted(set(result)))


def _refuse_memory(graph: Graph, *, has_root: bool) -> None:
    """Refuse what takes too much memory, however small a reach is."""
    size = Size.of(graph)
    needed = bytes_of("isochrone without a reach" if has_root else "isochrones", size, 0)
    copy = ", and a copy of the arcs," if has_root else ""
    what = f"the distances of {size.vertices:,} vertices{copy}"
    refuse_beyond(needed, what, "give the job more memory")


def _refuse_negative(graph: Graph) -> None:
    if graph.arc_count and graph.weights.min() < 0:
        arc = int(graph.weights.argmin())
        raise InputError(
            f"arc {arc} of {graph.name} has weight {graph.weights[arc]}; with a negative weight "
            "there is no part of an arc within a limit"
        )


class ArcBegins:
    """Distances at which the arcs of a graph with turns begin; on rank 0.

    An arc is begun at the cost of the path to its tail and of the turn to it, which is paid at the
    tail; of several ways to begin it the cheapest counts. When paths lead to the sources, an arc
    begins at the distance from the state at its original head, which includes the turn after it.
    ``base`` is the graph without its expansion, reversed if the expansion is.
    """

    def __init__(self, graph: ExpandedGraph) -> None:
        assert graph.original is not None
        original, self._states = graph.original
        self._layout = graph.layout
        if len(self._states.costs) and self._states.costs.min() < 0:
            raise InputError(
                f"a turn of {quoted(original.name)} has a cost below 0; with such a cost there is "
                "no part of an arc within a limit"
            )
        self._numbers: NDArray[np.int64] | None = None
        self.base = original
        if self._layout.is_reversed:
            self.base = original.reversed()
            arcs = np.arange(original.arc_count)
            self._numbers = transposed(original.offsets, original.heads, arcs)[2]

    def of(self, vertices: NDArray[np.int64], distances: NDArray[Any]) -> NDArray[np.float64]:
        """Return the beginnings of the arcs of ``base`` that leave some vertices, in their order.

        Vertices are ascending, and distances those of all states; infinity where no path goes on
        to the arc, float64.
        """
        of_states = np.where(reached_in(distances), distances.astype(np.float64), np.inf)
        firsts = self.base.offsets[vertices]
        counts = self.base.offsets[vertices + 1] - firsts
        shifts = firsts - np.cumsum(counts) + counts
        arcs = np.arange(int(counts.sum())) + np.repeat(shifts, counts)
        if self._numbers is not None:
            after_arcs: NDArray[np.float64] = of_states[self._states.heads[self._numbers[arcs]]]
            return after_arcs
        result = of_states[np.repeat(vertices, counts)]
        if not len(arcs):
            return result
        at = np.minimum(np.searchsorted(arcs, self._states.arcs), len(arcs) - 1)
        some = np.flatnonzero(arcs[at] == self._states.arcs)
        begun = of_states[self._states.copies[some]] + self._states.costs[some]
        np.minimum.at(result, at[some], begun)
        return result
