"""Graphs that are open on a channel, as jobs take them, and jobs on many sources of them."""

from __future__ import annotations

from typing import Any

from groute_py.engine.options import Options
from groute_py.jobs.solver import Solver
from groute_py.many.apsp import Ends, ManySources
from groute_py.many.opened import Opened, source_of


def opened_on(channel: Any, graph: Any, **options: Any) -> Opened:
    """A graph, or what stands for one; only rank 0's counts."""
    choices = Options(**options)
    return Opened(source_of(graph, choices), channel, choices)


def solver_on(channel: Any, graph: Any, **options: Any) -> Solver:
    """As `groute_py.open`, on any channel."""
    return Solver(opened_on(channel, graph, **options))


def job_on(
    channel: Any,
    graph: Any,
    sources: Any = None,
    targets: Any = None,
    *,
    destination: str = "memory",
    **options: Any,
) -> ManySources:
    """Rows from some vertices, or from all, as `groute_py.apsp` would solve for them."""
    opened = opened_on(channel, graph, **{"predecessors": False, **options})
    ends = Ends(sources, targets)
    return opened.many_sources(lambda: ends, opened.options, destination=destination)
