"""The ids that a table has for its arcs, brought from rows to arcs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph


def with_arc_ids(
    graph: Graph, ids: NDArray[Any], rows: NDArray[np.int64], tails: NDArray[Any]
) -> Graph:
    """The graph of a table with the ids of its arcs; both directions of a row share one.

    Args:
        graph: whose arcs of one tail stand in the order in which they came.
        ids: of the rows, int64 or strings, shape (rows,).
        rows: of the arcs as they came, `groute_py.io.tables.directions.rows_of_arcs`.
        tails: of the arcs as they came, shape (m,).
    """
    return graph.changed(arc_ids=ids[rows[np.argsort(tails, kind="stable")]])
