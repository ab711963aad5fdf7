"""Routes on the cores of this machine: a search from each source until its targets are settled."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.cpu.rows import CpuGraph
from groute_py.device.cpu.target_search import TargetSearch
from groute_py.device.rows import NarrowError
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts
from groute_py.jobs.groups import Found, Group
from groute_py.many.johnson import beyond_int64, lifted, reweighted
from groute_py.many.precision import row_types
from groute_py.results.result import public_distances


class Searches:
    """See `groute_py.jobs.groups.Finder`; memory of searches is kept from call to call.

    Args:
        graph: of one precision.
        facts: of the graph.
    """

    def __init__(self, graph: Graph, facts: Facts) -> None:
        self._graph, self._type = graph, row_types(facts, "cpu")[0]
        self._kept = None if facts.has_negative else Pool(CpuGraph(graph, self._type))
        self.label = "cpu"

    def find(
        self, groups: list[Group], height: NDArray[Any] | None, *, paths: bool, deadline: float
    ) -> Generator[Found, None, None]:
        pool = self._kept or Pool(CpuGraph(self._reweighted(height), self._type))
        self.label = pool.label

        def work(group: Group) -> Found:
            with pool.search() as search:
                return self._found(search, group, height, paths, deadline)

        if len(groups) == 1:
            yield work(groups[0])
            return
        with ThreadPoolExecutor(pool.threads) as threads:
            try:
                yield from threads.map(work, groups)
            finally:
                threads.shutdown(cancel_futures=True)

    def _found(
        self,
        search: TargetSearch,
        group: Group,
        height: NDArray[Any] | None,
        paths: bool,
        deadline: float,
    ) -> Found:
        try:
            distances = public_distances(search.run(group.source, group.targets, deadline))
        except NarrowError:
            raise beyond_int64(self._graph.name) from None
        if height is not None:
            source, name = np.array([group.source]), self._graph.name
            distances = lifted(distances[np.newaxis], height, source, name, group.targets)[0]
        routes = [search.path(target) for target in group.targets.tolist()] if paths else None
        return Found(group.places, distances, routes)

    def _reweighted(self, height: NDArray[Any] | None) -> Graph:
        return self._graph if height is None else reweighted(self._graph, height)


class Pool:
    """Searches in one graph, one for each thread that runs at once.

    Args:
        arcs: of the graph.
    """

    def __init__(self, arcs: CpuGraph) -> None:
        self._arcs, self.threads, self.label = arcs, arcs.threads, arcs.label
        self._free: SimpleQueue[TargetSearch] = SimpleQueue()

    @contextmanager
    def search(self) -> Iterator[TargetSearch]:
        """One that nobody else uses during the block."""
        try:
            search = self._free.get_nowait()
        except Empty:
            search = TargetSearch(self._arcs)
        try:
            yield search
        finally:
            self._free.put(search)
