"""``groute_py.assign``: traffic assignment on a network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.answer import Assignment
from groute_py.assignment.equilibrium import Iteration
from groute_py.assignment.job import AssignmentJob
from groute_py.assignment.link_costs import LinkTimes
from groute_py.comm.base import Intracomm
from groute_py.comm.connect import connect
from groute_py.graph.csr import GraphLike
from groute_py.source.graph_source import GraphSource


def assign(
    graph: GraphLike,
    demand: Any,
    *,
    times: LinkTimes | None = None,
    method: str = "bfw",
    gap: float = 1e-4,
    iterations: int = 2000,
    first_through: int | None = None,
    start: NDArray[np.float64] | Assignment | str | Path | None = None,
    skims: Sequence[str] = (),
    select: Mapping[str, Any] | None = None,
    time_limit_s: float | None = None,
    device: str = "auto",
    increments: int = 1,
    progress: Callable[[Iteration], Any] | None = None,
    comm: Intracomm | None = None,
) -> Assignment | None:
    """Find flows at which no traveller has a cheaper way: a user equilibrium.

    In a script under ``mpirun`` every rank calls this function. Rank 0 reads the files, each rank
    loads the trips of some origins, and flows are the same at any number of ranks. Shortest paths
    come from a customizable contraction hierarchy, so this suits roads, and needs ``pip install
    'groute-py[separators]'``.

    Args:
        graph: the network; a TNTP file has what else is needed.
        demand: a file of trips (TNTP; ``.csv`` or ``.tsv`` with columns origin, destination, trips;
            ``.omx``, or ``FILE.omx:NAME`` if it has several matrices), three lists (ids of origins
            and destinations, trips), or a square matrix of the first vertices; or a mapping of
            names of classes to such demands or to `UserClass`.
        times: of the links by their volume, `BPR` or `Conical`; None for the columns
            free_flow_time, capacity, b and power of the graph.
        method: ``bfw``, bi-conjugate Frank–Wolfe (Mitradjieva and Lindberg, 2013); ``cfw``,
            conjugate; ``tfw``, an extension to three directions, for gaps below 1e-4 on congested
            networks; ``fw``, Frank–Wolfe; or ``msa``, successive averages.
        gap: the relative gap at which to end.
        iterations: at most so many; 1 ends at the loadings, all or nothing or incremental.
        first_through: the id of the first vertex that is no zone: no path leads through those
            below. None for what the file says.
        start: flows to begin at, of the same trips: an earlier answer, its table (``.csv``), or an
            array, shape (m,) or (c, m).
        skims: names of matrices between zones, along the paths that travellers use: ``cost``,
            ``time``, and columns of the graph, such as ``length``.
        select: links by name of a selection, as pairs (tail, head) of ids; the answer has the
            flows and the trips through any of them.
        time_limit_s: then the flows of that time are the answer.
        device: ``auto``, ``cpu`` or ``cuda``; on a GPU trips of a class are rounded to at most
            2**-56 of their sum.
        increments: load the trips in so many equal parts first, each for the costs of those before.
        progress: called after each iteration, on rank 0.
        comm: an MPI communicator; None for all ranks that the launcher started.

    Returns:
        On rank 0 the flows; None on the others.

    Raises:
        GraphError: a time or capacity is wrong, or the graph has no small separators or does not
            fit in the GPU's memory.
        InputError: trips, an option or the start is wrong.
        SetupError: METIS is not installed, or the device cannot be used.

    >>> from groute_py import BPR, assign
    >>> two_roads = ([0, 2, 2], [1, 1], [1, 1])
    >>> even = assign(two_roads, ([0], [1], [8.0]), times=BPR([10, 20], [2, 4], power=1, b=1))
    >>> even.volumes.round(3).tolist(), even.times.round(3).tolist()
    ([5.0, 3.0], [35.0, 35.0])
    """
    job = AssignmentJob(
        demand,
        times,
        method,
        gap,
        iterations,
        first_through,
        start,
        time_limit_s,
        skims,
        select,
        device,
        increments,
    )
    return job.run(GraphSource(graph), connect(comm), progress)
