"""Routes on the cores of this machine: searches that end when their targets are settled.

Integers allow a search from both ends where a source has one target, and an upward search where
there is a contraction hierarchy. Float sums would be rounded in another order than those of a
solve.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.device.cpu.hierarchy import CpuHierarchy
from groute_py.device.cpu.rows import CpuGraph
from groute_py.device.cpu.searches import Search, TargetSearch, TwoSidedSearch, UpSearch
from groute_py.device.rows import NarrowError, surely_fits
from groute_py.engine.algorithms.numbers import row_types
from groute_py.engine.memory.host import bytes_of, refuse_beyond
from groute_py.errors import too_late
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts, Size
from groute_py.graph.hierarchy.prepared import hierarchy_of
from groute_py.many.johnson import lifted, out_of_range, reweighted
from groute_py.results.distances import public_distances


class Group(NamedTuple):
    """The pairs of one source: their numbers among all pairs, from 0, and targets, shape (t,).

    For labels some pairs one behind the other, with a source each, shape (t,).
    """

    source: Any
    numbers: Any  # an array; for labels a slice
    targets: NDArray[np.int64]


class PairResults(NamedTuple):
    """Distances of the pairs of some numbers, in public types, and paths if they are asked for."""

    numbers: Any
    distances: NDArray[Any]
    paths: list[NDArray[np.int64]] | None


def groups_of(begins: NDArray[np.int64], ends: NDArray[np.int64], length: int = 0) -> list[Group]:
    """Return pairs as groups in ascending order of their sources, or of any ``length`` of them.

    >>> [group.source for group in groups_of(np.array([3, 0, 3]), np.array([1, 2, 0]))]
    [0, 3]
    """
    if length:
        parts = (slice(first, first + length) for first in range(0, len(ends), length))
        return [Group(begins[part], part, ends[part]) for part in parts]
    order = np.argsort(begins, kind="stable")
    sources, starts = np.unique(begins[order], return_index=True)
    stops = [*starts[1:].tolist(), len(ends)]
    return [
        Group(source, order[start:stop], ends[order[start:stop]])
        for source, start, stop in zip(sources.tolist(), starts.tolist(), stops, strict=True)
    ]


def searches_both_ends(facts: Facts) -> bool:
    """Return whether searches from both ends may meet: lengths add up without rounding."""
    return facts.weight_type.kind != "f" and not facts.has_maxima


class Searches:
    """Searches in one graph, on all cores; the memory of a search serves the next one.

    ``potentials`` are Johnson's for the sources where weights may be negative.
    """

    def __init__(self, graph: Graph, facts: Facts, potentials: NDArray[Any] | None = None) -> None:
        self._potentials, self._type = potentials, row_types(facts, "cpu")[0]
        self._graph = graph if potentials is None else reweighted(graph, potentials)
        self._arcs = arcs = CpuGraph(self._graph, self._type)
        self.label = arcs.label
        size = Size(arcs.vertex_count, graph.arc_count)
        self._one_sided = _Pool(lambda: TargetSearch(arcs), bytes_of("one-sided search", size))
        self._two_sided = _Pool(lambda: TwoSidedSearch(arcs), bytes_of("two-sided search", size))
        self._by_both_ends = (
            potentials is None
            and searches_both_ends(facts)
            and surely_fits(facts.vertex_count, float(facts.greatest), self._type)
        )

    def find(
        self, groups: list[Group], *, paths: bool, deadline: float
    ) -> Generator[PairResults, None, None]:
        """Yield the routes of some groups, in their order."""
        work = partial(self._find, paths=paths, deadline=deadline)
        pools = [self._pool_for(group, paths=paths) for group in groups]  # before there are threads
        _refuse_memory(set(pools), min(len(groups), self._arcs.threads))
        if len(groups) == 1:
            yield work(pools[0], groups[0])
            return
        with ThreadPoolExecutor(self._arcs.threads) as threads:
            try:
                for done, result in enumerate(threads.map(work, pools, groups), 1):
                    yield result
                    # searches look at the clock only if they take long
                    if done < len(groups) and time.monotonic() > deadline:
                        raise too_late()
            finally:
                threads.shutdown(cancel_futures=True)

    def _find(self, pool: _Pool, group: Group, *, paths: bool, deadline: float) -> PairResults:
        with pool.search() as search:
            try:
                distances = public_distances(search.run(group.source, group.targets, deadline))
            except NarrowError:
                raise out_of_range(self._graph.name, self._type) from None
            routes = [search.path(t) for t in group.targets.tolist()] if paths else None
        if self._potentials is not None:
            rows, source = distances[np.newaxis], np.array([group.source])
            distances = lifted(rows, self._potentials, source, self._graph.name, group.targets)[0]
        return PairResults(group.numbers, distances, routes)

    def _pool_for(self, group: Group, *, paths: bool) -> _Pool:
        if not self._by_both_ends:
            return self._one_sided
        if not paths and self._upward is not None:
            return self._upward
        if (group.targets == group.targets[0]).all():
            _ = self._arcs.incoming  # turned round once, not by each thread
            return self._two_sided
        return self._one_sided

    @cached_property
    def _upward(self) -> _Pool | None:
        hierarchy = hierarchy_of(self._graph)
        if hierarchy is None:
            return None
        upward = CpuHierarchy(hierarchy, self._arcs.type)
        return _Pool(lambda: UpSearch(upward))


class _Pool:
    """Searches of one kind, one for each thread that runs; each takes ``nbytes``."""

    def __init__(self, make: Callable[[], Search], nbytes: int = 0) -> None:
        self._make, self._free, self.nbytes = make, SimpleQueue[Search](), nbytes

    def missing(self, threads: int) -> int:
        """Return how many searches are to be made for some threads; none is in use."""
        return max(threads - self._free.qsize(), 0)

    @contextmanager
    def search(self) -> Iterator[Search]:
        """Lend a search during the block."""
        try:
            search = self._free.get_nowait()
        except Empty:
            search = self._make()
        try:
            yield search
        finally:
            self._free.put(search)


def _refuse_memory(pools: set[_Pool], threads: int) -> None:
    """Refuse searches beyond the memory; each thread may come to need one of each kind."""
    needed = sum(pool.nbytes * pool.missing(threads) for pool in pools)
    if needed:
        what = f"searches, {threads:,} at once,"
        refuse_beyond(needed, what, "allow fewer threads, by --threads or threads=")
