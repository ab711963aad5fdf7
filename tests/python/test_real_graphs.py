"""Graphs of LDBC and Library Checker with their answers.

Skipped where the data folder is missing.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from support.known_answers import from_arcs, length
from support.solving import LONG_S, solve

from groute_py import UNREACHED, Graph, Result, verify

# LDBC Graphalytics: `.v` lists ids, `.e` edges; the outputs say Infinity where no path leads.


class Ldbc(NamedTuple):
    """Files of one case in the folder ldbc."""

    vertices: str
    edges: str
    output: str
    source: int
    directed: bool


LDBC = {
    "example-directed": Ldbc(
        "example-directed.v", "example-directed.e", "example-directed-SSSP", 1, True
    ),
    "example-undirected": Ldbc(
        "example-undirected.v", "example-undirected.e", "example-undirected-SSSP", 2, False
    ),
    "test-directed": Ldbc(
        "test-sssp-dir-input.v", "test-sssp-dir-input.e", "test-sssp-dir-output", 1, True
    ),
    "test-undirected": Ldbc(
        "test-sssp-undir-input.v", "test-sssp-undir-input.e", "test-sssp-undir-output", 1, False
    ),
}


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("name", LDBC)
def test_ldbc(device: str, ranks: int, name: str, data_folder: Path) -> None:
    case, folder = LDBC[name], data_folder / "ldbc"
    ids = np.sort(np.loadtxt(folder / case.vertices, dtype=np.int64))
    edges = np.loadtxt(folder / case.edges)
    tails, heads = (np.searchsorted(ids, edges[:, column]) for column in (0, 1))
    weights = edges[:, 2]
    if not case.directed:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        weights = np.concatenate([weights, weights])
    graph = from_arcs(len(ids), tails, heads, weights)
    expected = np.loadtxt(folder / case.output)
    result = solve(graph, int(np.searchsorted(ids, case.source)), ranks, device=device)
    np.testing.assert_array_equal(ids, expected[:, 0])
    np.testing.assert_allclose(result.distances, expected[:, 1], rtol=1e-12)
    verify(graph, result)


# Library Checker: `n m s t`, then arcs; the output is the distance and one path, or −1.

CHECKER = {
    "example_00": 11,
    "example_01": -1,
    "small_00": 94,
    "small_02": 159,
    "max_dense_zero_00": 0,
    "spfa_killer_00": 191062,
    "wrong_dijkstra_handmade_00": 2,
    "wrong_dijkstra_killer_01": 83325,
}


LONG = ["spfa_killer_00", "wrong_dijkstra_killer_01"]
"""Paths of 10⁵ arcs between vertices in random order: nearly every hop crosses ranks."""


class Question(NamedTuple):
    """A case of the checker."""

    graph: Graph
    source: int
    target: int


def read_question(folder: Path, name: str) -> Question:
    with gzip.open(folder / "library-checker" / f"{name}.in.gz", "rt") as file:
        numbers = np.fromstring(file.read(), dtype=np.int64, sep=" ")
    with gzip.open(folder / "library-checker" / f"{name}.out.gz", "rt") as file:
        assert int(file.readline().split()[0]) == CHECKER[name]
    count, _, source, target = numbers[:4].tolist()
    return Question(from_arcs(count, *numbers[4:].reshape(-1, 3).T), source, target)


def check_answer(name: str, question: Question, result: Result) -> None:
    graph, source, target = question
    verify(graph, result)
    path = result.path_to(target)
    if CHECKER[name] < 0:
        assert (result.distances[target], path) == (UNREACHED, [])
    else:
        assert result.distances[target] == CHECKER[name] == length(graph, path)
        assert (path[0], path[-1]) == (source, target)


@pytest.mark.parametrize("name", CHECKER)
def test_library_checker(device: str, name: str, data_folder: Path) -> None:
    question = read_question(data_folder, name)
    for ranks in (1,) if name in LONG else (1, 3):
        result = solve(question.graph, question.source, ranks, device=device, time_limit_s=LONG_S)
        check_answer(name, question, result)
