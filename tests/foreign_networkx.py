"""A pytest plugin for NetworkX's own tests: how often they call each function of the backend.

NETWORKX_TEST_BACKEND=groute NETWORKX_FALLBACK_TO_NX=True \
    pytest -p foreign_networkx --pyargs networkx.algorithms.shortest_paths
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

from groute_py.networkx import backend
from groute_py.networkx.info import FUNCTIONS

CALLS: Counter[str] = Counter()


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        CALLS[function.__name__] += 1
        return function(*args, **kwargs)

    return call


def pytest_configure(config: Any) -> None:
    for name in FUNCTIONS:
        setattr(backend, name, counted(getattr(backend, name)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for name in FUNCTIONS:
        terminalreporter.write_line(f"groute_py.networkx.{name}: {CALLS[name]} calls")
