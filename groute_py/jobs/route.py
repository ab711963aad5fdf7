"""The distances of many pairs of vertices, and on request a shortest path of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.comm.connect import connect
from groute_py.engine.keywords import RouteKeywords
from groute_py.engine.option import chosen, takes
from groute_py.errors import InputError
from groute_py.graph.array_like import host_array
from groute_py.graph.csr import Graph
from groute_py.hierarchy.prepared import PreparedFile, file_of_prepared
from groute_py.interop.graph_like import GraphLike
from groute_py.io.tables.columns import Columns
from groute_py.jobs.router import Router
from groute_py.jobs.routes import Routes
from groute_py.many.apsp import Progress
from groute_py.many.request import Request
from groute_py.many.sources import as_vertices, checked
from groute_py.many.storage.store import Store
from groute_py.source.every_rank import on_every_rank
from groute_py.source.graph_source import GraphSource

if TYPE_CHECKING:
    from mpi4py import MPI

Pairs = Sequence[tuple[int, int]] | NDArray[Any]
"""A source and a target each, shape (k, 2)."""


@takes(Request, "route")
def route(
    graph: GraphLike,
    pairs: Pairs,
    *,
    paths: bool = False,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    comm: MPI.Intracomm | None = None,
    **options: Unpack[RouteKeywords],
) -> Routes | None:
    """Shortest paths between many pairs of vertices.

    Pairs of one source are solved together. A CPU searches from each source by Dijkstra's algorithm
    (Dijkstra, 1959) until its targets are settled. With integer weights it searches from both ends
    where a source has one target (Pohl, 1971), and upward from both ends in a prepared graph if no
    paths are asked for (Geisberger et al., 2012). A GPU solves for whole rows, as `groute_py.apsp`
    does. Under ``mpirun`` every rank calls this function, and the ranks share the sources.

    Args:
        graph: as for `groute_py.sssp`; every rank holds the whole graph.
        pairs: integers, shape (k, 2): a source and a target each, from 0.
        paths: whether to find the paths too.
        tail, head, weight, comm: as for `groute_py.sssp`.
        **options: how to solve, see `groute_py.many.request.Request`.

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
    request = Request(**chosen(Request, "route", options))
    channel = connect(comm)
    with collective(channel):
        request.check()
    refuse_difference(channel, {"function": "route", "paths": paths})

    def load() -> tuple[Graph, NDArray[np.int64]]:
        whole = GraphSource(graph, Columns(tail, head, weight), turns=request.turns).graph()
        return whole, as_pairs(pairs, whole)

    return solve_routes(channel, load, request, paths=paths)


def solve_routes(
    channel: Channel,
    load: Callable[[], tuple[Graph, NDArray[np.int64]]],
    request: Request,
    *,
    paths: bool,
    progress: Progress | None = None,
    keep: Store | None = None,
) -> Routes | None:
    """The answer of `route` on rank 0, None elsewhere. Collective.

    Args:
        channel: connects the ranks.
        load: gives the graph and the pairs; called on rank 0.
        request: how to solve.
        paths: as for `route`.
        progress, keep: as for `groute_py.jobs.router.Router.solve`.
    """
    whole: list[Graph] = []

    def turned(graph: Graph) -> Graph:
        return graph.reversed() if request.reverse else graph.to_host()

    def begin() -> tuple[PreparedFile | None, NDArray[np.int64]]:
        graph, pairs = load()
        whole.append(turned(graph))
        return file_of_prepared(graph), pairs

    file, pairs = on_root(channel, begin)
    graph = on_every_rank(channel, next(iter(whole), None), file, turned)
    assert graph is not None
    return Router(channel, graph, request).solve(pairs, paths=paths, progress=progress, keep=keep)


def as_pairs(pairs: Pairs, graph: Graph) -> NDArray[np.int64]:
    """Pairs of vertices as a user gives them, int64, shape (k, 2).

    Raises:
        InputError: they are of another shape, are no vertices of the graph, or are none at all.
    """
    found = as_vertices(host_array(pairs), "pair")
    if found.ndim != 2 or found.shape[1] != 2 or not len(found):
        raise InputError(
            f"pairs must be a source and a target each, shape (k, 2), not {found.shape}"
        )
    for role, column in zip(("source", "target"), found.T, strict=True):
        checked(column, graph.numbering.count, graph.name, role)
    return found
