"""What is too long for a message goes in several."""

from __future__ import annotations

from typing import Any

import pytest
from support.graphs import random_graph
from support.local_ranks import on_ranks
from support.skips import needs_gpu
from support.solving import checked

from groute_py import Result
from groute_py.comm import base
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.source.whole import GraphSupply

GRAPH = random_graph(400, 3000, 1, 9)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
@pytest.mark.parametrize("algorithm", ["delta-stepping", "bellman-ford"])
def test_an_answer_by_short_messages(
    device: str, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(device=device, mode="rounds", order="none", algorithm=algorithm)

    def work(channel: Any) -> tuple[Result | None, list[int]]:
        sizes, send = list[int](), channel.send

        def sent(peer: int, message: Any) -> None:
            sizes.append(len(message))
            send(peer, message)

        channel.send = sent
        with SourceSolver(GraphSupply(GRAPH), channel, options) as solver:
            return solver.sssp(4), sizes

    whole = [size for _, sizes in on_ranks(3, work) for size in sizes]
    assert max(whole) > 100
    monkeypatch.setattr(base, "MESSAGE_BYTES", 100)
    result = on_ranks(3, work)
    checked(GRAPH, 4, result[0][0])
    parts = [size for _, sizes in result for size in sizes]
    assert 0 < max(parts) <= 100
