"""The distances of many pairs of vertices, and on request a shortest path of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import at_root, collective, on_root
from groute_py.device.base import bound_within, unreached
from groute_py.engine.keywords import RouteKeywords
from groute_py.engine.option import takes
from groute_py.engine.options import Options
from groute_py.errors import InputError, check_k, check_number, check_truth
from groute_py.graph.arrays import host_array
from groute_py.graph.csr import Graph, GraphLike
from groute_py.graph.direction import Direction
from groute_py.graph.ids import Positions
from groute_py.jobs.k_routes import PathsWanted, k_routes
from groute_py.jobs.pairs import PairQuery
from groute_py.jobs.routes import Routes
from groute_py.many.carry import Carrier, Sums
from groute_py.many.opened import Opened, Work, open_for
from groute_py.many.sources import Locator, indices_in
from groute_py.results.tables import Attributes, attributes_of

Pairs = (
    Sequence[tuple[int | str, int | str]]
    | NDArray[Any]
    | Positions
    | Locator
    | tuple[Locator, Locator]
)
"""Pairs of a source and a target, shape (k, 2); or functions that find them, or each side."""


LONGER, OVERLAP = 0.25, 0.7
"""Shares of length by which alternatives may be longer, and alike, unless users say so."""


@takes(Options, "route")
def route(
    graph: GraphLike,
    pairs: Pairs,
    *,
    paths: bool = False,
    k: int = 1,
    loops: bool = False,
    alternatives: int = 0,
    longer: float | None = None,
    overlap: float | None = None,
    **options: Unpack[RouteKeywords],
) -> Routes | None:
    """Shortest paths between many pairs of vertices.

    Pairs of one source are solved together. A CPU searches from each source by Dijkstra's algorithm
    (Dijkstra, 1959) until its targets are settled. With integer weights it searches from both ends
    where a source has one target (Pohl, 1971), and upward from both ends in a prepared graph if no
    paths are asked for (Geisberger et al., 2012). A GPU solves for whole rows, as `groute_py.apsp`
    does. If there is an order from separators, distances are looked up in labels. Under ``mpirun``
    every rank calls this function, and the ranks share the sources.

    With ``k > 1`` these are the k shortest simple paths, which pass no vertex twice and differ in
    their vertices: arcs that are parallel count as the lightest of them. They come from Yen's
    algorithm (1971) as improved by Lawler (1972), on the cores of all ranks. Distances to each
    target are solved for first, as `groute_py.apsp` does it. Paths of equal length have those
    of fewer arcs first, of these the one whose first vertex that differs, seen from the source,
    comes first in the graph; float lengths are equal to rounding.

    With ``loops`` too these are the k shortest walks, which may pass vertices and arcs again, also
    both ends, in the same order. Of a vertex to itself the first has no arc. They come from Fox's
    algorithm (1975) at the target, with distances from each source, which are solved for first.

    With ``alternatives`` these are the shortest path and routes that people tell apart (Abraham,
    Delling, Goldberg and Werneck, 2013), by length. Each takes a shortest path to a *plateau*, a
    path that lies in the tree from the source and in one to the target, follows it, and goes on
    by a shortest path. It passes no vertex twice, and is at most ``longer`` than the shortest path,
    also where it leaves that. At most ``overlap`` of its length is of routes before it. All of its
    parts that are shorter than a quarter of its detour are shortest paths.

    Args:
        graph: as for `groute_py.sssp`; every rank holds the whole graph.
        pairs: ids, shape (k, 2): a source and a target each.
        paths: whether to find the paths too.
        k: how many paths of each pair. With more than one no weight may be negative, and turns are
            an error.
        loops: whether the k shortest paths may pass a vertex more than once.
        alternatives: how many other routes of each pair, at most; instead of ``k``, and for the
            same graphs.
        longer: share of its length by which the shortest path may be exceeded. None: 0.25.
        overlap: share of an alternative that earlier routes may have, below 1. None: 0.7.
        tail, head, weight, ignore_columns, comm: as for `groute_py.sssp`.
        **options: how to solve, see `groute_py.engine.options.Options`.

    Returns:
        A `Routes` on rank 0; None on the other ranks.

    Raises:
        InputError: wrong arguments, or the graph is not valid.
        NegativeCycleError: a negative cycle can be reached from a source.
        SetupError: the device or the MPI set-up cannot be used.
        RunError: a distance does not fit in 64 bits.

    >>> routes = route(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), [(0, 2), (1, 0)], paths=True)
    >>> routes.distances.tolist()[0], routes.reached.tolist(), routes.paths[0].tolist()
    (7, [True, False], [0, 1, 2])
    >>> route(([0, 2, 2, 3], [1, 2, 1], [4, 3, 1]), [(0, 1)], k=3).distances[0, :2].tolist()
    [4, 4]
    >>> loop = [0, 2, 3], [1, 0, 1], [4, 1, 2]
    >>> route(loop, [(0, 1)], k=3, loops=True, paths=True).paths[0][1].tolist()
    [0, 0, 1]
    """
    with open_for("route", graph, options) as opened:
        return opened.answer(RouteJob(pairs, paths, k, loops, alternatives, longer, overlap))


@dataclass(frozen=True, eq=False)
class RouteJob:
    """Shortest paths between many pairs; fields as for `route`."""

    pairs: Pairs
    paths: bool = False
    k: int = 1
    loops: bool = False
    alternatives: int = 0
    longer: float | None = None
    overlap: float | None = None

    @property
    def wanted(self) -> PathsWanted | None:
        """The paths that are wanted of each pair; None for one."""
        if not self.alternatives:
            return PathsWanted(int(self.k), self.loops) if self.k > 1 else None
        longer = LONGER if self.longer is None else self.longer
        overlap = OVERLAP if self.overlap is None else self.overlap
        return PathsWanted(1 + int(self.alternatives), bounds=(float(longer), float(overlap)))

    def shared_arguments(self) -> dict[str, Any]:
        names = "paths", "k", "loops", "alternatives", "longer", "overlap"
        return {"function": "route"} | {name: getattr(self, name) for name in names}

    def check(self, options: Options) -> None:
        options.check("route")
        check_truth("paths", self.paths)
        check_truth("loops", self.loops)
        check_k(self.k)
        if self.alternatives != 0:
            check_k(self.alternatives, "alternatives")
        for name in ("longer", "overlap"):
            if (share := getattr(self, name)) is not None:
                check_number(name, share)
                if not 0 <= share < (1 if name == "overlap" else math.inf):
                    most = "below 1" if name == "overlap" else "finite"
                    raise InputError(f"{name} must be a share, 0 or more and {most}, not {share}")
                if not self.alternatives:
                    raise InputError(f"{name} is of alternatives; ask for some, or leave it out")
        if self.k > 1 and self.alternatives:
            raise InputError("k and alternatives: ask for one of them")
        if self.loops and self.alternatives:
            raise InputError("loops are of the k shortest; ask for k, or leave them out")
        if self.wanted is not None:
            options.refuse_changes("route with k > 1 or alternatives")

    def run(self, opened: Opened, work: Work) -> Routes | None:
        channel = opened.channel
        opened.supply()  # collective; the graph can be read after it
        pairs = on_root(
            channel, lambda: as_pairs(self.pairs, opened.plain_graph(opened.supply_direction))
        )
        graph = opened.plain_graph() if channel.rank == 0 else None
        carrier = at_root(channel, lambda: opened.carrier(Direction.FORWARD))
        routes = self._routes(opened, pairs, graph, work)

        def delivered() -> Routes | None:
            if routes is None:
                return None
            cutoff = opened.options.bound
            several = routes.distances.ndim > 1
            within = routes if cutoff is None or several else _within(routes, cutoff)
            sums = {} if carrier is None else _sums(carrier, within)
            if (scale := opened.scale) is not None:
                sums = {**sums, **scale.all_sums(within.distances)}
                within = replace(within, distances=scale.values(within.distances))
            more: dict[str, Any] = {"attributes": _attributes(self.pairs), "carried": sums}
            return replace(within, paths=within.paths if self.paths else None, **more)

        return at_root(channel, delivered)

    def _routes(
        self, opened: Opened, pairs: NDArray[np.int64], graph: Graph | None, work: Work
    ) -> Routes | None:
        """Return the routes of pairs of a graph, which rank 0 has; perhaps beyond a cutoff."""
        channel, deadline = opened.channel, opened.deadline()
        if self.wanted is not None:
            return k_routes(opened, pairs, graph, self.wanted, work)
        row_graph = opened.row_graph(contracts=not opened.may_wait())
        with collective(channel):
            opened.options.check_against(row_graph.facts)
        query = opened.memo("route", lambda: PairQuery(channel, row_graph, opened.options))
        paths = self.paths or bool(opened.options.carry)
        return query.run(pairs, graph, paths=paths, deadline=deadline, work=work)


def _within(routes: Routes, cutoff: float) -> Routes:
    """Return routes, of one path each, without those that are longer."""
    distances, nothing = routes.distances, unreached(routes.distances.dtype)
    is_near = distances <= bound_within(cutoff, distances.dtype)
    paths = routes.paths and [
        path if near else path[:0] for path, near in zip(routes.paths, is_near, strict=True)
    ]
    return replace(routes, distances=np.where(is_near, distances, nothing), paths=paths)


def _sums(carrier: Carrier, routes: Routes) -> Sums:
    """Return the sums along all paths, in the shape of the distances."""
    sums = {}
    for name, of_paths in carrier.along_paths(list(routes.all_paths())).items():
        sums[name] = np.full(routes.distances.shape, unreached(of_paths.dtype))
        sums[name][routes.reached] = of_paths
    return sums


def _attributes(pairs: Pairs) -> Attributes:
    if isinstance(pairs, tuple) and all(map(callable, pairs)):
        return attributes_of(source=pairs[0], target=pairs[1])
    return getattr(pairs, "attributes", None) or attributes_of(pair=pairs)


def as_pairs(pairs: Pairs, graph: Graph) -> NDArray[np.int64]:
    """Pairs of vertices as a user gives them, int64, shape (k, 2)."""
    if isinstance(pairs, tuple) and all(map(callable, pairs)):
        return np.stack([locate(graph) for locate in pairs], axis=1)
    if callable(pairs):
        return pairs(graph)
    values = pairs.values if isinstance(pairs, Positions) else host_array(pairs)
    if values.ndim != 2 or values.shape[1] != 2 or not len(values):
        raise InputError(
            "pairs must be a source and a target each, shape (k, 2) with k from 1, "
            f"not {values.shape}"
        )
    numbering = graph.numbering
    if numbering.ids is None and values.dtype.kind == "i":
        first = 0 if isinstance(pairs, Positions) else numbering.first
        if first <= int(values.min()) and int(values.max()) < first + numbering.count:
            return np.subtract(values, first, dtype=np.int64)
    columns: list[Any] = list(values.T)
    if isinstance(pairs, Positions):
        columns = [Positions(column) for column in columns]
    ends = zip(("source", "target"), columns, strict=True)
    return np.stack([indices_in(graph, column, role) for role, column in ends], axis=1)
