"""What a Python user calls."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.comm.connect import connect
from groute_py.engine.agree import on_all, on_root, refuse_difference
from groute_py.engine.options import Options
from groute_py.engine.session import Session
from groute_py.engine.supply.base import Supply
from groute_py.engine.supply.mapped import Mapped, mapped_copy
from groute_py.engine.supply.pieces import read_pieces
from groute_py.engine.supply.shared import SharedFile
from groute_py.engine.supply.whole import Whole
from groute_py.errors import InputError, quote
from groute_py.graph import datasets
from groute_py.graph.array_like import host_array
from groute_py.graph.columns import BY_TITLE, Columns
from groute_py.graph.coordinates import coordinates_beside
from groute_py.graph.csr import Graph
from groute_py.graph.files import copy_for, is_for_pieces, native_file, read_table
from groute_py.graph.from_networkx import graph_from_networkx, is_networkx, weight_of
from groute_py.graph.from_table import is_table, table_graph
from groute_py.graph.generate import generate, is_spec
from groute_py.graph.mirror import mirrored
from groute_py.many.apsp import collect, prepare
from groute_py.many.choose import Request
from groute_py.many.rows import SourceRows
from groute_py.result import Result

if TYPE_CHECKING:
    from mpi4py import MPI

GraphLike = Any
"""A `Graph`, a path, a spec or name, a SciPy sparse array, a NetworkX graph, an edge table, or
(offsets, heads, weights)."""


def sssp(
    graph: GraphLike,
    source: int | None = None,
    *,
    sources: Sequence[int] | NDArray[Any] | None = None,
    algorithm: str = "auto",
    delta: float | None = None,
    device: str = "auto",
    partition: str = "arcs",
    predecessors: bool = True,
    cutoff: float | None = None,
    time_limit_s: float | None = None,
    mode: str = "auto",
    order: str = "auto",
    coordinates: str | Path | None = None,
    download: bool = True,
    targets: Sequence[int] = (),
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    comm: MPI.Intracomm | None = None,
) -> Result | SourceRows | None:
    """Shortest paths from ``source`` to every vertex, or from each of ``sources``.

    In a script under ``mpirun`` every rank calls this; the graph is read on rank 0 and spread
    over all ranks (of a native file each maps its rows), and the result comes back to rank 0.

    Args:
        graph: a `Graph`; the path of a graph file; a spec such as ``"road:1000x1000"``; the name of
            a graph to download such as ``"dimacs:NY"``; a SciPy sparse array (explicit zeros are
            arcs of weight 0); a NetworkX graph (vertex k is its k-th node); a pandas, Polars or
            Arrow table of tails, heads and weights; or ``(offsets, heads, weights)``, which may be
            CuPy arrays: these are not copied where one rank solves on their GPU.
        source: vertex index, from 0 (also for files whose own ids begin at 1).
        sources: several of them in place of ``source``, as for `apsp`: of the other arguments these
            are taken then: ``algorithm`` (one of `apsp`'s), ``device``, ``predecessors``, ``comm``.
        algorithm: ``auto`` or the name of a method, which ``groute-py algorithms`` lists.
        delta: Δ for delta-stepping, in units of weight; None for automatic.
        device: ``auto``, ``cpu`` or ``cuda``.
        partition: ``arcs`` or ``vertices``, what the parts have equally many of.
        predecessors: also find the shortest-path tree.
        cutoff: leave vertices farther than this unreached.
        time_limit_s: give up after this many seconds.
        mode: how several ranks of a host exchange: ``fused`` inside the kernel, ``rounds`` through
            the host, ``auto`` for fused where it can run. Between hosts it is always in rounds.
        order: vertices are renumbered before the cut, results stay in the graph's own numbers:
            ``bfs``, ``rcm`` (needs SciPy), ``hilbert`` (needs coordinates), ``none``; ``auto``
            renumbers where that saves at least half of the arcs between parts, or of the vertices
            that have such arcs.
        coordinates: a DIMACS ``.co`` file, plain or ``.gz``; by default the one beside the graph.
        download: False leaves the answer on the GPU, as CuPy arrays ``result.distances_device`` and
            ``result.predecessors_device``; where one rank solves.
        targets: end when these vertices are final; those farther than the farthest of them are
            left unreached. With negative weights all is solved.
        tail, head, weight: the columns of a table, in a file or not, by their titles; ``weight``
            also the edge attribute of a NetworkX graph. By default those whose names say so, as
            ``docs/tables.md`` lists them.
        comm: an MPI communicator; None for all ranks that the launcher started.

    Returns:
        A `Result` on rank 0, for ``sources`` a `SourceRows`; None on the other ranks.

    Raises:
        InputError: wrong arguments or graph.
        NegativeCycleError: a negative cycle can be reached from the source.
        SetupError: the device or the MPI set-up cannot be used.
        RunError: a distance does not fit, or the time limit passed.

    >>> result = sssp(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), 0, device="cpu")
    >>> result.distances.tolist(), result.path_to(2)
    ([0, 4, 7], [0, 1, 2])
    """
    channel = connect(comm)

    def asked() -> tuple[int, list[int]] | None:
        """The source and the targets; None for several sources."""
        if sources is None and source is not None:
            return _indices(source, targets)
        if source is not None or sources is None:
            raise InputError("give either a source or sources")
        one_source = {
            "delta": delta is not None,
            "partition": partition != "arcs",
            "cutoff": cutoff is not None,
            "time_limit_s": time_limit_s is not None,
            "mode": mode != "auto",
            "order": order != "auto",
            "coordinates": coordinates is not None,
            "download": not download,
            "targets": len(_indices(0, targets)[1]) > 0,
        }
        if given := [name for name, is_given in one_source.items() if is_given]:
            raise InputError(f"{', '.join(given)}: for one source, not for several")
        return None

    ends = on_all(channel, asked)
    refuse_difference(channel, {"function": "apsp" if ends is None else "sssp"})
    if ends is None:
        request = Request(algorithm, device, predecessors)
        return _rows(channel, graph, sources, request, Columns(tail, head, weight))
    options = Options(
        algorithm,
        delta,
        device,
        partition,
        predecessors,
        cutoff,
        time_limit_s,
        mode,
        order,
        coordinates or coordinates_beside(graph),
        download,
    )
    with open_session(graph, options, channel, Columns(tail, head, weight)) as session:
        return session.solve(*ends)


def bfs(
    graph: GraphLike,
    source: int,
    *,
    device: str = "auto",
    partition: str = "arcs",
    predecessors: bool = True,
    cutoff: float | None = None,
    time_limit_s: float | None = None,
    mode: str = "auto",
    order: str = "auto",
    coordinates: str | Path | None = None,
    download: bool = True,
    targets: Sequence[int] = (),
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    comm: MPI.Intracomm | None = None,
) -> Result | None:
    """The least number of arcs from ``source`` to every vertex; weights are not looked at.

    On one rank by breadth-first search, in both directions on a GPU (Beamer, Asanovic and
    Patterson, 2012); on several by near–far relaxation of arcs that weigh 1.

    Args:
        graph, source: as for `sssp`.
        cutoff: leave vertices that are more arcs away unreached.
        device, partition, predecessors, time_limit_s, mode, order, coordinates, download, targets,
            tail, head, weight, comm: as for `sssp`.

    Returns:
        A `Result` on rank 0, whose distances are int64; None on the other ranks.

    Raises:
        InputError, SetupError, RunError: as for `sssp`.

    >>> bfs(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), 0, device="cpu").distances.tolist()
    [0, 1, 1]
    """
    channel = connect(comm)
    ends = on_all(channel, lambda: _indices(source, targets))
    refuse_difference(channel, {"function": "bfs"})
    options = Options(
        algorithm="bfs",
        device=device,
        partition=partition,
        predecessors=predecessors,
        cutoff=cutoff,
        time_limit_s=time_limit_s,
        mode=mode,
        order=order,
        coordinates=coordinates or coordinates_beside(graph),
        download=download,
        hops=True,
    )
    with open_session(graph, options, channel, Columns(tail, head, weight)) as session:
        return session.solve(*ends)


def apsp(
    graph: GraphLike,
    *,
    sources: Sequence[int] | NDArray[Any] | None = None,
    algorithm: str = "auto",
    device: str = "auto",
    predecessors: bool = False,
    memory_limit: int | None = None,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    comm: MPI.Intracomm | None = None,
) -> SourceRows | None:
    """Shortest paths from all vertices, or from many, to all.

    Under ``mpirun`` every rank calls this; each takes an even part of the sources.

    Args:
        graph: as for `sssp`; every rank will have the whole of it.
        sources: vertices, from 0; None for all.
        algorithm: ``floyd`` (blocked Floyd-Warshall), ``heap`` (Dijkstra, a source for each half
            warp or core), ``batch`` (near–far, a source for each block), ``single`` (near–far by
            all of a GPU, one source after the other), or ``auto``.
        device: ``auto``, ``cpu`` or ``cuda``.
        predecessors: also find the shortest-path trees.
        memory_limit: bytes of device memory that may be used; None for what is free.
        tail, head, weight, comm: as for `sssp`.

    Returns:
        All rows, on rank 0; None on the other ranks.

    Raises:
        InputError: wrong arguments or graph, or the rows do not fit in memory.
        NegativeCycleError: a negative cycle can be reached from a source.
        SetupError: the device or the MPI set-up cannot be used.
        RunError: a distance does not fit.

    >>> rows = apsp(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), predecessors=True, device="cpu")
    >>> rows.distances[0].tolist(), rows.path(0, 2)
    ([0, 4, 7], [0, 1, 2])
    """
    request = Request(algorithm, device, predecessors, memory_limit)
    channel = connect(comm)
    on_all(channel, request.check)
    refuse_difference(channel, {"function": "apsp"})
    return _rows(channel, graph, sources, request, Columns(tail, head, weight))


def _rows(
    channel: Channel,
    graph: GraphLike,
    sources: Sequence[int] | NDArray[Any] | None,
    request: Request,
    columns: Columns,
) -> SourceRows | None:
    def load() -> tuple[Graph, NDArray[np.int64] | None]:
        return as_graph(graph, columns=columns), None if sources is None else _vertices(sources)

    return collect(channel, prepare(channel, load, request))


def _indices(source: int, targets: Sequence[int]) -> tuple[int, list[int]]:
    try:
        return operator.index(source), [operator.index(target) for target in targets]
    except TypeError as problem:
        raise InputError(
            f"source {quote(source)}, targets {quote(targets)}: an integer and a sequence of "
            f"integers are expected ({problem})"
        ) from problem


def _vertices(sources: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
    vertices = host_array(sources)
    if vertices.dtype.kind not in "iu" and vertices.size:
        raise InputError(f"sources must be integers, not {vertices.dtype}")
    return vertices.astype(np.int64)


def open_session(
    graph: GraphLike, options: Options, channel: Channel, columns: Columns = BY_TITLE
) -> Session:
    """Read the graph and spread it; for several solves on one graph. Collective."""
    supply = supply_of(graph, channel, whole=options.renumbers, columns=columns)
    return Session(supply, channel, options)


def supply_of(
    graph: GraphLike,
    channel: Channel,
    *,
    whole: bool = False,
    undirected: bool = False,
    cache: bool | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    columns: Columns = BY_TITLE,
) -> Supply:
    """Where the ranks get their rows of ``graph`` from. Collective.

    Args:
        graph: as for `sssp`; other ranks' values are not looked at.
        channel: connects the ranks.
        whole: whether rank 0 will need the whole graph anyway, for an order or to verify.
        undirected: as for `as_graph`.
        cache: as for `read_graph`.
        progress: as for `read_graph`.
        columns: those of a table that the caller names.

    Raises:
        InputError: it is no graph; the same error on every rank.
    """

    def find() -> SharedFile | None:
        if channel.size == 1 or undirected or (file := _file_of(graph, progress)) is None:
            return None
        if (native := native_file(file, cache, columns)) is not None:
            return SharedFile(native, native=True, copied=native != Path(file))
        pieces = not whole and not columns.named and is_for_pieces(file)
        return SharedFile(Path(file)) if pieces else None

    def read() -> Whole:
        return Whole(
            as_graph(graph, undirected=undirected, cache=cache, progress=progress, columns=columns)
        )

    file = on_root(channel, find)
    if file is not None and all(channel.gather(file.is_seen())):
        if file.native:
            found = mapped_copy(file.path, channel) if file.copied else Mapped(file.path)
            return found or on_root(channel, read)
        copy = on_root(channel, lambda: copy_for(file.path, cache))
        if (pieces := read_pieces(file, channel, copy, progress)) is not None:
            return pieces
    return on_root(channel, read)


def as_graph(
    graph: GraphLike,
    *,
    undirected: bool = False,
    cache: bool | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    columns: Columns = BY_TITLE,
) -> Graph:
    """Make a `Graph` of whatever ``graph`` is; see `sssp`.

    Args:
        graph: as for `sssp`.
        undirected: whether each arc is an edge, and also leads back.
        cache: as for `read_graph`.
        progress: as for `read_graph`.
        columns: those of a table that the caller names, or the attribute of a NetworkX graph.

    Raises:
        InputError: it is none of these, or not a valid one, or has no columns by name.
    """
    whole = _directed(graph, cache, progress, columns._replace(undirected=undirected))
    return mirrored(whole) if undirected else whole


def _directed(
    graph: GraphLike,
    cache: bool | Path | None,
    progress: Callable[[int, int], None] | None,
    columns: Columns,
) -> Graph:
    if (file := _file_of(graph, progress)) is not None:
        return read_table(file, columns, cache, progress)
    if is_networkx(graph):
        columns._replace(weight=None).refuse("a NetworkX graph")
        return graph_from_networkx(graph, weight_of(graph, columns.weight))
    if not hasattr(graph, "tocsr") and is_table(graph):
        return table_graph(graph, columns)
    columns.refuse(str(graph) if isinstance(graph, str) else f"a {type(graph).__name__}")
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, str) and is_spec(graph):
        return generate(graph)
    if isinstance(graph, tuple) and len(graph) == 3:
        return Graph.from_arrays(*graph)
    if hasattr(graph, "tocsr"):
        return from_scipy(graph)
    raise InputError(
        f"a graph cannot be made from {type(graph).__name__}; give a Graph, a path, a SciPy sparse "
        "array, a NetworkX graph, an edge table or (offsets, heads, weights)"
    )


def _file_of(graph: GraphLike, progress: Callable[[int, int], None] | None) -> str | Path | None:
    """The file that a path or the name of a graph stands for; None for any other graph."""
    if not isinstance(graph, str | Path) or (isinstance(graph, str) and is_spec(graph)):
        return None
    if isinstance(graph, str) and datasets.is_name(graph):
        return datasets.fetch(graph, progress)
    return graph


def from_scipy(matrix: Any) -> Graph:
    """A graph from a SciPy sparse array or matrix; entry (u, v) is the weight of arc u → v.

    Raises:
        InputError: not a square sparse array.
    """
    if len(matrix.shape) != 2:
        raise InputError(f"an adjacency matrix must have two dimensions, not {matrix.shape}")
    rows = matrix.tocsr()
    if rows.shape[0] != rows.shape[1]:
        raise InputError(f"an adjacency matrix must be square, not {rows.shape}")
    return Graph.from_arrays(rows.indptr, rows.indices, rows.data, name="sparse array")
