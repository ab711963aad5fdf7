"""Trees within a cutoff out of a hierarchy on a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import random_graph, scipy_distances
from support.hierarchies import contracted
from support.skips import needs_gpu

import groute_py
from groute_py import UNREACHED, Positions, PreparedGraph, generate, verify

pytestmark = needs_gpu

SOURCE = 5

GRAPHS = {
    "road": lambda: generate("road:24x20"),
    "one way": lambda: random_graph(120, 280, 3, 100),
    "zero weights": lambda: random_graph(100, 250, 4, 3),
    "uint32": lambda: random_graph(100, 220, 6, 1000, "uint32"),
    "64 bits": lambda: random_graph(60, 100, 5, 2**31 - 2),
    "int64": lambda: random_graph(60, 100, 7, 2**40, "int64"),
    "no arcs": lambda: random_graph(9, 0, 1, 1),
}


@pytest.mark.parametrize("core", [1, 12])
@pytest.mark.parametrize("name", GRAPHS)
def test_every_distance(name: str, core: int) -> None:
    """Within nothing, exactly what is at a distance, all but that, and more than there is."""
    graph = GRAPHS[name]()
    greatest = int(graph.weights.max(initial=0)) * graph.vertex_count
    kind = np.dtype(np.int64 if greatest >= 2**31 else np.int32)
    town, row = PreparedGraph(graph, contracted(graph, core, kind)), scipy_distances(graph, SOURCE)
    middle, last = (int(d) for d in np.quantile(row[row < UNREACHED], [0.3, 1], method="lower"))
    for cutoff in (0, middle, max(middle - 1, 0), last + 1):
        result = groute_py.sssp(town, SOURCE, device="cuda", cutoff=cutoff)
        assert result.statistics["algorithm"] == "contraction"
        np.testing.assert_array_equal(result.distances, np.where(row <= cutoff, row, UNREACHED))
        verify(town, result, cutoff=cutoff)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_few_and_many_reached_vertices(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy only vertices that find room in a list; the host's arrays are the same."""
    from groute_py.device.cuda.sssp import answer

    for name in ("FEWEST_NEAR", "MOST_NEAR"):
        monkeypatch.setattr(answer, name, 8)
    graph = random_graph(200, 700, 8, 50, dtype)
    row = scipy_distances(graph, SOURCE)
    reached = row < UNREACHED if row.dtype.kind != "f" else np.isfinite(row)
    nothing = UNREACHED if row.dtype.kind != "f" else np.inf
    for share in (0.0, 0.01, 0.03, 0.2):
        cutoff = float(np.quantile(row[reached], share, method="lower"))
        with groute_py.open(graph, device="cuda", cutoff=cutoff) as solver:
            for _ in range(2):
                result = solver.sssp(SOURCE)
                np.testing.assert_array_equal(
                    result.distances, np.where(row <= cutoff, row, nothing)
                )
                verify(graph, result, cutoff=cutoff)
                assert result.distance_to(SOURCE) == 0
                assert result.path_to(SOURCE) == [SOURCE]
                assert result.statistics["useless_relaxations"] >= 0
        near = groute_py.sssp(graph, SOURCE, targets=Positions([SOURCE]), device="cuda")
        assert near.predecessors.max() <= graph.vertex_count - 1
