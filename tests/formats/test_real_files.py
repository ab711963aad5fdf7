"""Files of other projects with known answers; skipped where the data folder is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from groute_py import FormatError, Graph, Result, read_graph, sssp

LDBC = {
    "example-directed": ("example-directed.e", "example-directed-SSSP", False, 1),
    "example-undirected": ("example-undirected.e", "example-undirected-SSSP", True, 2),
    "test-directed": ("test-sssp-dir-input.e", "test-sssp-dir-output", False, 1),
    "test-undirected": ("test-sssp-undir-input.e", "test-sssp-undir-output", True, 1),
}


def solve(graph: Graph, source: int) -> Result:
    result = sssp(graph, source, device="cpu")
    assert result is not None
    return result


@pytest.mark.parametrize("name", LDBC)
def test_ldbc(data_folder: Path, name: str) -> None:
    edges, answers, undirected, source = LDBC[name]
    graph = read_graph(data_folder / "ldbc" / edges, undirected=undirected)
    result = solve(graph, source)
    wanted = np.loadtxt(data_folder / "ldbc" / answers, ndmin=2)
    np.testing.assert_array_equal(
        graph.numbering.ids_of(np.arange(graph.vertex_count)), wanted[:, 0]
    )
    np.testing.assert_allclose(result.distances, wanted[:, 1], rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("tinyEWD", [0, 1.05, 0.26, 0.99, 0.38, 0.73, 1.51, 0.60]),
        ("tinyEWDn", [0, 0.93, 0.26, 0.99, 0.26, 0.61, 1.51, 0.60]),
    ],
)
def test_textbook(data_folder: Path, name: str, wanted: list[float]) -> None:
    graph = read_graph(data_folder / "textbook" / f"{name}.txt")
    assert (graph.vertex_count, graph.arc_count, graph.first_id) == (8, 15, 0)
    np.testing.assert_allclose(solve(graph, 0).distances, wanted, atol=1e-12)


MATRICES = {
    "karate": (34, 156, "int32"),
    "sample": (8, 12, "int32"),
    "test_BF": (7, 12, "float64"),
    "west0067": (67, 294, "float64"),
    "matrix_int32": (7, 12, "int32"),
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrix_market(data_folder: Path, name: str) -> None:
    graph = read_graph(data_folder / "matrix-market" / f"{name}.mtx")
    assert (graph.vertex_count, graph.arc_count, graph.weights.dtype) == MATRICES[name]


def test_an_infinite_entry_is_refused_with_its_line(data_folder: Path) -> None:
    with pytest.raises(FormatError, match=r"matrix_fp64\.mtx:7: expected a finite number"):
        read_graph(data_folder / "matrix-market" / "matrix_fp64.mtx")


def test_counts_in_front(data_folder: Path) -> None:
    for path in (data_folder / "all-pairs-negative").glob("input_*"):
        graph = read_graph(path)
        counts = [int(word) for word in path.read_text().split()[:2]]
        assert [graph.vertex_count, graph.arc_count] == counts
        assert graph.first_id == 1


def test_a_topology_without_weights(data_folder: Path) -> None:
    graph = read_graph(data_folder / "roads-topology" / "FLA.gr.xz", cache=False)
    assert (graph.vertex_count, graph.arc_count) == (1_070_376, 2 * 1_343_951)
    result = solve(graph, 1)
    assert (int(result.distances.sum()), int(result.distances.max())) == (1_206_725_808, 1920)
