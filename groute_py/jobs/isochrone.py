"""What lies within limits of some sources: vertices, and arcs cut where the limits fall.

For what is within reach of any source one solve begins at a root with an arc of weight 0 to each
source; for each source by itself there is a solve of its own. Both end at the last limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from groute_py.arguments import check_number, check_truth, plain
from groute_py.comm.agree import collective, on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.comm.connect import connect
from groute_py.engine.keywords import IsochroneKeywords
from groute_py.engine.option import chosen, takes
from groute_py.engine.options import Options
from groute_py.errors import InputError, quote
from groute_py.graph.csr import Graph
from groute_py.graph.size import Size
from groute_py.hierarchy.prepared import without_hierarchy
from groute_py.interop.graph_like import GraphLike
from groute_py.io.tables.columns import Columns
from groute_py.jobs.deadline import deadline_in, until
from groute_py.jobs.isochrone_with_turns import ArcBegins
from groute_py.jobs.isochrones import Isochrones
from groute_py.many.apsp import Progress
from groute_py.many.rooted import rooted
from groute_py.many.rows import solve_each
from groute_py.many.sources import as_vertices, checked
from groute_py.many.storage.parts import UNITS, Part
from groute_py.many.storage.record import run_of
from groute_py.many.storage.store import Store
from groute_py.maps.places import Coordinates, Places, has_places, places_of
from groute_py.maps.reach import Reach
from groute_py.memory.host import bytes_of, refuse_beyond
from groute_py.results.result import reached_in
from groute_py.source.graph_source import GraphSource
from groute_py.turns.expanded import ExpandedGraph, layout_of, solved_form

if TYPE_CHECKING:
    from mpi4py import MPI

Given = tuple[Graph, NDArray[np.int64], Places | None]
"""A graph, the sources, and where the vertices lie if that is known."""

GREATEST_LIMIT = 2**63
"""No distance of integers is as great."""


@takes(Options, "isochrone")
def isochrone(
    graph: GraphLike,
    sources: Sequence[int] | NDArray[Any],
    limits: Sequence[float] | float,
    *,
    each: bool = False,
    coordinates: Coordinates = None,
    planar: bool = False,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    comm: MPI.Intracomm | None = None,
    **options: Unpack[IsochroneKeywords],
) -> Isochrones | None:
    """What lies within limits of some sources: vertices, parts of arcs, and areas on a map.

    Args:
        graph: as for `groute_py.sssp`, without negative weights; rank 0 holds the whole graph.
        sources: vertex indices from 0, shape (k,).
        limits: the greatest distances, in units of weight, in any order.
        each: whether to find what is within reach of each source by itself, instead of any.
        coordinates: of the vertices, as for `groute_py.snap`; distances do not need them.
        planar: whether coordinates are x and y on a plane.
        tail, head, weight, comm: as for `groute_py.sssp`.
        **options: how to solve, see `groute_py.engine.options.Options`.

    Returns:
        `Isochrones` on rank 0; None on the other ranks.

    Raises:
        InputError: wrong arguments, the graph is not valid, or a weight is negative.
        SetupError, RunError, TimeLimitError: as for `groute_py.sssp`.

    >>> path = ([0, 1, 2, 3, 3], [1, 2, 3], [4, 4, 4])
    >>> found = isochrone(path, [0], [5, 9], device="cpu")
    >>> found.counts, found.pieces(found.reaches[0]).ends.tolist()
    ([2, 3], [1.0, 0.25, 1.0, 0.25])
    """
    choices = Options(**chosen(Options, "isochrone", options))
    channel = connect(comm)
    with collective(channel):
        choices.check()
        wanted = as_limits(limits)
        check_truth("each", each)
        check_truth("planar", planar)
    refuse_difference(channel, {"function": "isochrone", "each": each, "limits": wanted})

    def load() -> Given:
        whole = GraphSource(graph, Columns(tail, head, weight), turns=choices.turns).graph()
        places = None
        if planar or has_places(whole, coordinates, beside=graph):
            places = places_of(whole, coordinates, planar=planar, beside=graph)
        return whole, as_vertices(sources), places

    return solve_isochrone(channel, load, wanted, choices, each=each)


def solve_isochrone(
    channel: Channel,
    load: Callable[[], Given],
    limits: tuple[float, ...],
    options: Options,
    *,
    each: bool,
    is_reversed: bool = False,
    progress: Progress | None = None,
    keep: Store | None = None,
) -> Isochrones | None:
    """The answer of `isochrone` on rank 0, None elsewhere. Collective.

    Args:
        channel: connects the ranks.
        load: gives the graph, the sources and the places; called on rank 0.
        limits: ascending, of `as_limits`.
        options: how to solve.
        each: as for `isochrone`.
        is_reversed: whether the arcs of the graph that ``load`` gives are turned round already.
        progress: is given the solves that are done, and how many there are.
        keep: keeps the reach of each source as it is found; those that it has are not solved for.
    """
    kept: list[tuple[Graph, _Asked]] = []

    def begin() -> list[int]:
        graph, sources, places = load()
        turn = options.reverse and not is_reversed
        asked = _Asked(graph.reversed() if turn else graph.to_host(), sources, places)
        solved = solved_form(asked.graph)
        starts = layout_of(asked.graph).begins(asked.sources)
        _refuse_memory(solved, each=each)
        if not each:
            # a limit ends a solve early, but not a sweep over a hierarchy
            solved = rooted(without_hierarchy(solved), starts)
        kept.append((solved, asked))
        return starts.tolist() if each else [solved.vertex_count - 1]

    def run() -> dict[str, Any]:
        choices = {"job": "isochrone", "limits": list(limits), "reverse": options.reverse}
        return run_of(kept[0][0], {"sources": kept[0][1].sources}, choices)

    begins = on_root(channel, begin)
    left = np.arange(len(begins))
    if keep is not None:
        left = keep.begin(channel, run, len(begins))
    sources = kept[0][1].sources.tolist() if kept else []
    known = _reaches_in([] if keep is None else keep.parts, sources)
    solved = kept[0][0] if kept else None
    choices = replace(options, predecessors=False, reverse=False, turns=None, cutoff=limits[-1])
    how: dict[str, Any] = {"each": each, "keep": keep, "progress": progress}
    asked = kept[0][1] if kept else None
    reaches, statistics = _solved(channel, solved, asked, begins, left.tolist(), choices, **how)
    if asked is None:
        return None
    known |= reaches
    every = tuple(known[place] for place in range(len(begins)))
    answer = asked.sources, limits, every, options.reverse, asked.places, statistics
    return Isochrones(*answer, asked.roads)


class _Asked:
    """The graph as it is solved, perhaps expanded by turns, and what is asked of it; on rank 0."""

    def __init__(self, graph: Graph, sources: NDArray[np.int64], places: Places | None) -> None:
        self.graph, self.places, self._layout = graph, places, layout_of(graph)
        self.sources = checked(sources, self._layout.vertex_count, graph.name)
        self._begins = ArcBegins(graph) if isinstance(graph, ExpandedGraph) else None
        self.roads = graph if self._begins is None else self._begins.roads
        _refuse_negative(self.roads)

    def reach(self, source: int, distances: NDArray[Any]) -> Reach:
        """What is within reach, by the distances of all places."""
        of_vertices = self._layout.at_ends(distances)
        vertices = np.flatnonzero(reached_in(of_vertices))
        begins = None if self._begins is None else self._begins.of(vertices, distances)
        return Reach(source, vertices, of_vertices[vertices], begins)


def _solved(
    channel: Channel,
    graph: Graph | None,
    asked: _Asked | None,
    begins: list[int],
    left: list[int],
    options: Options,
    *,
    each: bool,
    keep: Store | None,
    progress: Progress | None,
) -> tuple[dict[int, Reach], dict[str, Any]]:
    """The reaches that are left to be found, on rank 0, and statistics of the last one. Collective.

    Args:
        channel: connects the ranks.
        graph: on rank 0, perhaps with a root.
        asked: on rank 0.
        begins: where solves begin: at each source, or at the root, the last vertex.
        left: the places of those that are left, among all.
        options: for each solve.
        each, keep, progress: as for `solve_isochrone`.
    """
    reaches: dict[int, Reach] = {}
    statistics: dict[str, Any] = {"devices": []}
    done = len(begins) - len(left)
    if each:  # one solve minds the limit itself
        progress = until(channel, deadline_in(options.time_limit_s), progress)
    if progress is not None and done:
        progress(done, len(begins))  # else they would count as fast ones
    results = solve_each(graph, [begins[place] for place in left], options, channel)
    for place, result in zip(left, results, strict=True):
        if result is not None and asked is not None:
            source = int(asked.sources[place]) if each else -1
            distances = result.distances if each else result.distances[:-1]
            reaches[place] = asked.reach(source, distances)
            statistics = result.statistics
        if keep is not None:
            on_root(channel, partial(_keep, keep, place, reaches))
        done += 1
        if progress is not None:
            progress(done, len(begins))
    return reaches, statistics


def _keep(keep: Store, place: int, reaches: dict[int, Reach]) -> None:
    """Keep a reach; counts of arcs are −1 without turns, and else those of ``arc_begins``."""
    reach = reaches[place]
    begins = np.empty(0) if reach.arc_begins is None else reach.arc_begins
    keep.add(
        np.array([place]),
        counts=np.array([len(reach.vertices)]),
        vertices=reach.vertices,
        distances=reach.distances,
        arc_counts=np.array([-1 if reach.arc_begins is None else len(begins)]),
        arc_begins=begins,
    )


def _reaches_in(parts: Sequence[Part], sources: Sequence[int]) -> dict[int, Reach]:
    """The reaches of some parts, by the places of their sources among all."""
    reaches = {}
    for part in parts:
        ends, arcs = np.cumsum(part["counts"])[:-1], part["arc_counts"]
        rows = np.split(part["vertices"], ends), np.split(part["distances"], ends)
        begins = np.split(part["arc_begins"], np.cumsum(np.maximum(arcs, 0))[:-1])
        with_turns, places = (arcs >= 0).tolist(), part[UNITS].tolist()
        for place, near, far, some, has in zip(places, *rows, begins, with_turns, strict=True):
            reaches[place] = Reach(sources[place], near, far, some if has else None)
    return reaches


def as_limits(limits: Any) -> tuple[float, ...]:
    """Limits as a user gives them: ascending, each once.

    Raises:
        InputError: there is none, or one is not a positive finite number.

    >>> as_limits([9, 5, 9.0])
    (5, 9)
    """
    given = plain(limits)
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    found = [plain(value) for value in values]
    for value in found:
        check_number("limit", value)
        if not 0 < value < GREATEST_LIMIT or math.isnan(value):
            raise InputError(f"a limit must be more than 0 and less than 2^63, not {quote(value)}")
    if not found:
        raise InputError("limits must be at least one number")
    return tuple(sorted(set(found)))


def _refuse_memory(graph: Graph, *, each: bool) -> None:
    """Refuse what takes too much memory, however small a reach is."""
    size = Size(graph.vertex_count, graph.arc_count)
    needed = bytes_of("isochrones" if each else "isochrone without a reach", size, 0)
    copy = "" if each else ", and a copy of the arcs,"
    what = f"the distances of {size.vertices:,} vertices{copy}"
    refuse_beyond(needed, what, "give the job more memory")


def _refuse_negative(graph: Graph) -> None:
    if graph.arc_count and graph.weights.min() < 0:
        arc = int(graph.weights.argmin())
        raise InputError(
            f"arc {arc} of {graph.name} has weight {graph.weights[arc]}; with a negative weight "
            "there is no part of an arc within a limit"
        )
