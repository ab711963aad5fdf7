"""The nearest facility of each vertex, ties included, on every device and number of ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph
from support.local_ranks import on_ranks
from support.opening import opened_on
from support.reference import check_nearest, check_next, nearest_of, rows_from

import groute_py
from groute_py import Graph, InputError, NearestFacilities, NegativeCycleError, TimeLimitError
from groute_py.jobs.nearest import NearestJob


@settings(max_examples=60)
@given(graph=graphs(greatest=3), to_facility=st.booleans(), data=st.data())
def test_ties_go_to_the_lower_id(
    device: str, graph: Graph, to_facility: bool, data: st.DataObject
) -> None:
    """Small weights: many ties, arcs of weight 0, and cycles of them."""
    vertices = st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=8)
    facilities = data.draw(vertices)
    result = groute_py.nearest(graph, facilities, to_facility=to_facility, device=device)
    check_nearest(graph, facilities, result, to_facility=to_facility)


@settings(max_examples=60)
@given(graph=graphs(greatest=3), data=st.data())
def test_sweeps_of_a_prepared_graph_in_both_directions(graph: Graph, data: st.DataObject) -> None:
    vertices = st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=8)
    with groute_py.open(graph, prepare=True, device="cpu") as solver:
        for to_facility in (False, True, False):
            facilities = data.draw(vertices)
            result = solver.nearest(facilities, to_facility=to_facility)
            check_nearest(graph, facilities, result, to_facility=to_facility)
            assert result.statistics["algorithm"] == "contraction"


def test_distances_beyond_32_bits_are_not_swept() -> None:
    path = ([0, 1, 2, 2], [1, 2], [2**31 - 3, 2**31 - 3])
    with groute_py.open(path, prepare=True, device="cpu") as solver:
        assert solver.nearest([0]).distances.tolist() == [0, 2**31 - 3, 2**32 - 6]
        assert solver.nearest([1]).distances.tolist()[1:] == [0, 2**31 - 3]


@settings(max_examples=30)
@given(graph=graphs(greatest=0))
def test_arcs_of_weight_zero_only(device: str, graph: Graph) -> None:
    facilities = list(range(0, graph.vertex_count, 3))[::-1]
    result = groute_py.nearest(graph, facilities, device=device)
    check_nearest(graph, facilities, result, to_facility=False)


@settings(max_examples=30)
@given(graph=graphs(least=-2, greatest=9))
def test_negative_weights(device: str, graph: Graph) -> None:
    facilities = [graph.vertex_count - 1, 0]
    try:
        result = groute_py.nearest(graph, facilities, device=device)
    except NegativeCycleError as error:
        cycle = error
    else:
        check_nearest(graph, facilities, result, to_facility=False)
        return
    assert cycle.weight < 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("least", [0.0, -0.05])
def test_floats(device: str, dtype: str, least: float) -> None:
    random = np.random.default_rng(5)
    # a path downwards, on which negative weights close no cycle, and arcs of random weight
    arcs = [(v, v + 1, least) for v in range(79)]
    ends = random.integers(0, 80, (2, 250)).tolist()
    arcs += list(zip(*ends, (random.random(250) + 5).tolist(), strict=True))
    graph = graph_of(80, arcs, dtype)
    result = groute_py.nearest(graph, [70, 3, 20], device=device)
    assert result is not None
    rows = dict(zip((3, 20, 70), rows_from(graph, (3, 20, 70)), strict=True))
    np.testing.assert_allclose(result.distances, np.min([*rows.values()], axis=0), rtol=1e-5)
    own = [rows[owner][vertex] for vertex, owner in enumerate(result.facilities.tolist())]
    np.testing.assert_allclose(own, result.distances, rtol=1e-5, atol=1e-6)
    check_next(graph, result)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("to_facility", [False, True])
def test_on_ranks(device: str, ranks: int, to_facility: bool) -> None:
    graph = random_graph(150, 400, seed=ranks, greatest=4)
    facilities = [149, 7, 20, 20, 3]

    def work(channel: Any) -> NearestFacilities | None:
        opened = opened_on(channel, graph, device=device)
        job = NearestJob(facilities, to_facility=to_facility)
        opened.answer(job)  # which leaves the other direction on rank 0
        return opened.answer(job)

    result, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    check_nearest(graph, facilities, result, to_facility=to_facility)


def test_a_cutoff(device: str) -> None:
    graph = random_graph(80, 200, seed=1, greatest=9)
    result = groute_py.nearest(graph, [0, 5], cutoff=6, device=device)
    assert result is not None
    _, distances = nearest_of(graph, [0, 5])
    np.testing.assert_array_equal(result.reached, distances <= 6)
    check_next(graph, result)


def test_a_solver_takes_the_direction_from_the_call() -> None:
    graph = random_graph(60, 150, seed=3, greatest=4)
    for reverse in (False, True):
        with groute_py.open(graph, device="cpu", reverse=reverse) as solver:
            for to_facility in (False, True):
                result = solver.nearest([9, 50], to_facility=to_facility)
                check_nearest(graph, [9, 50], result, to_facility=to_facility)
    with groute_py.open(graph, device="cpu", hops=True) as solver:
        hops = solver.nearest([9, 50])
        check_nearest(graph.with_unit_weights(), [9, 50], hops, to_facility=False)


def test_ids_decide_ties_and_name_answers(tmp_path: Path) -> None:
    """Vertex 0 is zoo, which comes after all others by its id."""
    (tmp_path / "town.csv").write_text("from,to,km\nzoo,inn,3\npub,inn,3\ninn,bar,1\nend,zoo,9\n")
    result = groute_py.nearest(tmp_path / "town.csv", ["zoo", "pub"], device="cpu")
    assert result is not None
    assert result.numbering.ids_of(result.facilities[[0, 1, 2]]).tolist() == ["zoo", "pub", "pub"]
    result.save(tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines == [
        "vertex,facility,distance_km,next",
        "zoo,zoo,0,",
        "inn,pub,3,pub",
        "pub,pub,0,",
        "bar,pub,4,inn",
        "end,,inf,",
    ]
    result.save(tmp_path / "out.npz")
    arrays = np.load(tmp_path / "out.npz")
    assert arrays["facilities"].tolist() == result.facilities.tolist()
    assert arrays["ids"].tolist() == ["zoo", "inn", "pub", "bar", "end"]
    pq = pytest.importorskip("pyarrow.parquet")
    result.save(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pylist()[-1] == {
        "vertex": "end",
        "facility": None,
        "distance_km": None,
        "next": None,
    }
    with pytest.raises(InputError, match=r"unknown suffix '.doc'"):
        result.save(tmp_path / "out.doc")


@pytest.mark.parametrize(
    ("facilities", "options", "problem"),
    [
        ([], {}, "facilities must be a list of at least one"),
        ([3], {}, "facility 3 is not a vertex"),
        ([0.5], {}, "facility 0.5 is no integer"),
        ([0], {"cutoff": "far"}, "cutoff"),
        ([0], {"device": "tpu"}, "auto, cpu, cuda"),
    ],
)
def test_wrong_arguments(facilities: Any, options: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        groute_py.nearest(graph_of(3, [(0, 1, 1)]), facilities, **({"device": "cpu"} | options))


def test_a_time_limit() -> None:
    with pytest.raises(TimeLimitError):
        groute_py.nearest("road:300x300", [0], device="cpu", time_limit_s=1e-6)
