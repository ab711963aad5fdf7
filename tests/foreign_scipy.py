"""SciPy's own tests of shortest paths, as installed, with our functions in the place of SciPy's.

pytest -p foreign_scipy --pyargs scipy.sparse.csgraph.tests.test_shortest_path

A pytest plugin. The tests import what they test from `scipy.sparse.csgraph`, so that is where our
functions are put before they are collected. It counts the calls, to show that it is our code that
runs. NegativeCycleError and what we do not have (`yen`, `construct_dist_matrix`) stay SciPy's.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

from scipy.sparse import csgraph as theirs

from groute_py import csgraph as ours

OURS = [
    "bellman_ford",
    "breadth_first_order",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "shortest_path",
]
CALLS: Counter[str] = Counter()


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        CALLS[function.__name__] += 1
        return function(*args, **kwargs)

    return call


def pytest_configure(config: Any) -> None:
    for name in OURS:
        setattr(theirs, name, counted(getattr(ours, name)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for name in OURS:
        terminalreporter.write_line(f"groute_py.csgraph.{name}: {CALLS[name]} calls")
