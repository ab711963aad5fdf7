"""What the tests of all methods share."""

from __future__ import annotations

from typing import Any

import pytest

from groute_py import Graph
from groute_py.engine.algorithms.methods import algorithms
from support.graphs import scipy_distances

WEIGHTED = [name for name, method in algorithms().items() if not method.unit_weights]
NEGATIVE = [name for name in WEIGHTED if algorithms()[name].negative_weights]


def needs(method: str, device: str) -> None:
    if device not in algorithms()[method].devices:
        pytest.skip(f"{method} has no device {device}")


def hops_from(graph: Graph, source: int) -> Any:
    return scipy_distances(graph.with_unit_weights(), source)
