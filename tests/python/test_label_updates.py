"""Other weights for a graph that answers by labels."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from support.graphs import random_graph, scipy_distances
from support.keeping import raising_at
from support.labels import check
from support.skips import EMULATED, hide_metis, require_metis

import groute_py
from groute_py import (
    GraphError,
    InputError,
    generate,
)
from groute_py.device.cpu.customization import CpuCustomization

require_metis()


@pytest.mark.usefixtures("eager")
def test_updates(device: str) -> None:
    random, road = np.random.default_rng(1), generate("road:7x7")
    weights = road.weights.astype(np.int64)
    with groute_py.open(road, prepare=True, device=device) as solver:
        check(solver, road)
        for number in range(4 if EMULATED else 40):
            arcs = random.choice(road.arc_count, int(random.integers(0, 9)), replace=False)
            weights[arcs] = random.integers(0, 2 ** int(random.integers(1, 40)), len(arcs))
            if number % 3:
                solver.update(weights[arcs], arcs=arcs)
            else:
                solver.update(weights)
            check(solver, road.with_weights(weights))
            assert solver.facts.greatest == weights.max()
        result = solver.sssp(7)
        assert result is not None
        assert (result.distances == scipy_distances(road.with_weights(weights), 7)).all()
        assert result.statistics["algorithm"] == "contraction"


def test_updates_of_any_solver(device: str) -> None:
    graph = random_graph(40, 120, 7, 50)
    with groute_py.open(graph, device=device) as solver:
        solver.sssp(0)
        for weights in (graph.weights * 3, graph.weights * 0.5, np.full(120, 2**40)):
            solver.update(weights)
            result = solver.sssp(1)
            assert result is not None
            expected = scipy_distances(graph.with_weights(weights), 1)
            np.testing.assert_allclose(result.distances, expected)
        for weights, arcs, problem in [
            ([1], None, "must have one length"),
            ([1, 2], [3], r"1 weights are needed, not an array of shape \(2,\)"),
            ([1], [120], "arc 120 is none of"),
            ([1, 2], [4, 4], "arc 4 is there twice"),
        ]:
            with pytest.raises((InputError, GraphError), match=problem):
                solver.update(weights, arcs=arcs)
        assert solver.sssp(1).distances.tolist() == result.distances.tolist()
    with (
        groute_py.open(graph, reverse=True, device=device) as solver,
        pytest.raises(InputError, match="update: open without reverse"),
    ):
        solver.update(graph.weights)


@pytest.mark.usefixtures("eager")
def test_a_prepared_order_outlasts_other_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    town = groute_py.prepare("road:9x9", separators=True, device="cpu")
    assert town is not None
    hide_metis(monkeypatch)
    plain, weights = generate("road:9x9"), town.weights * 2
    with groute_py.open(town, prepare=True, device="cpu") as solver:
        solver.update(weights)
        with solver.with_weights(weights) as copy, solver.reversed() as back:
            check(copy, plain.with_weights(weights))
            check(back, plain.with_weights(weights).reversed())
        check(solver, plain.with_weights(weights))
    assert town.with_weights(weights, device="cpu").order is town.order


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_update_that_is_interrupted(error: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """All weights are then those from before or, where labels can be made anew, the others."""
    road = generate("road:5x5")
    with groute_py.open(road, prepare=True, device="cpu") as solver:
        check(solver, road)
        with monkeypatch.context() as change:
            customize = "groute_py.device.cpu.customization.CpuCustomization.customize"
            change.setattr(customize, raising_at(1, CpuCustomization.customize, error()))
            with nullcontext() if error is MemoryError else pytest.raises(error):
                solver.update(road.weights * 2)
        weights = road.weights * (2 if error is MemoryError else 1)
        check(solver, road.with_weights(weights))
        result = solver.sssp(0)
        assert result is not None
        assert (result.distances == scipy_distances(road.with_weights(weights), 0)).all()


@pytest.mark.usefixtures("eager")
def test_hops_stay_hops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By an order that is kept, as hops themselves are not prepared."""
    monkeypatch.setenv("GROUTE_PY_CACHE", str(tmp_path))
    monkeypatch.setattr("groute_py.io.cache.LARGE_PREPARED", 1)
    road = generate("road:5x5")
    groute_py.write_graph(road, tmp_path / "town.gr")
    groute_py.customize(tmp_path / "town.gr", device="cpu")
    with groute_py.open(tmp_path / "town.gr", hops=True, device="cpu") as solver:
        check(solver, road.with_unit_weights())
        solver.update(road.weights * 2)
        check(solver, road.with_unit_weights())
        assert solver.facts.greatest == 1
