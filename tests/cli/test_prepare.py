"""``groute-py prepare``, and ``--prepare``."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import as_json, run_command
from support.graphs import random_graph
from support.kept_rows import listing
from support.prepared_town import ROAD, method, write_town

from groute_py import PreparedGraph, read_graph, write_graph
from groute_py.errors import InputError


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return write_town(tmp_path)


class TestCommand:
    """A file that stands for the graph."""

    def test_what_it_says(self, text: Path, tmp_path: Path) -> None:
        out = tmp_path / "town.prepared"
        words = ("prepare", text, "-o", out, "--device", "cpu")
        result = as_json(run_command(*words, "--json"))
        whole = read_graph(out)
        assert isinstance(whole, PreparedGraph)
        assert result["bytes"] == out.stat().st_size
        assert (result["vertices"], result["arcs"]) == (ROAD.vertex_count, ROAD.arc_count)
        assert result["levels"] == len(whole.hierarchy.levels) - 1
        assert result["core"] == whole.hierarchy.core_count
        assert result["arcs_upward"] == whole.hierarchy.arc_count
        assert (result["method"], result["device"]) == ("contraction", "cpu")
        assert {"read", "contract", "write", "total"} <= set(result["seconds"])
        shown = run_command(*words).stdout
        assert "arcs a vertex, and it stayed sparse" in shown
        assert listing(tmp_path) == ["there", "town.prepared"]

    def test_every_command_takes_it(self, text: Path, tmp_path: Path) -> None:
        out = tmp_path / "town.prepared"
        run_command("prepare", text, "-o", out, "--device", "cpu")
        plain = as_json(run_command("sssp", text, "--device", "cpu", "--json"))
        name, choice, result = method(out, "--verify", "-o", tmp_path / "r.npz")
        assert (name, choice) == ("contraction", "its hierarchy was there")
        for key in ("graph", "source", "reached", "sum_of_distances"):
            assert result[key] == plain[key]
        assert as_json(run_command("verify", out, tmp_path / "r.npz", "--json"))["verified"]
        about = as_json(run_command("info", out, "--json"))
        assert {"levels", "core", "core_arcs", "arcs_upward"} <= about.keys()
        assert as_json(run_command("plan", out, "--json"))["arcs"] == ROAD.arc_count
        run_command("convert", out, tmp_path / "again.csr")
        np.testing.assert_array_equal(read_graph(tmp_path / "again.csr").heads, ROAD.heads)
        run_command("convert", out, tmp_path / "again.prepared")
        assert (tmp_path / "again.prepared").read_bytes() == out.read_bytes()
        rows = [
            as_json(run_command("apsp", graph, "--device", "cpu", "--reduce", "sum", "--json"))
            for graph in (text, out)
        ]
        assert rows[0]["sum_of_distances"] == rows[1]["sum_of_distances"]

    def test_edges(self, tmp_path: Path) -> None:
        (tmp_path / "e.txt").write_text("1 2 5\n2 3 7\n")
        words = ("prepare", tmp_path / "e.txt", "-o", tmp_path / "e.prepared", "--undirected")
        result = as_json(run_command(*words, "--device", "cpu", "--json"))
        assert result["arcs"] == 4
        assert method(tmp_path / "e.prepared", "-s", "3")[2]["sum_of_distances"] == 19
        # other arcs than the hierarchy has
        name, *_ = method(tmp_path / "e.prepared", "-s", "3", "--undirected")
        assert name != "contraction"

    @pytest.mark.parametrize(
        ("graph", "why"),
        [
            ("rmat:6", "arcs on the mean"),
            ("random:200,4000", "arcs on the mean"),
            ("a 1 2 -5\n", "a weight is negative (-5)"),
            ("a 1 2 0.5\n", "sums of float weights"),
        ],
    )
    def test_what_does_not_suit(self, tmp_path: Path, graph: str, why: str) -> None:
        if graph.startswith("a "):
            (tmp_path / "g.gr").write_text(f"p sp 2 1\n{graph}")
            graph = str(tmp_path / "g.gr")
        out = tmp_path / "out" / "g.prepared"
        out.parent.mkdir()
        with pytest.raises(InputError) as caught:
            run_command("prepare", graph, "-o", out, "--device", "cpu")
        assert caught.value.exit_code == 2
        assert "cannot be contracted: " in str(caught.value)
        assert why in str(caught.value)
        assert not list(out.parent.iterdir())

    def test_what_becomes_dense(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("groute_py.device.cpu.contraction.CORE_LIMIT", 20)
        monkeypatch.setattr("groute_py.device.cpu.contraction.MOST_DEGREE", 6.0)
        write_graph(random_graph(300, 1500, 1, 20), tmp_path / "g.gr")
        with pytest.raises(InputError, match="cannot be contracted: contraction stops at"):
            run_command(
                *("prepare", tmp_path / "g.gr", "-o", tmp_path / "g.prepared", "--device", "cpu")
            )
        name, choice, _ = method(tmp_path / "g.gr", "--prepare")
        assert name == "delta-stepping"
        assert "; not contracted: contraction stops at" in choice

    @pytest.mark.parametrize(
        ("out", "says"),
        [
            ("town.csr", "is written as .prepared"),
            ("absent/town.prepared", "does not exist; create it first"),
        ],
    )
    def test_wrong_outputs_are_refused_before_reading(
        self, tmp_path: Path, out: str, says: str
    ) -> None:
        with pytest.raises(InputError, match=says):
            run_command("prepare", "absent.gr", "-o", tmp_path / out, "--device", "cpu")

    def test_it_does_not_replace_what_it_reads(self, text: Path) -> None:
        path = text.with_suffix(".prepared")
        run_command("prepare", text, "-o", path, "--device", "cpu")
        with pytest.raises(InputError, match="name another file"):
            run_command("prepare", path, "-o", path, "--device", "cpu")


HALF = """
import sys
from groute_py.cli.main import main
from groute_py.io.formats import prepared

def write_arrays(file, layout, arrays):
    file.write(b"half of it")
    file.flush()
    print("half", flush=True)
    sys.stdin.read()

def contract(*arguments, **more):
    print("half", flush=True)
    sys.stdin.read()

if sys.argv.pop(1) == "write":
    prepared.write_arrays = write_arrays
else:
    import groute_py.device.cpu.contraction as contraction
    contraction.contract = contract
main()
"""


@pytest.mark.parametrize("when", ["write", "contract"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_kill_in_the_middle_leaves_nothing(
    tmp_path: Path, how: signal.Signals, when: str
) -> None:
    words = ["prepare", "road:20x20", "-o", str(tmp_path / "town.prepared"), "--device", "cpu"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = [sys.executable, "-c", HALF, when, *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, **pipes) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"half\n"
        run.send_signal(how)
        code = run.wait(timeout=60)
    assert code == (-9 if how == signal.SIGKILL else 130)
    assert not list(tmp_path.iterdir())
