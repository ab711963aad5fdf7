"""SciPy's own tests of shortest paths, as installed, with our functions in the place of SciPy's.

pytest -p support.foreign_scipy --pyargs scipy.sparse.csgraph.tests.test_shortest_path

A pytest plugin. The tests import what they test from `scipy.sparse.csgraph`, so that is where our
functions are put before they are collected. It counts the calls, to show that it is our code that
runs. NegativeCycleError and what we do not have (`yen`, `construct_dist_matrix`) stay SciPy's.
"""

from __future__ import annotations

from typing import Any

from scipy.sparse import csgraph as theirs

from groute_py import csgraph as ours
from support.foreign import put_counted, tell_calls

OURS = [name for name in ours.__all__ if name != "NegativeCycleError"]


def pytest_configure(config: Any) -> None:
    put_counted(OURS, ours, theirs)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    tell_calls(terminalreporter, "groute_py.csgraph", OURS)
