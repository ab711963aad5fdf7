"""A second quantity along shortest paths, such as the length of the fastest ones.

The paths are those of the answer: of several that are equally short, the one of its tree. Of
parallel arcs they take the lightest, and of these the first, as `groute_py.Graph.arc` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.errors import RunError, quote, quoted
from groute_py.graph.csr import Graph, no_column
from groute_py.graph.tails import transposed

Sums = Mapping[str, NDArray[Any]]
"""By the name of a column its sums: int64 or float64; `unreached` where no path leads."""

A = TypeVar("A")


class Carrier:
    """Columns of a graph in host memory, to be summed along its paths.

    Raises:
        InputError: the graph has no column of a name.
    """

    def __init__(self, graph: Graph, names: Sequence[str]) -> None:
        self.names = names
        for name in names:
            if name not in graph.columns:
                raise no_column(name, graph.columns, graph.name)
        numbers = np.arange(graph.arc_count)
        offsets, tails, numbers = transposed(graph.offsets, graph.heads, numbers)
        self._arcs, self._graph = (offsets, tails, graph.weights[numbers]), graph
        self._columns = {name: _wide(graph.columns[name][numbers]) for name in names}

    def along_tree(
        self,
        predecessors: NDArray[Any],
        reached: NDArray[np.bool_],
        ends: NDArray[Any],
        each: int = 1,
    ) -> Sums:
        """Sums of the paths to some vertices, shape (t,), of a tree or a forest, (n,).

        Of ``each`` forests, (n · each,), that of a vertex v begins at v · each.
        """
        from groute_py.kernels.cpu.carry import sum_along_tree  # which compiles

        some, sums = ends[reached[ends]], {}
        stack = np.empty(len(predecessors), np.int64)
        for name, column in self._columns.items():
            nothing = unreached(column.dtype)
            every = np.full(len(predecessors), nothing)
            arguments = column, predecessors, each, some, nothing, every, stack
            wrong = sum_along_tree(self._arcs, *arguments)
            if wrong >= 0:
                raise self._too_great(name, wrong // each)
            sums[name] = every[ends]
        return sums

    def along_paths(self, paths: Sequence[NDArray[np.int64]]) -> Sums:
        """Sums of k paths, shape (k,), each of which is the positions of its vertices."""
        from groute_py.kernels.cpu.carry import sum_along_paths  # which compiles

        vertices, sums = np.concatenate([np.empty(0, np.int64), *paths]), {}
        stops = np.cumsum([len(path) for path in paths])
        for name, column in self._columns.items():
            of_paths = np.zeros(len(paths), column.dtype)
            arguments = column, vertices, stops, unreached(column.dtype), of_paths
            wrong = sum_along_paths(self._arcs, *arguments)
            if wrong >= 0:
                raise self._too_great(name, int(paths[wrong][-1]))
            sums[name] = of_paths
        return sums

    def _too_great(self, name: str, end: int) -> RunError:
        vertex = quoted(self._graph.numbering.id_of(end))
        return RunError(f"the sum of {quote(name)} on the path to {vertex} does not fit in 64 bits")


def with_sums(answer: A, sums: Sums) -> A:
    """The answer with sums along its paths; arrays stay on a GPU if they are there."""
    result = copy(answer)
    vars(result).update(carried=sums)  # answers are frozen
    return result


def _wide(column: NDArray[Any]) -> NDArray[Any]:
    return column.astype(np.float64 if column.dtype.kind == "f" else np.int64)
