"""The command line on one rank: help, answers, files, and what it does not load."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

import click
import pytest
from support.command import Run, as_json
from support.graphs import graph_of

import groute_py
from groute_py import Graph, write_graph
from groute_py.cli import show
from groute_py.cli.main import commands
from groute_py.errors import EXIT_CODES

COMMANDS = [
    "algorithms",
    "apsp",
    "assign",
    "bfs",
    "cache",
    "centrality",
    "convert",
    "cost-distance",
    "doctor",
    "generate",
    "info",
    "isochrone",
    "launch",
    "matrix",
    "nearest",
    "plan",
    "plot",
    "prepare",
    "query",
    "route",
    "sssp",
    "verify",
]


class TestHelp:
    """Answers at once, without MPI or GPU."""

    LOADED = (
        "import sys; sys.argv = ['groute-py', {words}]\n"
        "import atexit; atexit.register(lambda: print([m for m in sys.modules if m in "
        "('numpy', 'numba', 'mpi4py', 'cupy', 'scipy', 'rich')], file=sys.stderr))\n"
        "from groute_py.cli.main import main; main()"
    )

    @pytest.mark.parametrize(
        "words", ["'--help'", "'--version'", "'sssp', '--help'", "'doctor', '--help'", "'sssp'"]
    )
    def test_nothing_heavy_is_loaded(self, words: str) -> None:
        code = self.LOADED.format(words=words)
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert done.stderr.splitlines()[-1] == "[]", done.stderr

    def test_in_no_time(self) -> None:
        def processor_seconds() -> float:
            """Measure a process apart from what else keeps the machine busy."""
            before = getrusage(RUSAGE_CHILDREN)
            words = [sys.executable, "-m", "groute_py", "--help"]
            subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
            after = getrusage(RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        assert min(processor_seconds() for _ in range(3)) < 1.0

    def test_exit_codes_are_in_it(self, run: Run) -> None:
        text = " ".join(run("--help").stdout.split())
        for code, meaning in EXIT_CODES.items():
            assert f"{code} {meaning}" in text

    def test_all_commands_are_in_it(self, run: Run) -> None:
        listed = run("--help").stdout.partition("Commands:\n")[2].partition("\n\n")[0]
        assert re.findall(r"^  (\S+)", listed, re.MULTILINE) == COMMANDS

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_option_is_explained(self, run: Run, command: str) -> None:
        found = commands.commands[command]
        assert found.help
        assert all(option.help for option in found.params if isinstance(option, click.Option))
        assert run(command, "--help").exit_code == 0

    def test_version(self, run: Run) -> None:
        assert run("--version").stdout == f"groute-py, version {groute_py.__version__}\n"

    @pytest.mark.parametrize("words", [(), ("cache",), ("launch",)])
    def test_no_command_shows_help(self, groute: Any, words: tuple[str, ...]) -> None:
        done = groute(*words)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith("Usage: ")
        assert "\nCommands:\n" in done.stderr


class TestSssp:
    """The answer on stdout."""

    def test_table(self, run: Run, small: Path) -> None:
        done = run("sssp", small, "--device", "cpu", "--verify")
        rows = dict(re.findall(r"^  (\w+(?: \w+)*)  +(.+)$", done.stdout, re.MULTILINE))
        assert rows["graph"] == "small"
        assert rows["source"] == "1"
        assert rows["reached"] == "3"
        assert rows["sum of distances"] == "11"
        assert rows["greatest distance"] == "7"
        assert rows["verified"] == "yes"
        assert re.fullmatch(r"[\d.]+ ms", rows["time"])
        assert done.stderr == ""

    def test_verbose(self, run: Run, small: Path) -> None:
        table = run("sssp", small, "--device", "cpu", "--verbose").stdout
        (line,) = (line for line in table.splitlines() if line.startswith("  time"))
        assert re.search(r"read [\d.]+ ms, .*total [\d.]+ ms$", line)

    def test_json(self, run: Run, small: Path) -> None:
        found = as_json(run("sssp", small, "-s", 4, "--device", "cpu", "--json"))
        assert (found["source"], found["reached"], found["sum_of_distances"]) == (4, 4, 14)
        assert {"read", "solve", "total"} <= found["seconds"].keys()
        assert "verified" not in found
        assert "paths" not in found

    def test_the_source_defaults_to_the_first_with_arcs(self, run: Run, tmp_path: Path) -> None:
        for arcs, source in (([(0, 1, 5)], 1), ([(2, 1, 5), (3, 1, 5)], 3), ([], 1)):
            write_graph(graph_of(4, arcs), tmp_path / "graph.gr")
            found = as_json(run("sssp", tmp_path / "graph.gr", "--device", "cpu", "--json"))
            assert found["source"] == source

    def test_targets(self, run: Run, small: Path) -> None:
        words = ("sssp", small, "-t", 3, "--target", 4, "-t", 1, "--device", "cpu")
        text = run(*words).stdout
        assert text.endswith(
            "path to 3, length 7:\n  1 → 2 → 3\nno path to 4\npath to 1, length 0:\n  1\n"
        )
        assert as_json(run(*words, "--json"))["paths"] == [
            {"target": 3, "distance": 7, "path": [1, 2, 3]},
            {"target": 4, "distance": None, "path": []},
            {"target": 1, "distance": 0, "path": [1]},
        ]

    def test_trials(self, run: Run, small: Path) -> None:
        words = ("sssp", small, "-n", 3, "--device", "cpu")
        assert len(as_json(run(*words, "--json"))["trials"]["solve_seconds"]) == 3
        assert re.search(r"solve median +\S+ ms of 3", run(*words).stdout)

    @pytest.mark.parametrize("method", ["delta-stepping", "bellman-ford"])
    @pytest.mark.parametrize("partition", ["arcs", "vertices"])
    def test_choices(self, run: Run, small: Path, method: str, partition: str) -> None:
        words = ("--algorithm", method, "--partition", partition, "--delta", 2, "--device", "cpu")
        found = as_json(run("sssp", small, *words, "--json"))
        assert found["statistics"]["algorithm"] == method
        assert found["statistics"]["delta"] == (2 if method == "delta-stepping" else None)
        assert found["sum_of_distances"] == 11

    def test_cutoff(self, run: Run, small: Path) -> None:
        words = ("--cutoff", 4, "--verify", "--device", "cpu", "--json")
        assert as_json(run("sssp", small, *words))["reached"] == 2

    def test_enough_time(self, groute: Any, small: Path) -> None:
        assert groute("sssp", small, "--time-limit", 3600, "--device", "cpu").returncode == 0

    def test_float_weights(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "floats.gr").write_text("p sp 3 2\na 1 2 0.5\na 2 3 0.25\n")
        found = as_json(run("sssp", tmp_path / "floats.gr", "--device", "cpu", "--json"))
        assert (found["sum_of_distances"], found["greatest_distance"]) == (1.25, 0.75)


class TestDoctor:
    """On one rank, whatever the machine has."""

    def test_json(self, run: Run) -> None:
        found = as_json(run("doctor", "--json"))
        assert found["groute-py"]["found"] == groute_py.__version__
        assert {"python", "numpy", "numba", "mpi4py", "launcher", "cache folder"} <= found.keys()
        assert {"CPU kernels", "GPU kernels", "Numba's cache"} <= found.keys()
        assert {finding["state"] for finding in found.values()} <= {"good", "absent", "wrong"}
        assert all(f["advice"] for f in found.values() if f["state"] == "wrong")

    def test_table(self, run: Run) -> None:
        text = run("doctor").stdout
        assert "groute-py" in text
        assert "all is well" in text or "need attention" in text

    def test_without_an_mpi_library(self, groute: Any) -> None:
        done = groute("doctor", "--json", MPI4PY_LIBMPI="/absent/libmpi.so")
        assert done.returncode == 0, done.stderr
        library = json.loads(done.stdout)["MPI library"]
        assert library["state"] == "absent"
        assert "groute-py[mpich]" in library["advice"]


class TestAlgorithms:
    def test_lists_the_registry(self, run: Run) -> None:
        from groute_py.engine.algorithms.methods import algorithms as registered

        rows = json.loads(run("algorithms", "--json").stdout)
        assert [row["algorithm"] for row in rows] == list(registered())
        assert {row["weights"] for row in rows} == {
            *("any", "1", "0 or more", "0 or more, integers")
        }
        lines = run("algorithms").stdout.splitlines()
        assert len(lines) == len(rows) + 1
        assert lines[1].split()[:4] == ["delta-stepping", "cpu,", "cuda", "yes"]

    def test_an_unknown_name_is_refused_before_reading(self, run: Run) -> None:
        done = run("sssp", "absent.gr", "--algorithm", "magic")
        assert done.exit_code == 2
        assert "algorithm 'magic' is unknown; choose one of auto, delta-stepping" in done.output

    def test_auto_says_why(self, run: Run, small: Path) -> None:
        assert (
            "(no weight is negative, and not all are 1)"
            in run("sssp", small, "--device", "cpu").stdout
        )


class TestBfs:
    def test_hops_paths_and_verification(self, run: Run, small: Path) -> None:
        words = ("bfs", small, "-t", 3, "--verify", "--device", "cpu", "--json")
        found = as_json(run(*words))
        assert found["verified"] is True
        assert found["statistics"]["algorithm"] == "bfs"
        assert found["paths"][0]["distance"] == len(found["paths"][0]["path"]) - 1

    def test_a_saved_answer_is_whole(self, run: Run, tmp_path: Path) -> None:
        output = tmp_path / "out.npz"
        part = as_json(run("bfs", "road:60x40", "-s", 1230, "-t", 1231, "--json"))
        whole = as_json(run("bfs", "road:60x40", "-s", 1230, "-t", 1231, "-o", output, "--json"))
        assert part["reached"] < whole["reached"] == 2222
        assert part["paths"] == whole["paths"]
        assert part["statistics"]["bound"] == 1
        assert whole["statistics"]["bound"] is None

    def test_under_mpirun_the_others_wait(self, groute: Any) -> None:
        words = ("sssp", "road:60x40", "--algorithm", "heap-dijkstra", "--verify", "--json")
        done = groute(*words, ranks=3)
        assert done.returncode == 0, done.stderr
        figures = json.loads(done.stdout)["statistics"]
        assert figures["mode"] == "alone"
        assert figures["mode_reason"] == "heap-dijkstra runs on one rank, the others wait"

    @pytest.mark.parametrize("ranks", [2, 3])
    def test_on_ranks(self, groute: Any, ranks: int) -> None:
        done = groute("bfs", "road:60x40", "--verify", "--json", ranks=ranks)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["verified"] is True
        assert found["statistics"]["ranks"] == ranks


def test_sums_beyond_64_bits_and_beyond_floats(tmp_path: Path, run: Run) -> None:
    whole = Graph.from_arrays([0, 3, 3, 3, 3], [1, 2, 3], [4 * 10**18, 8 * 10**18, 4 * 10**18])
    write_graph(whole, tmp_path / "whole.csr")
    done = run("sssp", tmp_path / "whole.csr", "--json", "--device", "cpu")
    assert json.loads(done.stdout)["sum_of_distances"] == 16 * 10**18
    floats = Graph.from_arrays([0, 2, 2, 2], [1, 2], [1.5e308, 1.5e308])
    write_graph(floats, tmp_path / "floats.csr")
    for words in (("sssp",), ("apsp", "--reduce", "sum")):
        done = run(*words, tmp_path / "floats.csr", "--json", "--device", "cpu")
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["sum_of_distances"] is None


def test_a_target_within_range_needs_no_sum_beyond_it(tmp_path: Path, run: Run) -> None:
    chain = Graph.from_arrays([0, 2, 3, 4, 4], [1, 3, 2, 3], [9 * 10**18, 5, 9 * 10**18, 1])
    write_graph(chain, tmp_path / "g.csr")
    words = ("sssp", tmp_path / "g.csr", "--device", "cpu", "--json")
    done = run(*words, "-t", "3", "--verify")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["paths"][0]["distance"] == 5
    with pytest.raises(groute_py.RunError, match="does not fit"):
        run(*words, "-t", "2")


@pytest.mark.parametrize("size", ["nan", "inf", "1e300"])
def test_gpu_memory_that_is_no_size(size: str, run: Run) -> None:
    with pytest.raises(groute_py.InputError, match="is no size"):
        run("plan", "rmat:10", "--gpu-memory", size)


@pytest.mark.parametrize("columns", [0, 1, 20])
def test_a_table_on_a_narrow_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Some say that they have no columns at all."""
    monkeypatch.setenv("COLUMNS", str(columns))
    show.table(["check", "found"], [["cache folder", "good"]])
    shown = capsys.readouterr().out
    assert "cache folder" in shown
    assert "good" in shown
