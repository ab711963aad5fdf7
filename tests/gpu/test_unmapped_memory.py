"""Ranks whose GPUs have peer access, but which cannot map each other's memory."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from support.local_ranks import on_ranks
from support.skips import needs_linked_gpus
from support.solving import checked, source_solver

from groute_py import Result, generate

pytestmark = needs_linked_gpus


@pytest.mark.parametrize("call", ["malloc", "ipcGetMemHandle", "ipcOpenMemHandle"])
@pytest.mark.parametrize("everyone", [True, False])
def test_ranks_that_cannot_map_memory_go_on_in_rounds(
    call: str, everyone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cupy.cuda import runtime

    from groute_py.device.cuda.runtime.short_memory import FULL

    given, first = getattr(runtime, call), list[int]()

    def refused(*words: Any) -> Any:
        if not first:
            first.append(threading.get_ident())
        if everyone or threading.get_ident() == first[0]:
            raise runtime.CUDARuntimeError("invalid resource handle")
        return given(*words)

    monkeypatch.setattr(runtime, call, refused)

    def work(channel: Any) -> Result | None:
        with source_solver(channel, graph, device="cuda", order="none") as solver:
            return solver.sssp(3)

    graph = generate("road:10x10")
    result = checked(graph, 3, on_ranks(3, work)[0])
    assert result.statistics["mode"] == "rounds"
    said = FULL if call == "malloc" else "CUDA IPC does not map GPU memory between"
    assert said in result.statistics["mode_reason"]
