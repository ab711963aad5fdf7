"""Real graphs whose answers are known from elsewhere; skipped where the data folder is missing.

A digest is the SHA-256 of the int64 little-endian distances in vertex order, −1 for unreachable.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from graphs import scipy_distances
from local_ranks import on_ranks
from test_solvers import solve

from groute_py import (
    UNREACHED,
    Graph,
    NegativeCycleError,
    Result,
    read_graph,
    verify,
)
from groute_py.algorithms.choose import algorithms
from groute_py.comm.solo import SoloChannel
from groute_py.engine.options import Options
from groute_py.engine.session import Session
from groute_py.engine.supply.pieces import read_pieces
from groute_py.engine.supply.shared import SharedFile
from groute_py.engine.supply.whole import Whole
from groute_py.result import load


def digest(distances: Any) -> str:
    plain = np.where(distances == UNREACHED, -1, distances).astype("<i8")
    return hashlib.sha256(plain.tobytes()).hexdigest()


def from_arcs(count: int, tails: Any, heads: Any, weights: Any) -> Graph:
    """A graph from arcs in any order."""
    order = np.argsort(tails, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=count))])
    return Graph.from_arrays(offsets, np.asarray(heads)[order], np.asarray(weights)[order])


class Answer(NamedTuple):
    """What README.md of the data says of one source, in the file's numbering."""

    source: int
    total: int
    greatest: int
    digest: str


NEW_YORK = [
    Answer(
        1,
        186686642878,
        1440081,
        "f89d445456a47c5557b9d98f84e550f3b9f5781f146b6b7abb2d39e56fd14902",
    ),
    Answer(
        190295,
        93968918454,
        922331,
        "1058541edf2cb88c863d667185821ebc9dac20c00c2429ce29c7574cc001d0f5",
    ),
    Answer(
        239826,
        138309285986,
        1246742,
        "832305f6a24a9feff7951ec72ea7cc7ff470c28b1301ffae0bc8503390af2034",
    ),
]
ROME = Answer(
    1, 116006476, 69102, "df111f44dd5bd8761098f00e8af2d8dac930933556f898d1b3c6e0b9e3f2662d"
)


def check(distances: Any, answer: Answer) -> None:
    assert int(distances.sum()) == answer.total
    assert int(distances.max()) == answer.greatest
    assert digest(distances) == answer.digest


@pytest.fixture(scope="session")
def new_york(data_folder: Path) -> Path:
    return data_folder / "dimacs9" / "USA-road-d.NY.gr.gz"


