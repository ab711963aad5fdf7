"""The public functions: shortest paths from one source, from several, from all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from groute_py.arguments import file_path
from groute_py.comm.agree import at_root, refuse_difference
from groute_py.comm.connect import connect
from groute_py.engine.keywords import BfsKeywords, OpenKeywords, SsspKeywords
from groute_py.engine.option import shared_options, takes
from groute_py.engine.options import Options
from groute_py.engine.preparing import read_prepared
from groute_py.hierarchy.prepared import PreparedGraph
from groute_py.interop.graph_like import GraphLike
from groute_py.io.tables.columns import Columns
from groute_py.jobs.solver import Solver
from groute_py.jobs.tree import TreeJob
from groute_py.many.sources import Vertex, Vertices
from groute_py.results.result import Result
from groute_py.solver.opened import open_for
from groute_py.source.graph_source import GraphSource

if TYPE_CHECKING:
    from mpi4py import MPI


@takes(Options, "sssp")
def sssp(
    graph: GraphLike,
    source: Vertex,
    *,
    targets: Vertices = (),
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    ignore_columns: Sequence[Any] = (),
    comm: MPI.Intracomm | None = None,
    **options: Unpack[SsspKeywords],
) -> Result | None:
    """Shortest paths from ``source`` to every vertex; `apsp` is for several sources.

    The default method is near–far Δ-stepping (Meyer and Sanders, 2003; Davidson et al., 2014).
    In a script under ``mpirun`` every rank calls this function. Rank 0 reads the graph and
    distributes it (each rank maps its rows of a native file) and gets the result.

    Args:
        graph: a `Graph`; the path of a graph file; a spec such as ``"road:1000x1000"``; the name of
            a graph to download such as ``"dimacs:NY"``; a SciPy sparse array (explicit zeros are
            arcs of weight 0); a NetworkX graph; a pandas, Polars or
            Arrow table of tails, heads and weights; or ``(offsets, heads, weights)`` in CSR form,
            of shapes (n + 1,), (m,) and (m,). These may be CuPy arrays, which are not copied if one
            rank solves on their GPU. Weights are int32, uint32, int64, float32 or float64; other
            types are converted.
        source: the id of a vertex: the graph's own, of its file, table or nodes; from 0 where there
            are none, as of arrays. `Positions` count from 0 in any graph, and `Points` are places.
        targets: ids; the solve ends when these are final, and leaves vertices farther
            than the farthest of them unreached. With negative weights everything is solved.
        tail, head, weight: titles of the columns of a table, in a file or in memory; ``weight`` is
            also the edge attribute of a NetworkX graph. ``docs/tables.md`` lists the defaults.
        ignore_columns: titles of columns of a table that count as absent.
        comm: an MPI communicator; None for all ranks that the launcher started.
        **options: how to solve, see `groute_py.engine.options.Options`; ``help(groute_py.sssp)``
            lists them.

    Returns:
        On rank 0 a `Result` with distances of shape (n,): int64 for integer weights (`UNREACHED` if
        no path leads to the vertex), else float32 or float64 (infinity), and int64 predecessors of
        shape (n,), −1 if there is none; None on the other ranks.

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
    with open_for(
        "sssp", graph, options, Columns(tail, head, weight, ignore=ignore_columns), comm
    ) as opened:
        return opened.answer(TreeJob(source, targets))


@takes(Options, "bfs")
def bfs(
    graph: GraphLike,
    source: Vertex,
    *,
    targets: Vertices = (),
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    ignore_columns: Sequence[Any] = (),
    comm: MPI.Intracomm | None = None,
    **options: Unpack[BfsKeywords],
) -> Result | None:
    """The least number of arcs from ``source`` to every vertex; weights are ignored.

    One rank uses breadth-first search, direction-optimizing on a GPU (Beamer, Asanovic and
    Patterson, 2012). Several ranks use near–far relaxation with arcs of weight 1.

    Args:
        graph, source, targets, tail, head, weight, ignore_columns, comm: as for `sssp`.
        **options: as for `sssp`; ``cutoff`` is a number of arcs.

    Returns:
        A `Result` on rank 0: int64 distances and predecessors, shape (n,); None on the other ranks.

    Raises:
        InputError, SetupError, RunError, TimeLimitError: as for `sssp`.

    >>> bfs(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), 0, device="cpu").distances.tolist()
    [0, 1, 1]
    """
    columns, how = (
        Columns(tail, head, weight, ignore=ignore_columns),
        {"algorithm": "bfs", "hops": True},
    )
    with open_for("bfs", graph, options, columns, comm, **how) as opened:
        return opened.answer(TreeJob(source, targets, "bfs"))


@takes(Options, "open")
def open(
    graph: GraphLike,
    *,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    ignore_columns: Sequence[Any] = (),
    comm: MPI.Intracomm | None = None,
    **options: Unpack[OpenKeywords],
) -> Solver:
    """Read a graph once and load it on the devices of all ranks, for many solves.

    Under ``mpirun`` every rank calls this function, and then the methods of the solver, in the same
    order.

    Args:
        graph, tail, head, weight, ignore_columns, comm: as for `sssp`.
        **options: as for `sssp`, for all solves.

    Returns:
        A `Solver` on every rank. Use it as a context manager, or call its ``close``.

    Raises:
        InputError, SetupError: as for `sssp`.

    >>> with open(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), device="cpu") as solver:
    ...     [solver.sssp(source).distances.tolist()[2] for source in range(3)]
    [7, 3, 0]
    """
    opened = open_for(
        "open", graph, options, Columns(tail, head, weight, ignore=ignore_columns), comm
    )
    refuse_difference(opened.channel, {"function": "open"} | shared_options(opened.options))
    return Solver(opened)


def prepare(
    graph: GraphLike,
    *,
    device: str = "auto",
    undirected: bool = False,
    cache: bool | str | os.PathLike[str] | None = None,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    ignore_columns: Sequence[Any] = (),
    comm: MPI.Intracomm | None = None,
) -> PreparedGraph | None:
    """Contract a graph once, for many solves that take less time.

    Suits roads, meshes, trees and chains: graphs that stay sparse (Geisberger et al., 2012). Under
    ``mpirun`` every rank calls this function; rank 0 contracts.

    Args:
        graph, tail, head, weight, ignore_columns, comm: as for `sssp`.
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

    def prepared() -> PreparedGraph:
        where = cache if cache is None or isinstance(cache, bool) else file_path("cache", cache)
        columns = Columns(tail, head, weight, undirected, ignore=ignore_columns)
        source = GraphSource(graph, columns, cache=where, prepare=True)
        return read_prepared(source, device)[0]

    return at_root(channel, prepared)
