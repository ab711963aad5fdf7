"""One row of distances for each of several sources, on one loaded graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import SoloChannel
from groute_py.engine.algorithms.numbers import one_precision
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.errors import InputError, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.ids import Positions
from groute_py.many.choose import with_device
from groute_py.results.answer import JobAnswer
from groute_py.results.result import Result
from groute_py.results.tables import TableColumns, of_pairs
from groute_py.source.whole import GraphSupply


@dataclass(frozen=True, eq=False)
class SourceRows(JobAnswer):
    """Shortest paths from k sources.

    The other attributes are those of `groute_py.results.answer.JobAnswer`.

    Attributes:
        sources: int64, shape (k,), positions of vertices.
        distances: shape (k, n), in the types and units of `groute_py.Result`.
        predecessors: int32, shape (k, n), −1 if there is none; None if not asked for.
        reverse: the distances are those to the sources (``reverse=True``), and each predecessor is
            the vertex that comes next on the way there.
    """

    sources: NDArray[np.int64]
    distances: NDArray[Any]
    predecessors: NDArray[Any] | None
    reverse: bool = False

    def part(self, some: slice) -> TableColumns:
        """See `Tabular.part`; a line for each source and vertex."""
        before = None if self.predecessors is None else self.predecessors[some]
        everything = np.arange(self.numbering.count)
        rows = self.sources[some], everything, self.distances[some], before
        return of_pairs(self.numbering, *rows)

    def path(self, source: int | str | Positions, target: int | str | Positions) -> list[Any]:
        """The ids of the vertices of a shortest path with both ends; empty if there is no path.

        With `reverse` it is one from ``target`` to ``source``.

        Raises:
            InputError: predecessors were not asked for, ``source`` is not one of the sources, or
                ``target`` is not a vertex.
        """
        if self.predecessors is None:
            raise InputError("paths need predecessors; solve with predecessors=True")
        begin = self.numbering.index_of(source, "source")
        end = self.numbering.index_of(target, "target")
        (rows,) = np.nonzero(self.sources == begin)
        if not len(rows):
            raise InputError(f"vertex {quoted(source)} is none of the sources")
        parents = self.predecessors[rows[0]]
        if end != begin and parents[end] < 0:
            return []
        vertices = [end]
        while vertices[-1] != begin:
            vertices.append(int(parents[vertices[-1]]))
        ids: list[Any] = self.numbering.ids_of(np.array(vertices)).tolist()
        return ids if self.reverse else ids[::-1]


def solve_rows(graph: Graph, sources: NDArray[np.int64], options: Options) -> SourceRows:
    """Return the answers from one source or more, by `solve_each`."""
    distances = parents = np.empty(0)
    for row, result in enumerate(solve_each(graph, sources.tolist(), options)):
        if row == 0:
            shape = len(sources), len(result.distances)
            distances, parents = np.empty(shape, result.distances.dtype), np.empty(shape, np.int32)
        distances[row] = result.distances
        if result.predecessors is not None:
            parents[row] = result.predecessors
    trees = parents if options.predecessors else None
    return SourceRows(sources, distances, trees, numbering=graph.numbering)


def solve_each(
    graph: Graph, sources: Iterable[int], options: Options, targets: Sequence[int] = ()
) -> Iterator[Result]:
    """Yield the answer from each source, in this process; the graph is loaded once.

    Where several shortest paths lead to a vertex and one of them is a single arc from the source,
    the source is the predecessor, as in SciPy and NetworkX. Each solve ends when all targets, if
    there are any, are final.
    """
    whole = one_precision(graph)
    supply, choices = GraphSupply(whole, graph.weights.dtype), with_device(whole, options)
    with SourceSolver(supply, SoloChannel(), choices) as solver:
        for source in sources:
            result = solver.sssp(source, targets)
            assert result is not None
            yield source_first(whole, result)


def source_first(graph: Graph, result: Result) -> Result:
    """The same answer, with the source as the predecessor wherever one arc from it is shortest."""
    if result.predecessors is None:
        return result
    row = slice(graph.offsets[result.source], graph.offsets[result.source + 1])
    heads = graph.heads[row]
    weights = graph.weights[row].astype(result.distances.dtype, copy=False)
    direct = heads[(weights == result.distances[heads]) & (heads != result.source)]
    predecessors = result.predecessors.copy()
    predecessors[direct] = result.source
    return replace(result, predecessors=predecessors)
