"""What answers of large graphs are compared with is as right as a serial Dijkstra."""

from __future__ import annotations

import numpy as np
import pytest
from support.places import ROOT

from groute_py import generate, prepare


@pytest.mark.parametrize("prepared", [False, True])
def test_both_ways_give_the_same(monkeypatch: pytest.MonkeyPatch, *, prepared: bool) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import reference

    graph = prepare("road:9x9", device="cpu") if prepared else generate("rmat:6")
    assert graph is not None
    serial = reference.right_distances(graph, 3)
    monkeypatch.setattr(reference, "SERIAL_UP_TO", 0)
    certified = reference.right_distances(graph, 3)
    assert certified.dtype == serial.dtype
    np.testing.assert_array_equal(certified, serial)
