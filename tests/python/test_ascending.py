"""Rows by ascending weight: sorted, kept in a file, and used without another sort."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from support.graphs import graphs, random_graph
from support.solving import solve

from groute_py import Graph, generate, read_graph, verify, write_graph
from groute_py.cli.main import commands
from groute_py.graph.symmetrize import with_ascending_rows


def check(graph: Graph) -> None:
    """Against a stable sort of all arcs by tail and weight."""
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    order = np.lexsort((graph.weights, tails))
    result = with_ascending_rows(graph)
    np.testing.assert_array_equal(result.offsets, graph.offsets)
    np.testing.assert_array_equal(result.heads, graph.heads[order])
    np.testing.assert_array_equal(result.weights, graph.weights[order])


@given(graph=graphs(least=-20))
def test_small_graphs(graph: Graph) -> None:
    check(graph)


@pytest.mark.parametrize("spec", ["rmat:9", "random:50,9000", "road:40x40", "random:3,0"])
def test_long_rows(spec: str) -> None:
    check(generate(spec))


def test_what_is_sorted_is_not_copied() -> None:
    graph = with_ascending_rows(generate("rmat:6"))
    assert with_ascending_rows(graph) is graph


def test_a_native_file_keeps_it(
    tmp_path: Path, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(500, 4000, seed=3, greatest=90)
    write_graph(graph, tmp_path / "as_drawn.gr")
    words = ["convert", "--sort-rows", str(tmp_path / "as_drawn.gr"), str(tmp_path / "kept.csr")]
    done = CliRunner().invoke(commands, words)
    assert done.exit_code == 0, done.output
    kept = read_graph(tmp_path / "kept.csr")
    assert with_ascending_rows(kept) is kept
    expected = solve(graph, 0, algorithm="frontier-dijkstra", device=device)

    def no_sort(*_: object) -> None:
        pytest.fail("sorted again")

    where = "rows.sort_rows" if device == "cpu" else "cp.argsort"
    monkeypatch.setattr(f"groute_py.device.{device}.methods.frontier_dijkstra.{where}", no_sort)
    result = solve(kept, 0, algorithm="frontier-dijkstra", device=device)
    np.testing.assert_array_equal(result.distances, expected.distances)
    verify(kept, result)
