"""Cutoffs of matrices, their sparse form, and what sources reach, against whole matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from support.command import as_json, run_command
from support.graphs import random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.opening import opened_on

import groute_py
from groute_py import UNREACHED, InputError, Points
from groute_py.jobs.accessibility import AccessibilityJob
from groute_py.jobs.matrix import MatrixJob
from groute_py.jobs.nearest import NearestJob
from groute_py.jobs.tree import TreeJob

GRAPH = random_graph(80, 200, 4, 9)
FLOATS = random_graph(80, 200, 4, 9, "float32")
SOURCES, TARGETS = np.array([5, 70, 5, 0]), np.array([9, 5, 60, 9, 33, 2])
WEIGHTS = np.array([1.5, 2, 0, 4, 8, -1])


def distances(graph: Any, cutoff: float = np.inf) -> Any:
    """Distances as floats, infinite beyond a cutoff."""
    rows = np.stack([scipy_distances(graph, source) for source in SOURCES])[:, TARGETS]
    rows = np.where(rows == UNREACHED, np.inf, rows.astype(np.float64))
    return np.where(rows <= cutoff, rows, np.inf)


def as_floats(values: Any) -> Any:
    return np.where(values == UNREACHED, np.inf, values.astype(np.float64))


@pytest.mark.parametrize("graph", [GRAPH, FLOATS], ids=["int32", "float32"])
@pytest.mark.parametrize("cutoff", [0, 11, 11.5, 1e30])
def test_a_cutoff(device: str, graph: Any, cutoff: float) -> None:
    how: Any = {"cutoff": cutoff, "predecessors": True, "device": device}
    matrix = groute_py.matrix(graph, SOURCES, TARGETS, **how)
    assert matrix is not None
    assert matrix.predecessors is not None
    expected = distances(graph, cutoff)
    np.testing.assert_array_equal(as_floats(matrix.distances), expected)
    is_path = np.isfinite(expected) & (SOURCES[:, np.newaxis] != TARGETS)
    np.testing.assert_array_equal(matrix.predecessors >= 0, is_path)
    entries = matrix.to_sparse().tocoo()
    rows, columns = np.isfinite(expected).nonzero()
    np.testing.assert_array_equal([entries.row, entries.col], [rows, columns])
    np.testing.assert_array_equal(entries.data, expected[rows, columns])


@pytest.mark.parametrize("graph", [GRAPH, FLOATS], ids=["int32", "float32"])
def test_reductions(device: str, graph: Any) -> None:
    near = distances(graph, 11)
    expected = {
        "count": np.isfinite(near).sum(axis=1),
        "sum": np.isfinite(near) @ WEIGHTS,
        "nearest": near.min(axis=1),
        "decay": np.exp(-near / 11) @ WEIGHTS,
    }
    with groute_py.open(graph, device=device) as solver:
        whole = solver.accessibility(SOURCES, TARGETS)
    assert whole is not None
    np.testing.assert_array_equal(whole.values, np.isfinite(distances(graph)).sum(axis=1))
    for name, values in expected.items():
        weights = WEIGHTS if name in ("sum", "decay") else None
        how: Any = {"weights": weights, "cutoff": 11, "device": device}
        answer = groute_py.accessibility(graph, SOURCES, TARGETS, name, **how)
        assert answer is not None
        np.testing.assert_allclose(as_floats(answer.values), values, rtol=1e-6)
        frame = answer.to_frame(library="pyarrow").to_pydict()
        assert list(frame) == ["source", name]
        assert frame["source"] == SOURCES.tolist()


def test_what_is_not_reached_decays_to_nothing_at_any_cutoff() -> None:
    path = ([0, 1, 1], [1], [4])
    answer = groute_py.accessibility(path, [0, 1], [0, 1], "decay", cutoff=1e30, device="cpu")
    assert answer is not None
    np.testing.assert_allclose(answer.values, [2, 1])


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_ranks(ranks: int) -> None:
    for job in (AccessibilityJob(SOURCES, TARGETS, "sum", WEIGHTS), MatrixJob(SOURCES, TARGETS)):

        def work(channel: Any, job: Any = job) -> Any:
            return opened_on(channel, GRAPH, device="cpu", cutoff=11).answer(job)

        first, *others = on_ranks(ranks, work)
        assert others == [None] * (ranks - 1)
        near = distances(GRAPH, 11)
        if isinstance(job, MatrixJob):
            np.testing.assert_array_equal(as_floats(first.distances), near)
        else:
            np.testing.assert_array_equal(first.values, np.isfinite(near) @ WEIGHTS)


def test_points_have_weights() -> None:
    corners = np.array([[0, 0], [10, 0], [20, 0]])
    homes = Points({"x": [1, 19], "y": [0, 0], "name": ["west", "east"]}, corners, planar=True)
    shops = Points({"x": [11, 19, 20], "y": [0, 1, 0], "jobs": [5, 7, 2]}, corners, planar=True)
    path: Any = ([0, 1, 2, 2], [1, 2], [4, 3])
    answer = groute_py.accessibility(path, homes, shops, "sum", weights="jobs", device="cpu")
    assert answer is not None
    assert answer.to_frame(library="pyarrow").to_pylist() == [
        {"source": 0, "sum": 14.0, "source_name": "west"},
        {"source": 2, "sum": 9.0, "source_name": "east"},
    ]
    with pytest.raises(InputError, match="targets have no column 'people'; there are jobs"):
        groute_py.accessibility(path, homes, shops, "sum", weights="people", device="cpu")


class TestCommand:
    @pytest.fixture
    def town(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        Path("town.csv").write_text("from,to,weight\na,b,4\nb,c,3\nc,a,9\n")
        Path("corners.csv").write_text("id,lon,lat\na,0,0\nb,0.001,0\nc,0.002,0\n")
        Path("shops.csv").write_text("lon,lat,jobs\n0.001,0,5\n0.002,0,7\n")
        return tmp_path

    def test_only_pairs_within_the_cutoff_are_in_tables(self, town: Path) -> None:
        words = ("matrix", "town.csv", "--from", "all", "--to", "all", "--cutoff", 4)
        lines = ["source,target,distance", "a,a,0", "a,b,4", "b,b,0", "b,c,3", "c,c,0"]
        assert run_command(*words).stdout.splitlines() == lines
        run_command(*words, "-o", "m.npy")
        assert np.load("m.npy").tolist()[2] == [UNREACHED, UNREACHED, 0]

    def test_a_sum_of_weights(self, town: Path) -> None:
        words = ("matrix", "town.csv", "--from", "all", "--to", "shops.csv", "--cutoff", 4)
        words = (*words, "--coordinates", "corners.csv", "--reduce", "sum", "--weights", "jobs")
        assert run_command(*words).stdout.splitlines() == [
            "source,sum",
            "a,5.0",
            "b,12.0",
            "c,7.0",
        ]
        assert as_json(run_command(*words, "-o", "s.csv", "--json"))["targets"] == 2

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            (("--reduce", "mean"), "reduce 'mean' is unknown"),
            (("--reduce", "sum", "-o", "s.npy"), "unknown suffix"),
            (("--reduce", "sum", "--resume", "-o", "s.csv"), "nothing is kept of sums"),
            (("--reduce", "count", "--with", "weight"), "has no paths"),
            (("--reduce", "count", "--weights", "x"), "weights are for sum and decay"),
            (("--weights", "x"), "name it too"),
            (("--reduce", "decay"), "decay needs a cutoff"),
        ],
    )
    def test_wrong_requests(self, town: Path, more: tuple[str, ...], message: str) -> None:
        with pytest.raises(InputError, match=message):
            run_command("matrix", "town.csv", "--from", "a", "--to", "b", *more)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "weights must be 6 numbers, one a target"),
        (["a"] * 6, "weights must be 6 numbers"),
        ([1, 2, np.nan, 4, 5, 6], "the weight of target 3 is not finite"),
        ("jobs", "no column 'jobs'; there are none"),
    ],
)
def test_wrong_weights(weights: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        groute_py.accessibility(GRAPH, SOURCES, TARGETS, "sum", weights=weights, device="cpu")


class TestUnits:
    """Cutoffs with a unit are those in the unit of the weights."""

    STREETS: ClassVar[Any] = {"from": ["a", "b", "c"], "to": ["b", "c", "a"], "minutes": [4, 3, 9]}

    @pytest.mark.parametrize(
        ("cutoff", "reached"), [("7min", 3), ("400s", 2), ("0.1 h", 2), ("10s", 1)]
    )
    def test_amounts(self, cutoff: str, reached: int) -> None:
        how: Any = {"cutoff": cutoff, "device": "cpu"}
        result = groute_py.sssp(self.STREETS, "a", **how)
        assert result is not None
        assert result.reached.sum() == reached
        near = groute_py.nearest(self.STREETS, ["a"], **how)
        assert near is not None
        assert near.reached.sum() == reached
        answer = groute_py.accessibility(self.STREETS, ["a"], ["a", "b", "c"], **how)
        assert answer is not None
        assert answer.values.tolist() == [reached]

    @pytest.mark.parametrize("ranks", [1, 3])
    def test_solvers_of_ranks(self, ranks: int) -> None:
        def work(channel: Any) -> Any:
            opened = opened_on(channel, self.STREETS, device="cpu", cutoff="400s")
            return [opened.answer(TreeJob("a")), opened.answer(NearestJob(["a"], k=2))]

        result, near = on_ranks(ranks, work)[0]
        assert result.reached.sum() == 2
        assert near.reached[:, 0].sum() == 2

    def test_turns(self) -> None:
        turns = [("a", "b", "c", 2)]
        how: Any = {"turns": turns, "device": "cpu"}
        for cutoff, reached in (("8min", 2), ("9min", 3)):
            result = groute_py.sssp(self.STREETS, "a", cutoff=cutoff, **how)
            assert result is not None
            assert result.reached.sum() == reached

    def test_the_command(self, tmp_path: Path) -> None:
        town = tmp_path / "town.csv"
        town.write_text("from,to,minutes\na,b,4\nb,c,3\nc,a,9\n")
        rows = as_json(run_command("sssp", town, "-s", "a", "--cutoff", "6min", "--json"))
        assert rows["reached"] == 2
        problem = "'6 miles': the weights of town are in min; write one of ms s min h"
        with pytest.raises(InputError, match=problem):
            run_command("sssp", town, "--cutoff", "6 miles")

    @pytest.mark.parametrize(
        ("ask", "message"),
        [
            (lambda: groute_py.sssp("road:5x5", 0, cutoff="5min"), "is not known"),
            (lambda: groute_py.sssp("road:5x5", 0, cutoff="5 apples"), "is no amount"),
            (lambda: groute_py.bfs("road:5x5", 0, cutoff="5min"), "hops have no unit"),
            (lambda: groute_py.sssp("road:5x5", 0, cutoff="-5min"), "is no amount"),
        ],
    )
    def test_wrong_amounts(self, ask: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            ask()


def test_an_answer_shows_its_arrays_and_not_what_lies_beside_them() -> None:
    answer = groute_py.accessibility(([0, 1, 1], [1], [4]), [0], [1], "count", device="cpu")
    assert repr(answer) == "Accessibility(sources=array([0]), values=array([1]), reduce='count')"
