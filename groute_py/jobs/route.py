"""The distances of many pairs of vertices, and on request a shortest path of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import at_root, on_root
from groute_py.engine.keywords import RouteKeywords
from groute_py.engine.option import takes
from groute_py.engine.options import Options
from groute_py.errors import InputError
from groute_py.graph.arrays import host_array
from groute_py.graph.csr import Graph, GraphLike
from groute_py.graph.direction import Direction
from groute_py.graph.ids import Positions
from groute_py.io.tables.columns import Columns
from groute_py.jobs.pairs import PairQuery
from groute_py.jobs.routes import Routes
from groute_py.many.opened import Opened, Work, open_for
from groute_py.many.sources import Locator, indices_in
from groute_py.results.tables import Attributes, attributes_of

if TYPE_CHECKING:
    from mpi4py import MPI

Pairs = (
    Sequence[tuple[int | str, int | str]]
    | NDArray[Any]
    | Positions
    | Locator
    | tuple[Locator, Locator]
)
"""Pairs of a source and a target, shape (k, 2); or functions that find them, or each side."""


@takes(Options, "route")
def route(
    graph: GraphLike,
    pairs: Pairs,
    *,
    paths: bool = False,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    ignore_columns: Sequence[Any] = (),
    comm: MPI.Intracomm | None = None,
    **options: Unpack[RouteKeywords],
) -> Routes | None:
    """Shortest paths between many pairs of vertices.

    Pairs of one source are solved together. A CPU searches from each source by Dijkstra's algorithm
    (Dijkstra, 1959) until its targets are settled. With integer weights it searches from both ends
    where a source has one target (Pohl, 1971), and upward from both ends in a prepared graph if no
    paths are asked for (Geisberger et al., 2012). A GPU solves for whole rows, as `groute_py.apsp`
    does. If there is an order from separators, distances are looked up in labels. Under ``mpirun``
    every rank calls this function, and the ranks share the sources.

    Args:
        graph: as for `groute_py.sssp`; every rank holds the whole graph.
        pairs: ids, shape (k, 2): a source and a target each.
        paths: whether to find the paths too.
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
    """
    with open_for(
        "route", graph, options, Columns(tail, head, weight, ignore=ignore_columns), comm
    ) as opened:
        return opened.answer(RouteJob(pairs, paths))


@dataclass(frozen=True, eq=False)
class RouteJob:
    """Shortest paths between many pairs; fields as for `route`."""

    pairs: Pairs
    paths: bool = False

    def shared_arguments(self) -> dict[str, Any]:
        return {"function": "route", "paths": self.paths}

    def check(self, options: Options) -> None:
        options.refuse_cutoff("route")
        options.check("route")

    def run(self, opened: Opened, work: Work) -> Routes | None:
        channel = opened.channel
        opened.supply()  # collective; the graph can be read after it
        pairs = on_root(
            channel, lambda: as_pairs(self.pairs, opened.plain_graph(opened.supply_direction))
        )
        row_graph = opened.row_graph(contracts=not opened.may_wait())
        query = opened.memo("route", lambda: PairQuery(channel, row_graph, opened.options))
        graph = opened.plain_graph() if channel.rank == 0 else None
        carrier = at_root(channel, lambda: opened.carrier(Direction.FORWARD))
        paths = self.paths or bool(opened.options.carry)
        routes = query.run(pairs, graph, paths=paths, deadline=opened.deadline(), work=work)

        def delivered() -> Routes | None:
            if routes is None:
                return None
            sums = carrier.along_paths(routes.paths or ()) if carrier is not None else {}
            more: dict[str, Any] = {"attributes": _attributes(self.pairs), "carried": sums}
            return replace(routes, paths=routes.paths if self.paths else None, **more)

        return at_root(channel, delivered)


def _attributes(pairs: Pairs) -> Attributes:
    if isinstance(pairs, tuple) and all(map(callable, pairs)):
        return attributes_of(source=pairs[0], target=pairs[1])
    return getattr(pairs, "attributes", {})


def as_pairs(pairs: Pairs, graph: Graph) -> NDArray[np.int64]:
    """Pairs of vertices as a user gives them, int64, shape (k, 2)."""
    if isinstance(pairs, tuple) and all(map(callable, pairs)):
        return np.stack([locate(graph) for locate in pairs], axis=1)
    if callable(pairs):
        return pairs(graph)
    values = pairs.values if isinstance(pairs, Positions) else host_array(pairs)
    if values.ndim != 2 or values.shape[1] != 2 or not len(values):
        raise InputError(
            f"pairs must be a source and a target each, shape (k, 2), not {values.shape}"
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
