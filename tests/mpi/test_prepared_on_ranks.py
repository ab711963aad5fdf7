"""Prepared graphs under the real mpirun: rank 0 prepares, keeps and solves, and all end alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands_on_ranks import run_on_ranks
from support.graphs import scipy_distances

from groute_py import PreparedGraph, apsp, generate, prepare, read_graph, sssp, write_graph

pytestmark = pytest.mark.mpi

ROAD = generate("road:20x20")

SCRIPT = """
import sys
import groute_py

graph = groute_py.prepare("road:20x20", device="cpu")
result = groute_py.sssp(graph, 21, device="cpu")
if result is not None:
    print(result.statistics["algorithm"], result.statistics["ranks"], int(result.reached.sum()))
try:
    groute_py.prepare("rmat:6", device="cpu")
except groute_py.InputError as error:
    print(f"refused {error.on_all_ranks}\\n", end="", flush=True)  # at once, as others print
"""

MAPPING = """
import os
import sys
from pathlib import Path
import numpy as np
from mpi4py import MPI

path, hidden, how, hosts = sys.argv[1:]
os.environ["GROUTE_PY_HOSTS"] = hosts  # that this one is divided into
os.environ["GROUTE_PY_CACHE"] = str(Path(path).parent)
import groute_py
from groute_py.io import cache
cache.LARGE_PREPARED = 1

rank = MPI.COMM_WORLD.rank
if str(rank) in hidden.split(","):  # as on a host with another file system
    from groute_py.io.formats import prepared
    def not_there(*_):
        raise FileNotFoundError
    prepared.open_plain = prepared.open_believed = not_there

def maps():
    name = Path(path).name.split(".")[0]
    lines = Path("/proc/self/maps").read_text().splitlines()
    return any(name in line and ".prepared" in line for line in lines)

answers = []
is_text = not path.endswith(".prepared")
first = 1 if is_text else 0
with groute_py.open(path, device="cpu", algorithm=how, prepare=is_text) as solver:
    said = [maps()]
    result = solver.sssp(21 + first)
    answers.append(None if result is None else result.distances)
    if how == "auto":
        found = solver.matrix(range(20 + first, 28 + first), range(first, 400 + first))
        answers.append(None if found is None else found.distances[1])
        said.append(maps())
        found = solver.route([(k + first, 399 - k + first) for k in range(20)])
        said.append(maps())
said = MPI.COMM_WORLD.gather(said)
if rank == 0:
    np.savez(sys.argv[0] + ".npz", said=np.array(said), answers=np.array(answers))
"""


@pytest.fixture(autouse=True, scope="module")
def compiled() -> None:
    """Kernels are compiled once, before the clock of a job runs."""
    sssp(ROAD, 0, device="cpu", prepare=True)
    apsp(prepare(ROAD, device="cpu"), sources=[0], device="cpu")


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_commands(tmp_path: Path, ranks: int) -> None:
    text, out, kept = tmp_path / "town.gr", tmp_path / "town.prepared", tmp_path / "copies"
    write_graph(ROAD, text)
    solve = ["-s", "22", "--device", "cpu", "--verify", "--json"]
    rows = ["--sources", "22,23", "--reduce", "sum", "--device", "cpu", "--json"]
    lines = [
        ["sssp", str(text), "--prepare", "--cache", str(kept), *solve],
        ["sssp", str(text), "--prepare", "--cache", str(kept), *solve],
        ["prepare", str(text), "-o", str(out), "--device", "cpu", "--json"],
        ["sssp", str(out), *solve],
        ["sssp", str(out), "--algorithm", "delta-stepping", *solve],
        ["sssp", "rmat:6", "--prepare", "--device", "cpu", "--json"],
        ["prepare", "rmat:6", "-o", str(tmp_path / "r.prepared"), "--device", "cpu"],
        ["apsp", str(out), *rows],
        ["apsp", str(text), "--prepare", "--cache", str(kept), "--algorithm", "sweep", *rows],
        ["cache", "clear", "--cache", str(kept), "--json"],
    ]
    ended = run_on_ranks(lines, ranks, tmp_path)
    assert [one.code for one in ended] == [0, 0, 0, 0, 0, 0, 2, 0, 0, 0]
    answers: list[dict[str, Any]] = [json.loads(one.out) for one in ended if one.code == 0]
    choices = [one["statistics"]["reason"] for one in answers if "statistics" in one]
    assert choices[0].startswith("contracted")
    assert choices[1] == choices[2] == "its hierarchy was there"
    assert "not contracted" in choices[4]
    right = scipy_distances(ROAD, 21)
    total = right[right < 2**62].sum()
    assert {answers[k]["sum_of_distances"] for k in (0, 1, 3, 4)} == {total}
    plain, kept_rows = answers[-3:-1]
    assert kept_rows["reason"] == "asked for; its hierarchy was there"
    assert kept_rows["sum_of_distances"] == plain["sum_of_distances"]
    assert "cannot be contracted" in ended[6].err
    assert ended[6].err.count("\n") == 1
    assert answers[-1]["removed"] == 2
    assert not (tmp_path / "r.prepared").exists()
    assert isinstance(read_graph(out), PreparedGraph)


def test_a_script(script: Any) -> None:
    done = script(SCRIPT, 3)
    assert done.returncode == 0, done.stderr
    right = scipy_distances(ROAD, 21)
    said = done.stdout.split("\n")
    assert f"contraction 3 {np.count_nonzero(right < 2**62)}" in said
    assert done.stdout.count("refused True") == 3


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("town") / "town.prepared"
    write_graph(prepare(ROAD, device="cpu"), path)
    return path


def mapping(script: Any, tmp_path: Path, *words: object) -> list[list[bool]]:
    """By rank, whether it has mapped the file: for a solve, a matrix and routes."""
    done = script(MAPPING, 4, *words)
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "script.py.npz") as result:
        for row in result["answers"]:
            np.testing.assert_array_equal(row, scipy_distances(ROAD, 21))
        said: list[list[bool]] = result["said"].tolist()
    return said


def test_all_ranks_map_the_file(script: Any, town: Path, tmp_path: Path) -> None:
    """Only rank 0 solves for one source; rows and routes are shared by all."""
    alone = mapping(script, tmp_path, town, "", "auto", 1)
    assert alone == [[True, True, True], *[[False, True, True]] * 3]
    assert mapping(script, tmp_path, town, "", "delta-stepping", 1) == [[True]] * 4


def test_other_ranks_map_what_rank_0_has_just_prepared(script: Any, tmp_path: Path) -> None:
    write_graph(ROAD, tmp_path / "city.gr")
    said = mapping(script, tmp_path, tmp_path / "city.gr", "3", "auto", 2)
    assert said[1:] == [[False, True, True], [False] * 3, [False] * 3]


def test_ranks_that_do_not_see_the_file(script: Any, town: Path, tmp_path: Path) -> None:
    """If a rank of a host does not see it, no rank of that host believes it."""
    halves = mapping(script, tmp_path, town, "2", "auto", 2)
    assert halves == [[True] * 3, [False, True, True], [False] * 3, [False] * 3]
    halves = mapping(script, tmp_path, town, "3", "delta-stepping", 2)
    assert halves == [[True], [True], [False], [False]]
