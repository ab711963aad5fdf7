"""The distances between some sources and some targets; other columns are not kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from groute_py.arguments import file_path
from groute_py.comm.agree import collective, on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.comm.connect import connect
from groute_py.engine.keywords import MatrixKeywords
from groute_py.engine.option import chosen, takes
from groute_py.interop.graph_like import GraphLike
from groute_py.io.tables.columns import Columns
from groute_py.many.apsp import Loaded, Progress, collect, prepare
from groute_py.many.request import Request
from groute_py.many.row_graph import KeptRowGraph
from groute_py.many.sources import as_vertices
from groute_py.many.storage.forms import check_output
from groute_py.many.to_file import save
from groute_py.source.graph_source import GraphSource
from groute_py.system.trace import span

if TYPE_CHECKING:
    from mpi4py import MPI


@dataclass(frozen=True, eq=False)
class Matrix:
    """Shortest paths from k sources to t targets.

    Attributes:
        sources: int64, shape (k,), vertex indices.
        targets: int64, shape (t,), likewise.
        distances: shape (k, t), in the types and units of `groute_py.Result`; mapped from the file
            that was named by ``output``, if any was.
        predecessors: int32, shape (k, t): the vertex before each target on a shortest path, −1 if
            there is none; None if not asked for.
        statistics: how they were computed: ``algorithm``, ``reason``, ``device``.
        reverse: the distances are those from the targets to the sources (``reverse=True``), and
            each predecessor is the vertex behind the target.
        attribution: whom to name where the answer is shown, "" for nobody.
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    distances: NDArray[Any]
    predecessors: NDArray[np.int32] | None
    statistics: dict[str, Any] = field(default_factory=dict)
    reverse: bool = False
    attribution: str = ""


@takes(Request, "matrix")
def matrix(
    graph: GraphLike,
    sources: Sequence[int] | NDArray[Any],
    targets: Sequence[int] | NDArray[Any],
    *,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    output: str | os.PathLike[str] | None = None,
    comm: MPI.Intracomm | None = None,
    **options: Unpack[MatrixKeywords],
) -> Matrix | None:
    """The distances from some sources to some targets.

    Under ``mpirun`` every rank calls this function; each solves an even part of the sources. The
    methods are those of `groute_py.apsp`. Of each row only the targets' columns are kept; on a GPU
    they are gathered before anything is copied to the host.

    Args:
        graph: as for `groute_py.sssp`; every rank holds the whole graph.
        sources: vertex indices from 0, shape (k,), in any order, also repeatedly.
        targets: likewise, shape (t,).
        tail, head, weight, comm: as for `groute_py.sssp`.
        output: save the distances in this ``.npy`` file as they are found, and map those of the
            answer from it; not with predecessors. Ranks of one host write their rows themselves.
        **options: how to solve, see `groute_py.many.request.Request`.

    Returns:
        A `Matrix` on rank 0; None on the other ranks.

    Raises:
        InputError: wrong arguments, the graph is not valid, or the matrix does not fit in memory.
        NegativeCycleError: a negative cycle can be reached from a source.
        SetupError: the device or the MPI set-up cannot be used.
        RunError: a distance does not fit in 64 bits; or the disk is full, or fails.

    >>> matrix(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), [0, 1], [2], device="cpu").distances.tolist()
    [[7], [3]]
    """
    request = Request(**chosen(Request, "matrix", options), destination="nowhere")
    channel = connect(comm)
    with collective(channel):
        request.check()
    path = as_output(channel, output, predecessors=request.predecessors)
    refuse_difference(channel, {"function": "matrix", "output": path})

    def load() -> Loaded:
        columns = Columns(tail, head, weight)
        source = GraphSource(graph, columns, turns=request.turns, prepare=request.keeps_prepared)
        return Loaded.read(source, request)._replace(sources=as_vertices(sources))

    return solve_matrix(channel, load, targets, request, output=path)


def as_output(
    channel: Channel, output: str | os.PathLike[str] | None, *, predecessors: bool
) -> Path | None:
    """The file of a matrix, which can be written; collective.

    Raises:
        InputError, SetupError: it cannot, or cannot hold predecessors.
    """
    with collective(channel):
        path = None if output is None else file_path("output", output)

    def check() -> None:
        if path is not None:
            check_output(path, predecessors=predecessors, suffixes=(".npy",))

    on_root(channel, check)
    return path


def solve_matrix(
    channel: Channel,
    load: Callable[[], Loaded],
    targets: Sequence[int] | NDArray[Any],
    request: Request,
    progress: Progress | None = None,
    kept: KeptRowGraph | None = None,
    output: Path | None = None,
) -> Matrix | None:
    """The answer of `matrix` on rank 0, None elsewhere. Collective.

    Args:
        channel: connects the ranks.
        load: gives the graph and the sources; called on rank 0.
        targets: as for `matrix`; rank 0's count.
        request: how to solve.
        progress: is given the rows that are done, and how many there are.
        kept: as for `prepare`.
        output: the ``.npy`` file for the distances; None for the memory of rank 0.
    """
    with span("method"):
        job = prepare(channel, load, request, lambda _: as_vertices(targets, "target"), kept)
    if output is None:
        rows = collect(channel, job, progress)
    else:
        rows = save(channel, job, output, progress)
    if rows is None:
        return None
    assert job.targets is not None
    found = rows.distances, rows.predecessors, rows.statistics, rows.reverse, rows.attribution
    return Matrix(job.sources, job.targets, *found)
