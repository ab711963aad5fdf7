"""Environments in which a command cannot go on: no GPU, unknown settings, another MPI library."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.one_error import Bad, check, quick
from support.processes import run

from groute_py.comm.awareness import mpi_library


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``@`` stands for."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "good.gr").write_text("p sp 4 4\na 1 2 1\na 2 3 5\na 3 2 1\na 3 4 2\n")
    return folder


NO_GPU = Bad("sssp @good.gr --device cuda", 2, "no GPU can be used: ")


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
def test_no_gpu(ranks: int, inputs: Path, tmp_path: Path, groute: Any) -> None:
    words = [*NO_GPU.words.replace("@", f"{inputs}/").split(), "-o", tmp_path / "out.npz"]
    with quick():
        done = groute(*words, ranks=ranks, CUDA_VISIBLE_DEVICES="")
    check(NO_GPU, done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("GROUTE_PY_GPU_AWARE_MPI", "perhaps", "expected 0 or 1"),
        ("GROUTE_PY_DATASETS", "mirror/graphs", "expected a URL, such as https://"),
    ],
)
@pytest.mark.parametrize("words", ["doctor", "info dimacs:NY"])
def test_an_unknown_setting(words: str, name: str, value: str, says: str, groute: Any) -> None:
    done = groute(*words.split(), **{name: value})
    check(Bad("", 2, f"{name}={value}: {says}"), done.returncode, done.stdout, done.stderr)


@pytest.mark.mpi
@pytest.mark.one_mpi
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("GROUTE_PY_HOSTS", "two", "expected a number from 1"),
        ("GROUTE_PY_SILENCE_S", "1", "expected 0, or seconds from 2"),
        ("GROUTE_PY_GPU_AWARE_MPI", "perhaps", "expected 0 or 1"),
    ],
)
@pytest.mark.parametrize("words", ["sssp @good.gr", "apsp @good.gr", "doctor"])
def test_an_unknown_setting_on_all_ranks(
    words: str, name: str, value: str, says: str, ranks: int, groute: Any, inputs: Path
) -> None:
    """It ends them in order: MPI has nothing to say."""
    with quick():
        done = groute(*words.replace("@", f"{inputs}/").split(), ranks=ranks, **{name: value})
    check(Bad("", 2, f"{name}={value}: {says}"), done.returncode, done.stdout, done.stderr)
    assert "abort" not in done.stderr.lower()


class TestLauncherAndLibrary:
    """An mpirun of another MPI than the library's: every process believes to be alone."""

    def foreign(self, rank: int) -> dict[str, str]:
        size, number = ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")
        if "Open MPI" in mpi_library():
            size, number = ("PMI_SIZE", "PMI_RANK")
        return {size: "2", number: str(rank)}

    def ends(self, inputs: Path, **environ: str) -> list[tuple[int, str, str]]:
        """What becomes of two processes that a foreign launcher starts."""
        words = [sys.executable, "-m", "groute_py", "sssp", str(inputs / "good.gr")]
        ranks = [
            subprocess.Popen(
                words,
                env={**os.environ, **self.foreign(rank), **environ},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(2)
        ]
        spoken = [rank.communicate(timeout=60) for rank in ranks]
        return [(rank.returncode, *said) for rank, said in zip(ranks, spoken, strict=True)]

    def check(self, ends: list[tuple[int, str, str]], says: str) -> None:
        assert [code for code, _, _ in ends] == [2, 2], ends
        check(Bad("", 2, says), 2, *("".join(texts) for texts in list(zip(*ends, strict=True))[1:]))

    def test_mismatch(self, inputs: Path) -> None:
        with quick():
            self.check(self.ends(inputs), "mpirun and library do not belong together")

    def test_no_library(self, inputs: Path) -> None:
        with quick():
            ends = self.ends(inputs, MPI4PY_LIBMPI="/absent/libmpi.so")
        self.check(ends, "this job has several ranks, but no MPI library can be loaded")

    def test_one_rank_needs_no_library(self, groute: Any, inputs: Path) -> None:
        done = groute("sssp", inputs / "good.gr", MPI4PY_LIBMPI="/absent/libmpi.so")
        assert done.returncode == 0, done.stderr

    @pytest.mark.mpi
    def test_no_library_under_mpirun(self, groute: Any, inputs: Path) -> None:
        with quick():
            done = groute("sssp", inputs / "good.gr", ranks=2, MPI4PY_LIBMPI="/absent/libmpi.so")
        says = "this job has several ranks, but no MPI library can be loaded"
        check(Bad("", 2, says), done.returncode, done.stdout, done.stderr)


def test_a_limit_of_addresses_that_the_compiler_does_not_fit_in() -> None:
    words = [sys.executable, "-m", "groute_py", "sssp", "road:5x5", "--device", "cpu"]
    done = run("bash", "-c", f"ulimit -v 380000; exec {shlex.join(words)}")
    assert done.returncode == 2
    assert re.fullmatch(r"groute-py: `ulimit -v` leaves .*; raise that limit\n", done.stderr)