@pytest.fixture(scope="session")
def new_york_text(new_york: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plain") / "USA-road-d.NY.gr"
    path.write_bytes(gzip.decompress(new_york.read_bytes()))
    return path


@pytest.fixture(scope="session")
def new_york_graph(new_york: Path) -> Graph:
    return read_graph(new_york)


class TestNewYork:
    """264,346 vertices and 733,846 arcs, with parallel ones."""

    @pytest.mark.parametrize("ranks", [1, 2, 3, 4])
    def test_three_sources(self, device: str, ranks: int, new_york_graph: Graph) -> None:
        def work(channel: Any) -> list[Any]:
            whole = Whole(new_york_graph if channel.rank == 0 else None)
            session = Session(whole, channel, Options(device=device))
            return [session.solve(answer.source - 1) for answer in NEW_YORK]

        results = on_ranks(ranks, work)[0]
        for result, answer in zip(results, NEW_YORK, strict=True):
            check(result.distances, answer)
            verify(new_york_graph, result)

    @pytest.mark.parametrize("ranks", [1, 2, 3, 4])
    def test_in_pieces(self, ranks: int, new_york_graph: Graph, new_york_text: Path) -> None:
        """Of a text that every rank reads a part of."""

        def work(channel: Any) -> Result | None:
            pieces = read_pieces(SharedFile(new_york_text, native=False), channel)
            assert pieces is not None
            return Session(pieces, channel, Options(device="cpu")).solve(answer.source - 1)

        answer = NEW_YORK[0]
        result = on_ranks(ranks, work)[0]
        assert result is not None
        check(result.distances, answer)
        verify(new_york_graph, result)

    def test_bellman_ford(self, device: str, new_york_graph: Graph) -> None:
        answer = NEW_YORK[1]
        result = solve(
            new_york_graph, answer.source - 1, 2, algorithm="bellman-ford", device=device
        )
        check(result.distances, answer)
        verify(new_york_graph, result)

    @pytest.mark.mpi
    def test_under_mpirun(self, device: str, new_york: Path, tmp_path: Path, groute: Any) -> None:
        answer, output = NEW_YORK[0], tmp_path / "out.npz"
        done = groute("sssp", new_york, "--device", device, "-o", output, "--verify", ranks=4)
        assert done.returncode == 0, done.stderr
        check(load(output).distances, answer)


@pytest.mark.parametrize("ranks", [1, 3])
def test_rome(device: str, ranks: int, data_folder: Path) -> None:
    graph = read_graph(data_folder / "dimacs9" / "rome99.gr")
    result = solve(graph, ROME.source - 1, ranks, patience=1, device=device)
    check(result.distances, ROME)
    verify(graph, result)


# Road topologies of the PACE challenge: `p tw n m`, then one undirected edge a line.

TOPOLOGIES = {
    ("FLA", "unit"): Answer(
        1,
        1206725808,
        1920,
        "543e48fedcfb9a358a1adb517d22c036a9aa68e7af8a06a0531d2a7d0b0d2a2d",
    ),
    ("NW", "unit"): Answer(
        1,
        1288891301,
        1959,
        "b431fdf5cb61572fa3d7a81a8c1a1d424d52142f7fe16d58ba83c498f6f8a31a",
    ),
    ("FLA", "hash"): Answer(
        1,
        5837469451641,
        9301054,
        "179123d18adbf204afe3fed42ad5a2d019e6defbf1852011d7c56366400d08c2",
    ),
    ("NW", "hash"): Answer(
        1,
        6100016075328,
        9315947,
        "b11beae2d8709f96c0cfab4adb1da08351687b0e89d3313d81f216f5aff8b8fe",
    ),
}


def unit_weights(u: Any, v: Any) -> Any:
    return np.ones(len(u), dtype=np.int32)


def hash_weights(u: Any, v: Any) -> Any:
    low, high = np.minimum(u, v), np.maximum(u, v)
    return (1 + (low * 2654435761 + high * 40503) % 2**32 % 10000).astype(np.int32)


WEIGHTS: dict[str, Callable[[Any, Any], Any]] = {"unit": unit_weights, "hash": hash_weights}


def read_topology(path: Path, weigh: Callable[[Any, Any], Any]) -> Graph:
    with lzma.open(path, "rt") as file:
        _, _, count, edges = file.readline().split()
        u, v = np.fromstring(file.read(), dtype=np.int64, sep=" ").reshape(-1, 2).T
    assert len(u) == int(edges)
    weights = weigh(u, v)
    tails, heads = np.concatenate([u, v]) - 1, np.concatenate([v, u]) - 1
    return from_arcs(int(count), tails, heads, np.concatenate([weights, weights]))


@pytest.mark.parametrize(("name", "weights"), TOPOLOGIES)
def test_topologies(device: str, name: str, weights: str, data_folder: Path) -> None:
    path = data_folder / "roads-topology" / f"{name}.gr.xz"
    graph, answer = read_topology(path, WEIGHTS[weights]), TOPOLOGIES[name, weights]
    for ranks in (1, 3):
        result = solve(graph, answer.source - 1, ranks, device=device)
        check(result.distances, answer)
    verify(graph, result)


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
        result = solve(question.graph, question.source, ranks, device=device, time_limit_s=30)
        check_answer(name, question, result)


def length(graph: Graph, path: list[int]) -> int:
    """The sum of the lightest arcs from vertex to vertex; fails where there is none."""
    total = 0
    for tail, head in pairwise(path):
        row = slice(graph.offsets[tail], graph.offsets[tail + 1])
        total += int(graph.weights[row][graph.heads[row] == head].min())
    return total


# Textbook graphs: `n`, `m`, then arcs with ids from 0.


def read_textbook(path: Path) -> Graph:
    count, _, *numbers = path.read_text().split()
    arcs = np.array(numbers, dtype=np.float64).reshape(-1, 3)
    return from_arcs(
        int(count), arcs[:, 0].astype(np.int64), arcs[:, 1].astype(np.int64), arcs[:, 2]
    )


@pytest.mark.parametrize("ranks", [1, 2, 4])
class TestTextbook:
    """Sedgewick and Wayne, Algorithms: 8 vertices."""

    @pytest.mark.parametrize(
        ("name", "distances"),
        [
            ("tinyEWD", [0, 1.05, 0.26, 0.99, 0.38, 0.73, 1.51, 0.60]),
            ("tinyEWDn", [0, 0.93, 0.26, 0.99, 0.26, 0.61, 1.51, 0.60]),
        ],
    )
    def test_distances(
        self, device: str, ranks: int, name: str, distances: list[float], data_folder: Path
    ) -> None:
        graph = read_textbook(data_folder / "textbook" / f"{name}.txt")
        result = solve(graph, 0, ranks, device=device)
        np.testing.assert_allclose(result.distances, distances, rtol=1e-12)
        verify(graph, result)

    def test_negative_cycle(self, device: str, ranks: int, data_folder: Path) -> None:
        graph = read_textbook(data_folder / "textbook" / "tinyEWDnc.txt")
        with pytest.raises(NegativeCycleError) as caught:
            solve(graph, 0, ranks, device=device)
        assert caught.value.cycle in ([4, 5, 4], [5, 4, 5])
        assert caught.value.weight == pytest.approx(-0.66 + 0.37 - 0.02, abs=0.4)


# Directed graphs with weights −100..99, and the least distance over all pairs of vertices.

PAIRS = [f"{number}_{2 ** ((number - 1) // 4 + 1)}" for number in range(1, 21)]
PAIRS += ["21_64", "22_64"]


def read_pairs(path: Path) -> Graph:
    numbers = np.loadtxt(path, dtype=np.int64, skiprows=1, ndmin=2)
    count = int(path.read_text().split()[0])
    return from_arcs(count, numbers[:, 0] - 1, numbers[:, 1] - 1, numbers[:, 2])


def rounds_of_bellman_ford(graph: Graph, source: int) -> Any | None:
    """Distances by the textbook's n rounds, or None where they still sink: an oracle."""
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    distances = np.full(graph.vertex_count, np.inf)
    distances[source] = 0
    for _ in range(graph.vertex_count):
        before = distances.copy()
        np.minimum.at(distances, graph.heads, before[tails] + graph.weights)
        if np.array_equal(distances, before):
            return distances
    return None


@pytest.mark.parametrize("name", PAIRS)
def test_all_pairs(device: str, name: str, data_folder: Path) -> None:
    """A source is refused where a negative cycle can be reached from it, else it is solved."""
    folder = data_folder / "all-pairs-negative"
    expected = (folder / f"output_random_{name}.txt").read_text().strip()
    graph = read_pairs(folder / f"input_random_{name}.txt")
    least, refused = np.inf, False
    for source in range(graph.vertex_count):
        oracle = rounds_of_bellman_ford(graph, source)
        if oracle is None:
            refused = True
            with pytest.raises(NegativeCycleError) as caught:
                solve(graph, source, device=device)
            assert length(graph, caught.value.cycle) <= caught.value.weight < 0
            continue
        result = solve(graph, source, 3 if source == 0 else 1, device=device)
        verify(graph, result)
        found = np.where(result.reached, result.distances, np.inf)
        np.testing.assert_array_equal(found, oracle)
        found[source] = np.inf
        least = min(least, found.min())
    assert refused == (expected == "NULL")
    if not refused:
        assert least == int(expected)


def test_a_session_survives_a_negative_cycle(device: str, data_folder: Path) -> None:
    """A refused source spoils nothing for the next one."""
    path = data_folder / "textbook" / "tinyEWDnc.txt"
    whole = read_textbook(path)
    kept = Graph.from_arrays(
        [*whole.offsets, whole.arc_count], whole.heads, whole.weights, name="one more vertex"
    )
    session = Session(Whole(kept), SoloChannel(), Options(device=device))
    for _ in range(2):
        with pytest.raises(NegativeCycleError):
            session.solve(0)
        alone = session.solve(8)
        assert alone is not None
        assert alone.distances.tolist() == [np.inf] * 8 + [0.0]


NEGATIVE = [name for name, method in algorithms().items() if method.negative_weights]


@pytest.mark.parametrize("method", NEGATIVE)
class TestNegativeByEveryMethod:
    """The textbook's negative arcs and cycle, and graphs that may hold one anywhere."""

    def test_textbook(self, device: str, method: str, data_folder: Path) -> None:
        if device not in algorithms()[method].devices:
            pytest.skip(f"{method} has no device {device}")
        graph = read_textbook(data_folder / "textbook" / "tinyEWDn.txt")
        result = solve(graph, 0, algorithm=method, device=device)
        expected = [0, 0.93, 0.26, 0.99, 0.26, 0.61, 1.51, 0.60]
        np.testing.assert_allclose(result.distances, expected, rtol=1e-12)
        looped = read_textbook(data_folder / "textbook" / "tinyEWDnc.txt")
        with pytest.raises(NegativeCycleError) as caught:
            solve(looped, 0, algorithm=method, device=device)
        assert caught.value.cycle in ([4, 5, 4], [5, 4, 5])

    def test_against_the_rounds_of_the_textbook(
        self, device: str, method: str, data_folder: Path
    ) -> None:
        if device not in algorithms()[method].devices:
            pytest.skip(f"{method} has no device {device}")
        for name in ("13_16", "17_32", "20_32", "21_64", "22_64"):
            graph = read_pairs(data_folder / "all-pairs-negative" / f"input_random_{name}.txt")
            expected = rounds_of_bellman_ford(graph, 0)
            if expected is None:
                with pytest.raises(NegativeCycleError):
                    solve(graph, 0, algorithm=method, device=device)
                continue
            result = solve(graph, 0, algorithm=method, device=device)
            found = np.where(result.reached, result.distances, np.inf)
            np.testing.assert_array_equal(found, expected)
            verify(graph, result)


# Traffic networks: `init term capacity length free_flow_time …` after the metadata.

TRAFFIC = {"SiouxFalls": (345, 23), "ChicagoSketch": (43356.75, 103.54)}


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", TRAFFIC)
def test_traffic(device: str, ranks: int, name: str, data_folder: Path) -> None:
    text = (data_folder / "tntp" / f"{name}_net.tntp").read_text()
    head, _, body = text.partition("<END OF METADATA>")
    count = int(head.partition("<NUMBER OF NODES>")[2].split()[0])
    rows = [line.split()[:5] for line in body.splitlines() if line.rstrip().endswith(";")]
    table = np.array(rows[1:], dtype=np.float64)
    ends = table[:, :2].astype(np.int64) - 1
    graph = from_arcs(count, ends[:, 0], ends[:, 1], table[:, 4])
    result = solve(graph, 0, ranks, device=device)
    assert (result.distances.sum(), result.distances.max()) == pytest.approx(TRAFFIC[name])
    np.testing.assert_allclose(result.distances, scipy_distances(graph, 0), rtol=1e-12)
    verify(graph, result)
