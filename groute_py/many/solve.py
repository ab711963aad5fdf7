"""Rows of distances from many sources, by a method on this process's device, as they are found."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.cpu.rows import CpuGraph, CpuHeaps
from groute_py.device.cpu.sweeps import CpuSweeps
from groute_py.device.rows import NarrowError, RowBlock, RowSolver
from groute_py.device.summary import LiftError, SumError, Summary, Wanted
from groute_py.engine.algorithms.delta_stepping import usable
from groute_py.engine.algorithms.numbers import row_types
from groute_py.engine.memory.gpus import free_gpu_bytes
from groute_py.engine.options import Options
from groute_py.errors import InputError, RunError
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts, Size, facts_of
from groute_py.graph.hierarchy.prepared import hierarchy_of, without_hierarchy
from groute_py.graph.hierarchy.problems import DenseError
from groute_py.many.choose import Choice
from groute_py.many.engine_rows import EngineRows, SingleRows
from groute_py.many.estimates import may_have_few_levels
from groute_py.many.floyd import CpuFloyd
from groute_py.many.johnson import lifted, out_of_range, reweighted
from groute_py.results.distances import public_distances
from groute_py.system.environment import local_rank

if TYPE_CHECKING:
    from groute_py.device.cuda.multi_source.graph import CudaGraph
    from groute_py.device.cuda.multi_source.levels import CudaLevelSummaries

BATCH_DELTA, FEWEST_ARCS = 24.0, 3.0
"""Δ of a batch in mean weights divided by the mean degree, for vertices of so few arcs. With more
it shrinks with their square: frontiers fill a block then, and wide buckets cost relaxations."""

LEAST_DELTA, MOST_DELTA = 2.0, 32.0
"""Its limits, in the same unit; measured, see docs/what-we-learned.md#many-sources."""


R = TypeVar("R", RowBlock, Summary)

IN_VAIN = "where others had sums out of range"
"""Said of the method that takes over from the one that was chosen."""

LASTING = ("batch", "heap", "sweep")  # the methods whose solvers answer more than once


