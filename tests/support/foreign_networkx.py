"""A pytest plugin for NetworkX's own tests: how often they call each function of the backend.

NETWORKX_TEST_BACKEND=groute NETWORKX_FALLBACK_TO_NX=True \
    pytest -p support.foreign_networkx --pyargs networkx.algorithms.shortest_paths
"""

from __future__ import annotations

from typing import Any

from groute_py.networkx import backend
from groute_py.networkx.info import FUNCTIONS
from support.foreign import put_counted, tell_calls


def pytest_configure(config: Any) -> None:
    put_counted(FUNCTIONS, backend, backend)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    tell_calls(terminalreporter, "groute_py.networkx", FUNCTIONS)
