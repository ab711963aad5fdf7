"""The public functions: shortest paths from one source, from several, from all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Unpack, cast

from numpy.typing import NDArray

from groute_py.arguments import file_path
from groute_py.comm.agree import collective, on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.comm.connect import connect
from groute_py.engine.coordinates import with_coordinates
from groute_py.engine.keywords import ApspKeywords, BfsKeywords, OpenKeywords, SsspKeywords
from groute_py.engine.option import chosen, is_default, options_of, takes
from groute_py.engine.options import Options
from groute_py.engine.preparing import read_prepared
from groute_py.engine.solver import ends_of
from groute_py.errors import InputError
from groute_py.graph.direction import Direction
from groute_py.hierarchy.prepared import PreparedGraph
from groute_py.interop.graph_like import GraphLike
from groute_py.io.tables.columns import Columns
from groute_py.jobs.solver import Solver
from groute_py.many.apsp import Loaded, collect
from groute_py.many.apsp import prepare as job_of
from groute_py.many.request import Request
from groute_py.many.rows import SourceRows
from groute_py.many.sources import as_vertices
from groute_py.results.result import Result
from groute_py.source.graph_source import GraphSource
from groute_py.source.whole import Whole

if TYPE_CHECKING:
    from mpi4py import MPI


@takes(Options, "sssp")
def sssp(
    graph: GraphLike,
    source: int | None = None,
    *,
    sources: Sequence[int] | NDArray[Any] | None = None,
    targets: Sequence[int] = (),
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    comm: MPI.Intracomm | None = None,
    **options: Unpack[SsspKeywords],
) -> Result | SourceRows | None:
    """Shortest paths from ``source`` to every vertex, or from each of ``sources``.

    The default method is near–far Δ-stepping (Meyer and Sanders, 2003; Davidson et al., 2014).
    In a script under ``mpirun`` every rank calls this function. Rank 0 reads the graph and
    distributes it (each rank maps its rows of a native file) and gets the result.

    Args:
        graph: a `Graph`; the path of a graph file; a spec such as ``"road:1000x1000"``; the name of
            a graph to download such as ``"dimacs:NY"``; a SciPy sparse array (explicit zeros are
            arcs of weight 0); a NetworkX graph (vertex k is its k-th node); a pandas, Polars or
            Arrow table of tails, heads and weights; or ``(offsets, heads, weights)`` in CSR form,
            of shapes (n + 1,), (m,) and (m,). These may be CuPy arrays, which are not copied if one
            rank solves on their GPU. Weights are int32, uint32, int64, float32 or float64; other
            types are converted.
        source: vertex index, from 0 (also for files whose own ids begin at 1).
        sources: integers, shape (k,): several sources instead of ``source``, as for `apsp`. Of the
            options ``algorithm`` (one of `apsp`'s), ``device``, ``predecessors``, ``reverse``,
            ``turns`` and ``prepare`` may be given with it. With turns there are no predecessors.
        targets: vertex indices; the solve ends when these are final, and leaves vertices farther
            than the farthest of them unreached. With negative weights everything is solved.
        tail, head, weight: titles of the columns of a table, in a file or in memory; ``weight`` is
            also the edge attribute of a NetworkX graph. ``docs/tables.md`` lists the defaults.
        comm: an MPI communicator; None for all ranks that the launcher started.
        **options: how to solve, see `groute_py.engine.options.Options`; ``help(groute_py.sssp)``
            and ``docs/python.md`` list them.

    Returns:
        On rank 0 a `Result` with distances of shape (n,): int64 for integer weights (`UNREACHED` if
        no path leads to the vertex), else float32 or float64 (infinity), and int64 predecessors of
        shape (n,), −1 if there is none. For ``sources`` a `SourceRows` with shape (k, n). None on
        the other ranks.

    Raises:
        InputError: wrong arguments, or the graph is not valid or does not fit in memory.
        NegativeCycleError: a negative cycle can be reached from the source.
        SetupError: the device or the MPI set-up cannot be used.
        RunError: a distance does not fit in 64 bits.
        TimeLimitError: the time limit passed; a RunError.

    >>> result = sssp(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), 0, device="cpu")
    >>> result.distances.tolist(), result.path_to(2)
    ([0, 4, 7], [0, 1, 2])
    """
    given, columns = chosen(Options, "sssp", options), Columns(tail, head, weight)
    channel = connect(comm)
    with collective(channel):
        asked = _for_one_source(source, sources, targets, given)
    refuse_difference(channel, {"function": "apsp" if asked is None else "sssp"})
    if asked is None:
        return _rows(channel, graph, sources, _request(channel, given), columns)
    ends, choices = asked
    with _opened(graph, choices, channel, columns) as solver:
        return solver.sssp(*ends)


@takes(Options, "bfs")
def bfs(
    graph: GraphLike,
    source: int,
    *,
    targets: Sequence[int] = (),
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    comm: MPI.Intracomm | None = None,
    **options: Unpack[BfsKeywords],
) -> Result | None:
    """The least number of arcs from ``source`` to every vertex; weights are ignored.

    One rank uses breadth-first search, direction-optimizing on a GPU (Beamer, Asanovic and
    Patterson, 2012). Several ranks use near–far relaxation with arcs of weight 1.

    Args:
        graph, source, targets, tail, head, weight, comm: as for `sssp`.
        **options: as for `sssp`; ``cutoff`` is a number of arcs.

    Returns:
        A `Result` on rank 0: int64 distances and predecessors, shape (n,); None on the other ranks.

    Raises:
        InputError, SetupError, RunError, TimeLimitError: as for `sssp`.

    >>> bfs(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), 0, device="cpu").distances.tolist()
    [0, 1, 1]
    """
    given = chosen(Options, "bfs", options)
    channel = connect(comm)
    with collective(channel):
        ends = ends_of(source, targets)
        choices = _checked({**given, "algorithm": "bfs", "hops": True})
    refuse_difference(channel, {"function": "bfs"})
    with _opened(graph, choices, channel, Columns(tail, head, weight)) as solver:
        return solver.sssp(*ends)


@takes(Options, "open")
def open(
    graph: GraphLike,
    *,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    comm: MPI.Intracomm | None = None,
    **options: Unpack[OpenKeywords],
) -> Solver:
    """Read a graph once and load it on the devices of all ranks, for many solves.

    Under ``mpirun`` every rank calls this function, and then the methods of the solver, in the same
    order.

    Args:
        graph, tail, head, weight, comm: as for `sssp`.
        **options: as for `sssp`, for all solves.

    Returns:
        A `Solver` on every rank. Use it as a context manager, or call its ``close``.

    Raises:
        InputError, SetupError: as for `sssp`.

    >>> with open(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), device="cpu") as solver:
    ...     [solver.sssp(source).distances.tolist()[2] for source in range(3)]
    [7, 3, 0]
    """
    given = chosen(Options, "open", options)
    channel = connect(comm)
    with collective(channel):
        choices = _checked(given)
    refuse_difference(channel, {"function": "open"})
    return _opened(graph, choices, channel, Columns(tail, head, weight))


def prepare(
    graph: GraphLike,
    *,
    device: str = "auto",
    undirected: bool = False,
    cache: bool | str | os.PathLike[str] | None = None,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    comm: MPI.Intracomm | None = None,
) -> PreparedGraph | None:
    """Contract a graph once, for many solves that take less time.

    Suits roads, meshes, trees and chains: graphs that stay sparse (Geisberger et al., 2012). Under
    ``mpirun`` every rank calls this function; rank 0 contracts.

    Args:
        graph, tail, head, weight, comm: as for `sssp`.
        device: where to contract, as for `sssp`.
        undirected: add the reverse of each arc.
        cache: whether to keep a prepared copy of a file for the next time. None: if the file has at
            least 1 MB. True: always. False: never, and ignore existing copies. A folder: always, in
            that folder.

    Returns:
        A `PreparedGraph` on rank 0, which every function takes that takes a graph; None on the
        other ranks. A graph that was prepared before is returned as it is.

    Raises:
        InputError: weights are floats or negative, or the graph would become too dense.
        SetupError: the device cannot be used.

    >>> town = prepare("road:20x20", device="cpu")
    >>> int(sssp(town, 37, device="cpu").reached.sum())
    353
    """
    channel = connect(comm)
    refuse_difference(channel, {"function": "prepare", "device": device, "undirected": undirected})

    def prepared() -> Whole:  # which stays on rank 0
        where = cache if cache is None or isinstance(cache, bool) else file_path("cache", cache)
        columns = Columns(tail, head, weight, undirected)
        source = GraphSource(graph, columns, cache=where, prepare=True)
        return Whole(read_prepared(source, device)[0])

    found = on_root(channel, prepared)
    return cast("PreparedGraph", found.graph()) if channel.rank == 0 else None


@takes(Request, "apsp")
def apsp(
    graph: GraphLike,
    *,
    sources: Sequence[int] | NDArray[Any] | None = None,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    comm: MPI.Intracomm | None = None,
    **options: Unpack[ApspKeywords],
) -> SourceRows | None:
    """Shortest paths from all vertices, or from many sources, to all vertices.

    Under ``mpirun`` every rank calls this function; each solves an even part of the sources.
    Negative weights are replaced by Johnson's potentials (Johnson, 1977).

    The methods are ``floyd`` (blocked Floyd–Warshall: Floyd, 1962; Warshall, 1962), ``heap``
    (Dijkstra, 1959, with a heap: one source a warp or core), ``batch`` (near–far, one source a
    thread block or core), ``sweep`` (a contraction hierarchy, several sources a sweep: Delling et
    al., 2013) and ``single`` (near–far with the whole GPU, one source after another).

    Args:
        graph: as for `sssp`; every rank holds the whole graph.
        sources: vertex indices from 0, shape (k,); None for all.
        tail, head, weight, comm: as for `sssp`.
        **options: how to solve, see `groute_py.many.request.Request`; ``help(groute_py.apsp)`` and
            ``docs/python.md`` list them.

    Returns:
        A `SourceRows` on rank 0, with distances of shape (k, n) in the types of `sssp`; None on the
        other ranks.

    Raises:
        InputError: wrong arguments, the graph is not valid, or the rows do not fit in memory.
        NegativeCycleError: a negative cycle can be reached from a source.
        SetupError: the device or the MPI set-up cannot be used.
        RunError: a distance does not fit in 64 bits.

    >>> rows = apsp(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), predecessors=True, device="cpu")
    >>> rows.distances[0].tolist(), rows.path(0, 2)
    ([0, 4, 7], [0, 1, 2])
    """
    given = chosen(Request, "apsp", options)
    channel = connect(comm)
    with collective(channel):
        request = Request(**given)
    refuse_difference(channel, {"function": "apsp"})
    return _rows(channel, graph, sources, request, Columns(tail, head, weight))


def _rows(
    channel: Channel,
    graph: GraphLike,
    sources: Sequence[int] | NDArray[Any] | None,
    request: Request,
    columns: Columns,
) -> SourceRows | None:
    def load() -> Loaded:
        source = GraphSource(graph, columns, turns=request.turns, prepare=request.keeps_prepared)
        begins = None if sources is None else as_vertices(sources)
        return Loaded.read(source, request)._replace(sources=begins)

    return collect(channel, job_of(channel, load, request))


def _opened(graph: GraphLike, options: Options, channel: Channel, columns: Columns) -> Solver:
    source = GraphSource(
        graph,
        columns,
        Direction(options.reverse),
        options.turns,
        prepare=options.keeps_prepared,
    )
    file = source.watched(channel)
    supply = source.supply(channel, whole=options.renumbers)
    solver = Solver(supply, channel, with_coordinates(options, graph))
    solver.watch(file)
    return solver


def _checked(given: dict[str, Any]) -> Options:
    options = Options(**given)
    options.check()
    return options


def _for_one_source(
    source: int | None,
    sources: Sequence[int] | NDArray[Any] | None,
    targets: Sequence[int],
    given: dict[str, Any],
) -> tuple[tuple[int, list[int]], Options] | None:
    """The ends of a solve and its options; None for several sources."""
    if source is not None and sources is None:
        return ends_of(source, targets), _checked(given)
    if source is not None or sources is None:
        raise InputError("give either a source or sources")
    _check_for_several(given, targets)
    return None


def _of_request(given: dict[str, Any]) -> dict[str, Any]:
    """The options of `sssp` that `apsp` has too, by the defaults of `sssp`."""
    shared = {entry.name for entry, _ in options_of(Request, "apsp")}
    return {
        entry.name: given.get(entry.name, entry.default)
        for entry, _ in options_of(Options, "sssp")
        if entry.name in shared
    }


def _request(channel: Channel, given: dict[str, Any]) -> Request:
    """For several sources; predecessors by default, but not with turns. Collective."""
    has_turns = channel.broadcast(given.get("turns") is not None)  # those of rank 0 count
    return Request(
        **{**_of_request(given), "predecessors": given.get("predecessors", not has_turns)}
    )


def _check_for_several(given: dict[str, Any], targets: Sequence[int]) -> None:
    """Raise `InputError` for what only a solve from one source takes."""
    allowed = _of_request(given)
    wrong = [
        entry.name
        for entry in fields(Options)
        if entry.name in given.keys() - allowed.keys() and not is_default(entry, given[entry.name])
    ]
    if ends_of(0, targets)[1]:
        wrong.append("targets")
    if wrong:
        raise InputError(f"{', '.join(wrong)}: for one source, not for several")
