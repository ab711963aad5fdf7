"""What is known of weights, looked at by several threads."""

from __future__ import annotations

import numpy as np
import pytest

from groute_py.graph import facts
from groute_py.graph.facts import Weighed, weighed


@pytest.mark.parametrize("kind", ["int32", "int64", "float64"])
@pytest.mark.parametrize("count", [0, 1, 4, 5, 10, 12])
def test_slices_are_weighed_as_one(kind: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.arange(count, dtype=kind)[::-1] - 3
    alone = weighed(weights)
    monkeypatch.setattr(facts, "WEIGHED_AT_ONCE", 4)
    assert weighed(weights) == alone
    if count:
        assert alone == Weighed(-3, count - 4, (count - 7) / 2)


def test_sums_beyond_floats_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread warns of them."""
    monkeypatch.setattr(facts, "WEIGHED_AT_ONCE", 4)
    assert weighed(np.full(12, 1e308)).mean == np.inf
