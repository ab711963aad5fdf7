"""Worklists for which there is little memory: full ones lose nothing, and what is short is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.graphs import random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.skips import needs_gpu
from support.solving import source_solver

from groute_py import generate, sssp, verify

pytestmark = needs_gpu


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch, entries: int) -> None:
    from groute_py.device.cuda.sssp import buffers

    monkeypatch.setattr(buffers, "entries_that_fit", lambda *_: entries)


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("entries", [1, 40, 700])
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("spec", ["road:60x50", "rmat:11,16", "random:2000,9000"])
@pytest.mark.parametrize("delta", [None, 1.0, 1e9])
def test_the_same_answers(spec: str, ranks: int, entries: int, delta: float | None) -> None:
    graph = generate(spec)
    source = int(np.argmax(np.diff(graph.offsets)))

    def work(channel: Any) -> Any:
        return source_solver(channel, graph, device="cuda", delta=delta).sssp(source)

    result = on_ranks(ranks, work, seed=1)[0]
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
    verify(graph, result)
    said = f"worklists of {entries:,} entries in place of 65,536"
    assert all(said in device for device in result.statistics["devices"])


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("entries", [64])
def test_in_64_bits(entries: int) -> None:
    graph = random_graph(3000, 20000, 4, 2**31 - 2)
    result = sssp(graph, 0, device="cuda")
    assert result is not None
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))
