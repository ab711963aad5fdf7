"""``python -m benchmarks --paths`` runs, in a tiny form, and a wrong answer makes it fail."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.benchmark_runs import Bench, bench_of
from support.places import ROOT

NAMES = ("minimax", "widest", "reliable", "fewest-arcs")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return bench_of("--paths", tmp_path, monkeypatch)


def test_cases(run: Bench) -> None:
    """NetworkX and SciPy, which are always installed, agree; others run where they are."""
    from benchmarks.path_peers import OBJECTIVES

    assert tuple(OBJECTIVES) == NAMES
    cases = ["raster:30x20/random", "raster:30x40/maze", "routes:road:9x9/9/k3"]
    cases += [f"objective:{graph}/{name}" for graph in ("rmat:5", "road:9x9") for name in NAMES]
    done, records = run(*cases)
    assert done.exit_code == 0, done.output
    assert [record["case"] for record in records] == cases
    assert all(record["median_s"] > 0 for record in records)
    assert [record["cells"] for record in records[:2]] == [600, 1200]
    for name in ("NetworkX", "SciPy"):
        assert (records[2]["peers"][name]["part"], records[2]["rows"]) == (4, 9)
    assert all(record["peers"]["SciPy"]["compared"] for record in records[2:])
    peers = [peer for record in records for peer in record["peers"].values()]
    assert all("median_s" in peer or peer["skipped"] == "not installed" for peer in peers)


def test_published_cases_are_those_of_a_run_on_a_gpu() -> None:
    from benchmarks.paths import SETS

    results = ROOT / "benchmarks" / "results"
    files = [results / f"paths-h200-2026-11-30{part}.json" for part in ("", "-rasters")]
    records = [one for file in files for one in json.loads(file.read_text())["records"]]
    assert sorted(record["case"] for record in records) == sorted(SETS["cuda"])


def test_corridors_of_a_maze_are_a_tree(run: Bench) -> None:
    from scipy.sparse.csgraph import connected_components
    from support.rasters import graph_of

    from benchmarks.frictions import friction_of

    for width, height in ((1000, 1500), (40, 40), (21, 21)):
        maze = friction_of(width, height, "maze")
        assert maze.shape == (height, width)
        graph = graph_of(maze, 1, 4)
        parts, labels = connected_components(graph)
        corridors = maze.ravel() > 0
        assert len(set(labels[corridors])) == 1
        assert parts == (~corridors).sum() + 1
        assert graph.nnz == 2 * (corridors.sum() - 1)


def test_arcs_that_lead_one_way(run: Bench) -> None:
    done, records = run("objective:random:30,90/widest")
    assert done.exit_code == 0, done.output
    assert "lead one way" in records[0]["peers"]["SciPy"]["skipped"]


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("objective:road:9x9/minimax", "minimum_spanning_tree"),
        ("objective:road:9x9/reliable", "dijkstra"),
        ("objective:road:9x9/fewest-arcs", "dijkstra"),
        ("routes:road:9x9/9/k3", "yen"),
    ],
)
def test_another_answer(run: Bench, monkeypatch: pytest.MonkeyPatch, case: str, name: str) -> None:
    import scipy.sparse.csgraph

    honest = getattr(scipy.sparse.csgraph, name)
    wrong = lambda *ends, **more: honest(*ends, **more) * 1.01  # noqa: E731
    monkeypatch.setattr(scipy.sparse.csgraph, name, wrong)
    done, records = run(case)
    assert done.exit_code == 3
    assert records[0]["failed"] == f"{case}: the answer differs from that of SciPy"


def test_our_own_wrong_answer(run: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    import benchmarks.paths
    from benchmarks.comparison import Peer

    honest = benchmarks.paths.right_distances
    monkeypatch.setattr(benchmarks.paths, "right_distances", lambda *ends: honest(*ends) + 1)
    ones = lambda friction, neighbours: Peer(lambda: np.ones_like(friction), lambda found: found)  # noqa: E731
    monkeypatch.setattr(benchmarks.paths, "RASTER_PEERS", {"ones": ones})
    done, records = run("routes:road:9x9/9/k3", "raster:30x20/random")
    assert done.exit_code == 3
    assert [record["failed"].rpartition(" ")[2] for record in records] == ["Dijkstra", "ones"]


def test_no_such_case(run: Bench) -> None:
    for case in ("raster:9x9", "raster:9x9/smooth", "routes:road:9x9/3", "objective:NYC/widest"):
        done, _ = run(case)
        assert done.exit_code == 2
        assert "a case is raster:WxH/random" in done.output
