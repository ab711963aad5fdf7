"""A graph contracted once, for many solves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from groute_py.comm.agree import at_root, refuse_difference
from groute_py.comm.base import Intracomm
from groute_py.comm.connect import connect
from groute_py.engine.preparing import read_prepared, with_order
from groute_py.errors import check_truth, file_path
from groute_py.graph.csr import GraphLike
from groute_py.graph.hierarchy.prepared import PreparedGraph
from groute_py.io.tables.columns import Columns
from groute_py.source.graph_source import GraphSource


def prepare(
    graph: GraphLike,
    *,
    device: str = "auto",
    undirected: bool = False,
    separators: bool = False,
    cache: bool | str | os.PathLike[str] | None = None,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    ignore_columns: Sequence[Any] = (),
    comm: Intracomm | None = None,
) -> PreparedGraph | None:
    """Contract a graph once, for many solves that take less time.

    Suits roads, meshes, trees and chains: graphs that stay sparse (Geisberger et al., 2012). Under
    ``mpirun`` every rank calls this function; rank 0 contracts.

    Args:
        graph, tail, head, weight, ignore_columns, comm: as for `sssp`.
        device: where to contract, as for `sssp`.
        undirected: add the reverse of each arc.
        separators: order the graph by separators too, for pairs, matrices and weights that change;
            see `customize`. A file of the graph has the order as well.
        cache: whether to keep a prepared copy of a file for the next time. None: if the file has at
            least 1 MB. True: always. False: never, and ignore existing copies. A folder: always, in
            that folder.

    Returns:
        A `PreparedGraph` on rank 0, which every function takes that takes a graph; None on the
        other ranks. A graph that was prepared before is returned as it is.

    Raises:
        InputError: weights are floats or negative, or the graph would become too dense, or is to
            be ordered and has no small separators.
        SetupError: the device cannot be used, or METIS is missing.

    >>> from groute_py import sssp
    >>> town = prepare("road:20x20", device="cpu")
    >>> int(sssp(town, 37, device="cpu").reached.sum())
    353
    """
    channel = connect(comm)
    choices = {"device": device, "undirected": undirected, "separators": separators}
    refuse_difference(channel, {"function": "prepare"} | choices)

    def prepared() -> PreparedGraph:
        check_truth("undirected", undirected)
        check_truth("separators", separators)
        where = cache if cache is None or isinstance(cache, bool) else file_path("cache", cache)
        columns = Columns(tail, head, weight, undirected, ignore=ignore_columns)
        source = GraphSource(graph, columns, cache=where, prepare=True)
        whole, _ = read_prepared(source, device)
        return with_order(whole, source.orders) if separators else whole

    return at_root(channel, prepared)
