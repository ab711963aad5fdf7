"""Runs of many sources that end early: a signal, a kill or a time limit leaves complete rows."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import as_json, run_command
from support.graphs import random_graph
from support.kept_rows import job_of, listing, row_file
from support.local_ranks import on_ranks

from groute_py import Graph
from groute_py.cli.outputs import save_rows
from groute_py.comm import agree
from groute_py.comm.base import SoloChannel
from groute_py.errors import InterruptedRun, TimeLimitError, signalled
from groute_py.many import row_graph, to_file
from groute_py.many.delivery import deliver
from groute_py.many.to_file import StoredRows


@pytest.fixture
def graph() -> Graph:
    return random_graph(40, 120, seed=3, greatest=9)


MIDDLE = """
import time
from groute_py.cli.main import main
from groute_py.many.storage.row_files import RowFiles

mark = RowFiles.mark

def marked(*arguments):
    mark(*arguments)
    print("some rows", flush=True)
    time.sleep(60)

RowFiles.mark = marked
main()
"""


def test_a_kill_in_the_middle(tmp_path: Path) -> None:
    """SIGTERM keeps what is complete, says so, and the next run goes on from there."""
    out = tmp_path / "out.npy"
    words = ["apsp", "road:120x120", "-o", str(out), "--device", "cpu", "--algorithm", "batch"]
    words += ["--sources", "random:400"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", MIDDLE, *words], **pipes) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "some rows\n"
        running.send_signal(signal.SIGTERM)
        said = running.communicate(timeout=30)[1]
    assert running.returncode == 130, said
    finished = sum(row_file(out, "rows").read_bytes())
    counted = re.search(r"(\d+) of 400 rows are complete", said)
    assert counted, said
    assert 0 < int(counted[1]) == finished < 400
    assert not out.exists()
    resumed = as_json(run_command(*words, "--resume", "--json"))
    assert resumed["solved_now"] == 400 - finished
    assert np.load(out).shape == (400, 14400)
    assert listing(tmp_path) == ["out.npy"]


def test_what_interrupted_ranks_say(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rank 0 has counted the rows; the others know that they are there."""

    def interrupted(channel: Any, job: Any, missing: Any, *more: Any) -> str:
        in_rounds(channel, job, missing[:9], *more)
        raise signalled(InterruptedRun("interrupted; nothing was written"))

    in_rounds = to_file.in_rounds
    monkeypatch.setattr(to_file, "in_rounds", interrupted)

    def work(channel: Any) -> str:
        with pytest.raises(InterruptedRun) as caught:
            save_rows(channel, job_of(graph), tmp_path / "out.npy", False, None)
        assert caught.value.by_signal
        return str(caught.value)

    first, other = on_ranks(2, work)
    assert "9 of 40 rows are complete in" in first
    assert "complete rows are in" in other
    assert first.endswith("out.npy.partial; go on with --resume")


def test_an_interrupt_of_another_rank_at_the_end(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is gone by then, and the file whole."""
    out = tmp_path / "out.npy"

    def on_root(channel: Any, action: Any, on_root: Any = agree.on_root) -> Any:
        result = on_root(channel, action)
        if out.exists() and channel.rank == 1:
            raise signalled(InterruptedRun("interrupted; nothing was written"))
        return result

    monkeypatch.setattr("groute_py.comm.agree.on_root", on_root)

    def work(channel: Any) -> str:
        if channel.rank == 0:
            save_rows(channel, job_of(graph), out, False, None)
            return ""
        with pytest.raises(InterruptedRun) as caught:
            save_rows(channel, job_of(graph), out, False, None)
        return str(caught.value)

    _, other = on_ranks(2, work)
    assert other == f"interrupted; all rows are in {out}, or none was complete"
    assert np.load(out).shape == (40, 40)
    assert not out.with_name("out.npy.partial").exists()


def test_an_interrupt_between_rows_closes_the_solver(graph: Graph) -> None:
    """Left to the end of Python, it finds a half of what it needs gone, and says so on stderr."""
    closed = []

    class Watched(row_graph.Solving):
        def blocks(self, *ends: Any, **how: Any) -> Any:
            try:
                yield from super().blocks(*ends, **how)
            finally:
                closed.append(True)

    class Interrupted:
        def take(self, *_: Any) -> None:
            raise signalled(InterruptedRun("interrupted"))

    job, rows = job_of(graph), np.arange(40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_graph, "Solving", Watched)
        with pytest.raises(InterruptedRun) as caught:
            deliver(SoloChannel(), job, rows, Interrupted())
        assert closed  # though the traceback keeps its frames
        assert caught.tb is not None


def test_an_interrupt_while_the_file_is_made(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: StoredRows) -> None:
        raise signalled(TimeLimitError("the time limit is near; nothing was written"))

    monkeypatch.setattr(StoredRows, "finish", interrupted)
    with pytest.raises(TimeLimitError) as caught:
        save_rows(SoloChannel(), job_of(graph), tmp_path / "out.npz", False, None)
    assert str(caught.value).startswith("the time limit is near; 40 of 40 rows are complete in")
