"""Routes on the cores of this machine: searches that end when their targets are settled.

Integers allow a search from both ends, where one target is asked of a source, and where there is a
contraction hierarchy. Float sums would be rounded in another order than those of a solve.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.device.cpu.hierarchy import CpuHierarchy
from groute_py.device.cpu.rows import CpuGraph
from groute_py.device.cpu.searches import Search, TargetSearch, TwoSidedSearch, UpSearch
from groute_py.device.rows import NarrowError, surely_fits
from groute_py.errors import too_late
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts
from groute_py.graph.size import Size
from groute_py.hierarchy.prepared import hierarchy_of
from groute_py.many.johnson import lifted, out_of_range, reweighted
from groute_py.many.precision import row_types
from groute_py.memory.host import bytes_of, refuse_beyond
from groute_py.results.result import public_distances


class Group(NamedTuple):
    """The pairs of one source: where they stand among all, shape (t,), and their targets."""

    source: int
    places: NDArray[np.int64]
    targets: NDArray[np.int64]


class SourcePairs(NamedTuple):
    """What is known of the pairs of one source.

    Attributes:
        places: of the pairs, shape (t,).
        distances: shape (t,), in public types.
        paths: of each pair from the source on, int64; None if they were not asked for.
    """

    places: NDArray[np.int64]
    distances: NDArray[Any]
    paths: list[NDArray[np.int64]] | None


class Finder(Protocol):
    """A way to find routes, on this rank's device.

    Attributes:
        label: what it runs on.
    """

    label: str

    def find(
        self, groups: list[Group], height: NDArray[Any] | None, *, paths: bool, deadline: float
    ) -> Generator[SourcePairs, None, None]:
        """The routes of some groups, in their order.

        Args:
            groups: one for each source.
            height: Johnson's potentials for the sources where weights may be negative, else None.
            paths: whether to find paths.
            deadline: `time.monotonic` at which to give up.

        Raises:
            RunError: a distance does not fit in 64 bits.
            TimeLimitError: the deadline has passed.
        """


def grouped(pairs: NDArray[np.int64]) -> list[Group]:
    """Groups in ascending order of their sources.

    Args:
        pairs: sources and targets, shape (k, 2).

    >>> [group.source for group in grouped(np.array([[3, 1], [0, 2], [3, 0]]))]
    [0, 3]
    """
    order = np.argsort(pairs[:, 0], kind="stable")
    sources, starts = np.unique(pairs[order, 0], return_index=True)
    stops = [*starts[1:].tolist(), len(pairs)]
    return [
        Group(source, order[start:stop], pairs[order[start:stop], 1])
        for source, start, stop in zip(sources.tolist(), starts.tolist(), stops, strict=True)
    ]


class Searches:
    """See `groute_py.jobs.searches.Finder`; memory of searches is kept from call to call.

    Args:
        graph: of one precision.
        facts: of the graph.
    """

    def __init__(self, graph: Graph, facts: Facts) -> None:
        self._graph, self._type = graph, row_types(facts, "cpu")[0]
        self._kept = None if facts.has_negative else Pools(graph, facts, self._type)
        self.label = "cpu"

    def find(
        self, groups: list[Group], height: NDArray[Any] | None, *, paths: bool, deadline: float
    ) -> Generator[SourcePairs, None, None]:
        pools = self._kept or Pools(self._reweighted(height), None, self._type)
        self.label = pools.arcs.label
        work = partial(self._found, height=height, paths=paths, deadline=deadline)
        searches = [pools.of(group, paths=paths) for group in groups]  # before there are threads
        _refuse_memory(set(searches), min(len(groups), pools.arcs.threads))
        if len(groups) == 1:
            yield work(searches[0], groups[0])
            return
        with ThreadPoolExecutor(pools.arcs.threads) as threads:
            try:
                for done, found in enumerate(threads.map(work, searches, groups), 1):
                    yield found
                    # searches look at the clock only if they take long
                    if done < len(groups) and time.monotonic() > deadline:
                        raise too_late()
            finally:
                threads.shutdown(cancel_futures=True)

    def _found(
        self,
        pool: Pool,
        group: Group,
        height: NDArray[Any] | None,
        paths: bool,
        deadline: float,
    ) -> SourcePairs:
        with pool.search() as search:
            try:
                distances = public_distances(search.run(group.source, group.targets, deadline))
            except NarrowError:
                raise out_of_range(self._graph.name, self._type) from None
            routes = [search.path(t) for t in group.targets.tolist()] if paths else None
        if height is not None:
            source, name = np.array([group.source]), self._graph.name
            distances = lifted(distances[np.newaxis], height, source, name, group.targets)[0]
        return SourcePairs(group.places, distances, routes)

    def _reweighted(self, height: NDArray[Any] | None) -> Graph:
        return self._graph if height is None else reweighted(self._graph, height)


class Pools:
    """The ways to search in one graph, each made when it is first wanted.

    Args:
        graph: without negative weights.
        facts: of the graph; None where only searches from the source will do.
        distance_type: of distances.
    """

    def __init__(self, graph: Graph, facts: Facts | None, distance_type: np.dtype[Any]) -> None:
        self.arcs = arcs = CpuGraph(graph, distance_type)
        size = Size(arcs.vertex_count, graph.arc_count)
        self._one_sided = Pool(lambda: TargetSearch(arcs), bytes_of("one-sided search", size))
        self._two_sided = Pool(lambda: TwoSidedSearch(arcs), bytes_of("two-sided search", size))
        self._graph = graph
        self._by_both_ends = (
            facts is not None
            and facts.weight_type.kind != "f"
            and surely_fits(facts.vertex_count, float(facts.greatest), distance_type)
        )

    def of(self, group: Group, *, paths: bool) -> Pool:
        """Searches for the pairs of a source."""
        if not self._by_both_ends:
            return self._one_sided
        if not paths and self._upward is not None:
            return self._upward
        if (group.targets == group.targets[0]).all():
            _ = self.arcs.incoming  # turned round once, not by each thread
            return self._two_sided
        return self._one_sided

    @cached_property
    def _upward(self) -> Pool | None:
        hierarchy = hierarchy_of(self._graph)
        if hierarchy is None:
            return None
        upward = CpuHierarchy(hierarchy, self.arcs.type)
        return Pool(lambda: UpSearch(upward))


class Pool:
    """Searches of one kind, one for each thread that runs at once.

    Args:
        made: makes one.
        nbytes: what one takes, as far as that is known before.
    """

    def __init__(self, made: Callable[[], Search], nbytes: int = 0) -> None:
        self._made, self._free, self.nbytes = made, SimpleQueue[Search](), nbytes

    def lacking(self, threads: int) -> int:
        """How many have still to be made for so many threads; none of them is in use."""
        return max(threads - self._free.qsize(), 0)

    @contextmanager
    def search(self) -> Iterator[Search]:
        """One that nobody else uses during the block."""
        try:
            search = self._free.get_nowait()
        except Empty:
            search = self._made()
        try:
            yield search
        finally:
            self._free.put(search)


def _refuse_memory(pools: set[Pool], threads: int) -> None:
    """Refuse searches that take too much memory; each thread may come to need one of each kind."""
    needed = sum(pool.nbytes * pool.lacking(threads) for pool in pools)
    if needed:
        what = f"searches, {threads:,} at once,"
        refuse_beyond(needed, what, "let the job have fewer cores, as by taskset")
