"""How many threads a process may use, and what says so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import run_command
from support.solving import source_solver

import groute_py
from groute_py import InputError, generate
from groute_py.comm.base import SoloChannel
from groute_py.device.base import Terms
from groute_py.device.cpu import team
from groute_py.graph.facts import facts_of
from groute_py.many.estimates import estimates
from groute_py.system import threads

BAD = [0, -3, 1.5, "many", True]


@pytest.fixture(autouse=True)
def _ten_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(10)))
    monkeypatch.setattr(threads, "_quota", lambda: np.inf)


class TestCoreCount:
    def test_all_cores(self) -> None:
        assert threads.core_count() == threads.thread_count() == 10

    def test_option_before_variables(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NUMBA_NUM_THREADS", "4")
        assert threads.core_count() == 4
        monkeypatch.setenv("OMP_NUM_THREADS", "5,2")
        assert threads.core_count() == 5
        with threads.limited_to(3), threads.limited_to(None):
            assert threads.core_count() == threads.thread_count() == 3
        assert threads.core_count() == 5

    def test_never_more_than_cores(self) -> None:
        with threads.limited_to(10**9):
            assert threads.core_count() == 10

    @pytest.mark.parametrize("named", ["", "0", "-1", "many"])
    def test_variable_that_names_none(self, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
        monkeypatch.setenv("OMP_NUM_THREADS", named)
        assert threads.core_count() == 10

    @pytest.mark.parametrize(
        ("member", "folder", "files", "cores"),
        [
            ("0::/a/b", "a", {"cpu.max": "150000 100000"}, 2),
            ("4:cpu,cpuacct:/a", "cpu/a", {"cpu.cfs_quota_us": "5", "cpu.cfs_period_us": "10"}, 1),
            ("0::/a/b", "a", {"cpu.max": "max 100000"}, 10),
        ],
    )
    def test_control_group(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        member: str,
        folder: str,
        files: dict[str, str],
        cores: int,
    ) -> None:
        monkeypatch.undo()
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(10)))
        (tmp_path / "cgroup").write_text(member + "\n")
        (tmp_path / folder).mkdir(parents=True)
        for name, text in files.items():
            (tmp_path / folder / name).write_text(text + "\n")
        monkeypatch.setattr(threads, "MEMBERSHIP", tmp_path / "cgroup")
        monkeypatch.setattr(threads, "GROUPS", tmp_path)
        monkeypatch.setattr(threads, "_quota", threads._quota.__wrapped__)
        assert threads.available_cores() == cores


class TestTeamSize:
    terms = Terms(np.dtype(np.int32), 1, "alone", 1 << 30)

    def test_all_cores(self) -> None:
        assert team.team_size(self.terms) == 10

    def test_one_of_several_ranks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
        monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
        assert team.team_size(self.terms) == 1
        with threads.limited_to(6):
            assert team.team_size(self.terms) == 6


class TestOption:
    graph = generate("road:30x30")

    @pytest.fixture(autouse=True)
    def _sizes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let a small graph have a team, and note how many threads solves and rows have."""
        monkeypatch.setattr(team, "ARCS_A_THREAD", 1)
        monkeypatch.setattr(team, "LEAST_ARCS", 1)
        monkeypatch.setattr(team, "SPINS", 100)  # threads share the cores of the machine

    def solves_by(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        sizes: list[int] = []
        start = team.Threads.__init__

        def note(self: team.Threads, size: int) -> None:
            sizes.append(size)
            start(self, size)

        monkeypatch.setattr(team.Threads, "__init__", note)
        return sizes

    @pytest.mark.parametrize("function", ["sssp", "open"])
    def test_python(self, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
        sizes = self.solves_by(monkeypatch)
        if function == "sssp":
            groute_py.sssp(self.graph, 5, device="cpu", threads=3)
        else:
            with groute_py.open(self.graph, device="cpu", threads=3) as solver:
                solver.sssp(5)
        assert sizes[-1] == 3
        assert threads.core_count() == 10

    @pytest.mark.parametrize("command", ["sssp", "nearest", "isochrone"])
    def test_command(self, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
        sizes = self.solves_by(monkeypatch)
        ends = {"nearest": ["--facilities", 5], "isochrone": ["--from", 5, "--limits", 9]}
        words = ["road:30x30", *ends.get(command, []), "--device", "cpu", "--threads", 3]
        assert run_command(command, *words).exit_code == 0
        assert sizes[-1] == 3
        assert threads.core_count() == 10

    @pytest.mark.parametrize("algorithm", ["heap", "batch", "sweep", "floyd"])
    def test_rows(self, algorithm: str) -> None:
        expected = groute_py.apsp(self.graph, device="cpu", algorithm=algorithm)
        for count in (1, 2, 7):
            rows = groute_py.apsp(self.graph, device="cpu", algorithm=algorithm, threads=count)
            assert f"{count} thread" in rows.statistics["device"] or algorithm == "floyd"
            np.testing.assert_array_equal(rows.distances, expected.distances)

    def test_estimates(self) -> None:
        alone = estimates(facts_of(self.graph), 20, None)["heap"]
        with threads.limited_to(1):
            assert estimates(facts_of(self.graph), 20, None)["heap"] == pytest.approx(10 * alone)

    def test_a_solver_within_rows_has_one(self) -> None:
        with threads.limited_to(1), source_solver(SoloChannel(), self.graph, device="cpu") as one:
            assert not isinstance(one.device.parts, team.TeamMethod)

    @pytest.mark.parametrize("count", BAD)
    def test_bad_in_python(self, count: Any) -> None:
        for function in (groute_py.sssp, groute_py.bfs):
            with pytest.raises(InputError, match="threads must be"):
                function(self.graph, 0, threads=count)
        with pytest.raises(InputError, match="threads must be"):
            groute_py.apsp(self.graph, threads=count)

    @pytest.mark.parametrize("count", BAD)
    @pytest.mark.parametrize("command", ["sssp", "bfs", "apsp", "query"])
    def test_bad_in_a_command(self, command: str, count: Any) -> None:
        done = run_command(command, "road:30x30", "--threads", count)
        assert done.exit_code == 2
        assert "Invalid value for '--threads'" in done.output
