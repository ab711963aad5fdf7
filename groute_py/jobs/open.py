"""Opening a graph for many solves."""

from __future__ import annotations

from typing import Unpack

from groute_py.comm.agree import refuse_difference
from groute_py.engine.keywords import OpenKeywords
from groute_py.engine.option import shared_options, takes
from groute_py.engine.options import Options
from groute_py.graph.csr import GraphLike
from groute_py.jobs.solver import Solver
from groute_py.many.opened import open_for
from groute_py.system.threads import limited_to


@takes(Options, "open")
def open(graph: GraphLike, **options: Unpack[OpenKeywords]) -> Solver:
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
    opened = open_for("open", graph, options)
    refuse_difference(opened.channel, {"function": "open"} | shared_options(opened.options))
    with limited_to(opened.options.threads):
        return Solver(opened)
