"""The states of a graph within a limit of each of many sources."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from groute_py.device.rows import NarrowError
from groute_py.engine.solver import Neighbourhood
from groute_py.graph.turns.expanded import layout_of, solved_graph
from groute_py.many.opened import Opened
from groute_py.many.solve import batch_delta
from groute_py.system.environment import local_rank

FEWEST_AT_ONCE = 32
"""Sources from which on a GPU solves for many at once, by a block each. With fewer, all of its
blocks solve for one source after the other."""


def reach_each(
    opened: Opened, sources: NDArray[np.int64], limit: float
) -> Generator[Neighbourhood | None, None, None]:
    """Yield the states within a limit of each source, in order, on rank 0; None elsewhere.

    Collective.
    """
    done = 0
    with suppress(NarrowError):  # then the solver takes a wider type
        for near in _reach_at_once(opened, sources, limit):
            yield near
            done += 1
    for source in sources[done:].tolist():
        yield opened.source_solver.reach(source, limit)


def _reach_at_once(
    opened: Opened, sources: NDArray[np.int64], limit: float
) -> Iterator[Neighbourhood]:
    """Yield the same of many sources that one GPU solves for at once; nothing where none does."""
    if opened.channel.size > 1 or len(sources) < FEWEST_AT_ONCE:
        return
    solver, graph, options = opened.source_solver, opened.graph(), opened.options
    if solver.device.name != "cuda" or options.cutting.renumbers:
        return
    from groute_py.device.cuda.multi_source.rows import rows_on
    from groute_py.device.cuda.sssp.device import CudaDevice

    assert isinstance(solver.device, CudaDevice)
    where = local_rank(opened.channel.rank), options.memory_limit, limit
    rows = rows_on(solver.device, solved_graph(graph), batch_delta(solver.facts), *where)
    if rows is None:
        return
    statistics = {"algorithm": "batch", "reason": "many sources", "devices": [rows.label]}
    for part in rows.reaches(layout_of(graph).begins(sources)):
        splits = np.cumsum(part.counts)[:-1]
        columns = np.split(part.vertices, splits), np.split(part.distances, splits)
        for states, distances in zip(*columns, strict=True):
            yield Neighbourhood(states, distances, statistics)
