"""Road and traffic networks whose distances are known from elsewhere.

Skipped where the data folder is missing.
"""

from __future__ import annotations

import gzip
import json
import lzma
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import scipy_distances
from support.known_answers import Answer, check, from_arcs
from support.local_ranks import on_ranks
from support.solving import solve, source_solver

import groute_py
from groute_py import Graph, Result, apsp, read_graph, verify
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.jobs.questions import Questions
from groute_py.results.result import read_result
from groute_py.source.pieces import read_pieces
from groute_py.source.shared import SharedFile

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


def check_three(graph: Graph, ranks: int, **options: Any) -> None:
    """Solve from three sources with one solver."""

    def work(channel: Any) -> list[Any]:
        solver = source_solver(channel, graph, **options)
        return [solver.sssp(answer.source - 1) for answer in NEW_YORK]

    for result, answer in zip(on_ranks(ranks, work)[0], NEW_YORK, strict=True):
        check(result.distances, answer)
        verify(graph, result)


class TestNewYork:
    """264,346 vertices and 733,846 arcs, with parallel ones."""

    @pytest.mark.parametrize("ranks", [1, 2, 3, 4])
    def test_three_sources(self, device: str, ranks: int, new_york_graph: Graph) -> None:
        check_three(new_york_graph, ranks, device=device)

    @pytest.mark.parametrize("ranks", [1, 2, 3, 4])
    def test_in_pieces(self, ranks: int, new_york_graph: Graph, new_york_text: Path) -> None:
        """Of a text that every rank reads a part of."""

        def work(channel: Any) -> Result | None:
            pieces = read_pieces(SharedFile(new_york_text), channel)
            assert pieces is not None
            return SourceSolver(pieces, channel, Options(device="cpu")).sssp(answer.source - 1)

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

    def test_contraction(self, device: str, new_york_graph: Graph) -> None:
        check_three(new_york_graph, 2, device=device, algorithm="contraction")

    def test_sweeps(self, device: str, new_york_graph: Graph) -> None:
        sources = [answer.source for answer in NEW_YORK]
        rows = apsp(new_york_graph, sources=sources, algorithm="sweep", device=device)
        assert rows is not None
        for distances, answer in zip(rows.distances, NEW_YORK, strict=True):
            check(distances, answer)

    @pytest.mark.mpi
    def test_under_mpirun(self, device: str, new_york: Path, tmp_path: Path, groute: Any) -> None:
        answer, output = NEW_YORK[0], tmp_path / "out.npz"
        done = groute("sssp", new_york, "--device", device, "-o", output, "--verify", ranks=4)
        assert done.returncode == 0, done.stderr
        check(read_result(output).distances, answer)


@pytest.mark.parametrize("algorithm", ["auto", "contraction"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_rome(device: str, ranks: int, algorithm: str, data_folder: Path) -> None:
    graph = read_graph(data_folder / "dimacs9" / "rome99.gr")
    options = {"algorithm": algorithm, "device": device}
    result = solve(graph, ROME.source - 1, ranks, patience=1, **options)
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


def test_a_thousand_near_questions(new_york_graph: Graph) -> None:
    """As `groute-py query` answers them on a CPU: 5 ms each are allowed, of this process's time."""
    numbering, random = new_york_graph.numbering, np.random.default_rng(1)
    sources = random.integers(0, new_york_graph.vertex_count, 1000)
    pairs = [(int(source), _walk(new_york_graph, int(source), random)) for source in sources]
    lines = [
        json.dumps({"source": numbering.id_of(source), "target": numbering.id_of(target)}).encode()
        for source, target in pairs
    ]
    with groute_py.open(new_york_graph, device="cpu") as solver:
        questions = Questions(solver)
        questions.answer(lines[0])
        begun = time.process_time()
        answers = [questions.answer(line) for line in lines]
        assert time.process_time() - begun < 5
    for source in range(0, 1000, 100):
        known = scipy_distances(new_york_graph, pairs[source][0])
        assert answers[source] == {"distance": known[pairs[source][1]]}


def _walk(graph: Graph, vertex: int, random: np.random.Generator) -> int:
    """Where twenty random steps lead."""
    for _ in range(20):
        vertex = int(random.choice(graph.heads[graph.offsets[vertex] : graph.offsets[vertex + 1]]))
    return vertex