class Solving:
    """A graph made ready for rows: negative weights are gone, and come back with the distances."""

    def __init__(
        self,
        graph: Graph,
        height: NDArray[Any] | None,
        options: Options,
        choice: Choice,
        channel: Channel,
        *,
        stays: bool = False,
    ) -> None:
        # the engine would take a graph's hierarchy, whatever method was asked for
        self._graph = without_hierarchy(graph) if height is None else reweighted(graph, height)
        self._height, self._options, self._choice = height, options, choice
        bound = None if height is not None else options.bound  # else of other distances
        self._cutoff = math.inf if bound is None else bound
        self._hierarchy = hierarchy_of(graph) if height is None else None
        self._channel = channel
        self._facts = facts_of(self._graph)
        self._types = row_types(self._facts, choice.device, choice.algorithm)
        self._stays = stays and choice.algorithm in LASTING
        self._open: tuple[int, RowSolver] | None = None
        self._levels: CudaLevelSummaries | None = None
        self._has_few_levels = (  # until a search gives up
            choice.algorithm == "batch" and may_have_few_levels(self._facts)
        )
        self._resists = False
        self._narrowest = 0  # the first type in which no distance has overflowed
        self.label = choice.device

    @property
    def is_open(self) -> bool:
        """Return whether the graph is in place for the next answer, by the method that was
        chosen.
        """
        return (self._open or self._levels) is not None and not self._resists

    def blocks(
        self,
        sources: NDArray[np.int64],
        targets: NDArray[np.int64] | None = None,
        *,
        on_gpu: bool = False,
    ) -> Generator[RowBlock, None, None]:
        """Rows in the order of their sources, lent until the next.

        Their distances are of the run's type: see `groute_py.results.distances.public_distances`.
        With ``on_gpu`` whole rows are of CuPy's arrays where the method can leave them there.
        """

        def ask(solver: RowSolver, some: NDArray[np.int64]) -> Iterator[RowBlock]:
            stays = on_gpu and self._height is None
            stay = getattr(solver, "blocks_on_gpu", None) if stays else None
            for rows in solver.blocks(some, targets) if stay is None else stay(some):
                yield replace(rows, cutoff=getattr(solver, "cutoff", math.inf))

        for block in self._complete(sources, ask):
            yield self._lifted(block, sources, targets)

    def summaries(
        self, sources: NDArray[np.int64], request: Wanted
    ) -> Generator[Summary, None, None]:
        """A few numbers of each row, in the order of their sources."""
        request = replace(request, heights=self._height)
        done = 0
        try:
            for summary in self._by_levels(sources, request):
                yield summary
                done = summary.first + summary.count
            for summary in self._complete(
                sources[done:], lambda s, some: s.summaries(some, request)
            ):
                yield replace(summary, first=done + summary.first)
        except LiftError as problem:
            raise out_of_range(self._graph.name, self._types[-1]) from problem
        except SumError as problem:
            source = self._graph.numbering.id_of(int(sources[done + problem.row]))
            raise RunError(
                f"the sum of the distances from {source} in {self._graph.name} does not fit in "
                "int64; scale the weights down, or take the distances themselves, by apsp"
            ) from problem

    def _by_levels(self, sources: NDArray[np.int64], request: Wanted) -> Iterator[Summary]:
        """Yield summaries level by level on a GPU, as long as there are few levels."""
        limit, place = self._options.memory_limit, local_rank(self._channel.rank)
        if self._choice.device != "cuda" or not self._has_few_levels:
            return
        from groute_py.device.cuda.multi_source import levels
        from groute_py.device.cuda.multi_source.levels import CudaLevelSummaries

        free, size, solver = free_gpu_bytes(limit, place), Size.of(self._graph), self._levels
        if solver is None:
            self._open = None  # before the next one needs the room
            if levels.graph_bytes(size) + levels.group_bytes(size, with_paths=False) > free:
                return
            solver = CudaLevelSummaries(self._graph, place, limit)
        self._levels = solver if self._stays else None
        try:
            yield from solver.summaries(sources, request)
        except (NarrowError, MemoryError):
            self._has_few_levels, self._levels = False, None
        finally:
            self.label = solver.label

    def _complete(
        self, sources: NDArray[np.int64], ask: Callable[[RowSolver, NDArray[np.int64]], Iterator[R]]
    ) -> Generator[R, None, None]:
        """Yield what solvers give, in the narrowest type that holds every sum."""
        if len(sources) == 0 and not self._is_together:
            return
        done = 0
        solvers: list[Callable[[], RowSolver]] = [
            partial(self._resident, number) for number in range(self._narrowest, len(self._types))
        ]
        for opened in (*solvers, self._judging):
            first_source = done
            try:
                with self._dropped_if_unfinished():
                    for rows in self._answers(opened, ask, sources[first_source:]):
                        first = first_source + rows.first
                        yield replace(rows, first=first)
                        done = first + rows.count
            except NarrowError:
                self._narrowest = min(self._narrowest + 1, len(self._types) - 1)
                continue
            except SumError as problem:
                raise SumError(first_source + problem.row) from None
            except MemoryError as problem:
                raise InputError(
                    f"{self._choice.algorithm} on {self._graph.name} does not fit in the memory of "
                    f"{self.label} ({problem}); use another --algorithm or fewer sources, or solve "
                    "on several GPUs with sssp"
                ) from problem
            return
        raise out_of_range(self._graph.name, self._types[-1])

    def _answers(
        self,
        opened: Callable[[], RowSolver],
        ask: Callable[[RowSolver, NDArray[np.int64]], Iterator[R]],
        sources: NDArray[np.int64],
    ) -> Generator[R, None, None]:
        """Yield what one solver gives; afterwards nothing holds it, and the next one has room."""
        solver = opened()
        self.label = solver.label if opened != self._judging else f"{solver.label}, {IN_VAIN}"
        yield from ask(solver, sources)

    @contextmanager
    def _dropped_if_unfinished(self) -> Iterator[None]:
        """Keep no solver that did not come to the end of an answer."""
        try:
            yield
        except BaseException:
            self._open = None
            raise

    @property
    def _is_together(self) -> bool:
        """Return whether the GPUs of all ranks hold one matrix, which the ranks open together."""
        on_gpus = self._choice.device == "cuda" and self._choice.algorithm == "floyd"
        return on_gpus and self._channel.size > 1

    def _resident(self, number: int) -> RowSolver:
        """The method with the graph in place, in the type of this number."""
        if self._open is not None and self._open[0] == number:
            return self._open[1]
        self._open = self._levels = None  # before the next one needs the room
        with collective(self._channel) if self._is_together else nullcontext():
            solver = self.opened(self._types[number])
        if self._stays:
            self._open = number, solver
        return solver

    def _judging(self) -> RowSolver:
        """The method that refuses a row only if it misses a sum: see `groute_py.device.rows`.

        The last resort: others refuse every row in which a sum did not fit in 64 bits.
        """
        arcs = CpuGraph(self._graph, self._types[-1])
        return CpuHeaps(arcs, predecessors=self._options.predecessors, cutoff=self._cutoff)

    def opened(self, distance_type: np.dtype[Any]) -> RowSolver:
        """The method with the graph in place, which weighs nothing below zero."""
        if self._choice.device == "cuda":
            return self._opened_on_gpu(distance_type)
        graph, predecessors, cutoff = self._graph, self._options.predecessors, self._cutoff
        batch = partial(EngineRows, graph, predecessors=predecessors, cutoff=cutoff)
        if self._choice.algorithm == "batch":
            return batch()
        arcs = CpuGraph(graph, distance_type)
        if self._choice.algorithm == "sweep":
            sweeps = partial(CpuSweeps, arcs, self._hierarchy, predecessors=predecessors)
            return self._sweeps(sweeps, batch)
        if self._choice.algorithm == "heap":
            return CpuHeaps(arcs, predecessors=predecessors, cutoff=cutoff)
        return CpuFloyd(graph, arcs, predecessors=predecessors)

    def _sweeps(self, sweeps: Callable[[], RowSolver], batch: Callable[[], RowSolver]) -> RowSolver:
        """Open sweeps, or a batch if the graph does not contract and nobody asked for sweeps."""
        self._resists = False
        try:
            return sweeps()
        except (DenseError, MemoryError) as problem:
            if self._options.algorithm != "auto":
                raise InputError(f"{problem}; use another --algorithm") from problem
            self._resists = True
        return batch()

    def _opened_on_gpu(self, distance_type: np.dtype[Any]) -> RowSolver:
        from groute_py.device.cuda.hierarchy.sweeps import CudaSweeps
        from groute_py.device.cuda.multi_source.graph import CudaGraph
        from groute_py.device.cuda.multi_source.rows import CudaRows, batch_method, heap_method

        limit, predecessors = self._options.memory_limit, self._options.predecessors
        if self._choice.algorithm == "single":
            return SingleRows(self._graph, predecessors=predecessors, cutoff=self._cutoff)
        graph = CudaGraph(self._graph, distance_type, local_rank(self._channel.rank), limit)
        if self._choice.algorithm == "floyd":
            return self._opened_matrix(graph)

        def rows(method: Any) -> RowSolver:
            delta = batch_delta(self._facts)
            how: Any = {"predecessors": predecessors, "cutoff": self._cutoff}
            return CudaRows(graph, method, delta, **how)

        if self._choice.algorithm == "sweep":
            sweeps = partial(CudaSweeps, graph, self._hierarchy, predecessors=predecessors)
            return self._sweeps(sweeps, lambda: rows(batch_method(graph)))
        return rows(heap_method(graph) if self._choice.algorithm == "heap" else batch_method(graph))

    def _opened_matrix(self, graph: CudaGraph) -> RowSolver:
        from groute_py.device.cuda.multi_source.floyd.one_gpu import CudaFloyd
        from groute_py.device.cuda.multi_source.floyd.out_of_core import CudaStripFloyd
        from groute_py.device.cuda.multi_source.floyd.ranks import CudaRankFloyd

        greatest, trees = float(self._facts.greatest), self._options.predecessors
        if self._channel.size > 1:
            return CudaRankFloyd(graph, self._channel, greatest, predecessors=trees)
        if CudaFloyd.fits(graph, predecessors=trees):
            return CudaFloyd(graph, greatest, predecessors=trees)
        return CudaStripFloyd(graph, greatest, predecessors=trees)

    def _lifted(
        self, block: RowBlock, sources: NDArray[np.int64], targets: NDArray[np.int64] | None
    ) -> RowBlock:
        """Return a block with the distances of the weights as they were."""
        if self._height is None:
            return block
        own = sources[block.first : block.first + block.count]
        distances = public_distances(block.distances)
        distances = lifted(distances, self._height, own, self._graph.name, targets)
        return replace(block, distances=distances)


def batch_delta(facts: Facts) -> float:
    """Return Δ for the blocks of a batch."""
    degree = max(facts.mean_degree, 1.0)
    factor = BATCH_DELTA * (FEWEST_ARCS / degree) ** 2
    return usable(min(max(factor, LEAST_DELTA), MOST_DELTA) * facts.mean / degree, facts)
