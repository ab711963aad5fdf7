"""Graphs from tables, NetworkX graphs and arrays of other libraries; results as DataFrames."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support.graphs import graph_of
from support.processes import run_python

import groute_py
from groute_py import GraphError, InputError
from groute_py.graph.arrays import array_of
from groute_py.interop.tables import graph_from_table
from groute_py.system import memory_limits

COLUMNS = {"tail": [2, 0, 0], "head": [1, 1, 2], "km": [3, 9, 4]}
FORMS = [lambda c: c, pd.DataFrame, pa.table]


def test_an_end_that_pandas_misses() -> None:
    frame = pd.DataFrame({"from": pd.Series(["x", None], dtype="string"), "to": ["y", "z"]})
    with pytest.raises(GraphError, match="row 2 has no vertex in column 'from'"):
        graph_from_table(frame)


@pytest.mark.parametrize("form", FORMS)
class TestTables:
    """The same columns as a dict, in pandas and in Arrow."""

    def test_a_graph_for_sssp(self, form: Any) -> None:
        result = groute_py.sssp(form(COLUMNS), 0, device="cpu")
        assert result is not None
        assert result.distances.tolist() == [0, 7, 4]

    def test_columns_by_name(self, form: Any) -> None:
        table = form({"km": [1.5, 2.5], "to": [1, 2], "from": [0, 1]})
        graph = graph_from_table(table, tail="from", head="to", weight="km")
        assert graph.ids is None
        assert graph.offsets.tolist() == [0, 1, 2, 2]
        assert graph.weights.tolist() == [1.5, 2.5]

    def test_both_directions_without_weights(self, form: Any) -> None:
        graph = graph_from_table(form({"a": [0, 1], "b": [1, 2]}), directed=False)
        assert graph.heads.tolist() == [1, 2, 0, 1]
        assert graph.weights.tolist() == [1, 1, 1, 1]

    def test_names_of_vertices(self, form: Any) -> None:
        table = form({"from": ["Rome", "Oslo"], "to": ["Oslo", "Bonn"], "km": [5, 6]})
        graph = graph_from_table(table)
        assert graph.ids is not None
        assert graph.ids.tolist() == ["Bonn", "Oslo", "Rome"]
        result = groute_py.sssp(table, "Rome", device="cpu")
        assert result is not None
        assert result.path_to("Bonn") == ["Rome", "Oslo", "Bonn"]
        assert result.positions_to("Bonn") == [2, 1, 0]
        assert result.distance_to("Bonn") == 11
        frame = result.to_frame(library="pandas")
        assert frame.distance_km.to_dict() == {"Bonn": 11, "Oslo": 5, "Rome": 0}
        assert frame.predecessor["Bonn"] == "Oslo"
        assert frame.predecessor["Rome"] is pd.NA

    def test_numbers_that_are_names(self, form: Any) -> None:
        graph = graph_from_table(form({"a": [10**12, 5], "b": [5, 10**12]}), renumber=True)
        assert graph.ids is not None
        assert graph.ids.tolist() == [5, 10**12]
        assert graph.heads.tolist() == [1, 0]

    def test_empty(self, form: Any) -> None:
        graph = graph_from_table(form({"a": np.zeros(0, int), "b": np.zeros(0, int)}))
        assert (graph.vertex_count, graph.arc_count) == (0, 0)

    @pytest.mark.parametrize(
        ("columns", "more", "says"),
        [
            ({"a": [1]}, {}, "expected columns of tails and heads, got a"),
            ({"a": [1], "b": [2]}, {"weight": "km"}, "no column 'km'"),
            ({"a": [-1], "b": [2]}, {"renumber": False}, "vertex -1 is below 0"),
            ({"a": [0.5], "b": [2.0]}, {}, "integer or a string"),
            ({"a": ["x", None], "b": ["y", "z"]}, {}, "integer or a string|row 2 has no vertex"),
            ({"a": ["x"], "b": [1]}, {}, "must be alike"),
            ({"a": [0], "b": [1], "w": [float("nan")]}, {}, "row 1 has nan in column 'w'"),
            ({"a": [0], "b": [1], "w": ["far"]}, {}, "weights must be"),
        ],
    )
    def test_wrong(self, form: Any, columns: Any, more: Any, says: str) -> None:
        with pytest.raises(GraphError, match=says):
            graph_from_table(form(columns), **more)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"a": ["x", float("nan")], "b": ["y", "z"]}, "'a' holds strings and others"),
        ({"a": ["x", "y"], "b": ["y", 1]}, "'b' holds strings and others"),
        ({"a": 0, "b": 1}, "'a' has 0 dimensions; it must have one"),
        ({"a": [[0], [1]], "b": [1, 2]}, "'a' has 2 dimensions"),
        ({"a": [0, 1], "b": [1, 2], "w": [[3], [4]]}, "'w' has 2 dimensions"),
    ],
)
def test_columns_that_are_none(columns: Any, says: str) -> None:
    """What NumPy would make strings of, and what it cannot take apart."""
    with pytest.raises(GraphError, match=says):
        graph_from_table(columns)


class TestColumns:
    """Which columns are which, and values that do not fit."""

    def test_names_that_are_integers(self) -> None:
        frame = pd.DataFrame([[2, 9, 0, 5], [1, 9, 2, 7]])
        graph = graph_from_table(frame, tail=2, head=0, weight=3)
        assert (graph.offsets.tolist(), graph.heads.tolist()) == ([0, 1, 1, 2], [2, 1])
        assert graph.weights.tolist() == [5, 7]

    def test_names_that_are_alike(self) -> None:
        frame = pd.DataFrame([[0, 1, 5]], columns=["a", "a", "w"])
        with pytest.raises(GraphError, match="two columns have the same name: a, a, w"):
            graph_from_table(frame)

    def test_usual_names_in_any_place(self) -> None:
        graph = graph_from_table({"km": [5], "to": ["b"], "from": ["a"], "street": ["x"]})
        assert (graph.heads.tolist(), graph.weights.tolist()) == ([1], [5])

    @pytest.mark.parametrize(
        ("columns", "says"),
        [
            ({"weight": [5], "a": [0], "b": [1]}, "which columns hold tails and heads"),
            (
                {"a": [0], "b": [1], "c": [5], "d": [6]},
                "tails and heads is not clear in a, b, c, d",
            ),
            ({"a": [0], "b": [1], "street": ["x"]}, "weights is not clear in a, b, street"),
            ({"a": np.array([2**63 + 5], np.uint64), "b": [1]}, "does not fit in 64-bit"),
            ({"a": [0], "b": np.array([2**63 + 5], np.uint64)}, "does not fit in 64-bit"),
            ({"a": [0], "b": [1], "w": np.array([2**63], np.uint64)}, "does not fit in 64-bit"),
        ],
    )
    def test_what_is_refused(self, columns: Any, says: str) -> None:
        with pytest.raises(GraphError, match=says):
            graph_from_table(columns)

    def test_vertices_that_are_ids(self) -> None:
        with pytest.raises(GraphError, match=r"vertex 1000000000000 .* use renumber=True"):
            graph_from_table({"a": [0], "b": [10**12]}, renumber=False)

    def test_a_name_as_long_as_a_book(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(memory_limits, "available_bytes", lambda: 1_000_000)
        long = ["x" * 20_000, *(f"n{i}" for i in range(99))]
        with pytest.raises(GraphError, match="100 names with room for 20,000 letters"):
            graph_from_table({"a": long, "b": long})


def test_columns_of_several_lengths() -> None:
    with pytest.raises(GraphError, match="columns of 1 and 2 rows"):
        graph_from_table({"a": [0], "b": [1, 2]})


def test_a_networkx_graph_for_sssp() -> None:
    network = nx.Graph([("a", "b", {"weight": 2}), ("b", "c", {"weight": 3})])
    result = groute_py.sssp(network, "a", device="cpu")
    assert result is not None
    assert result.distances.tolist() == [0, 2, 5]
    assert result.path_to("c") == ["a", "b", "c"]


def test_what_no_graph_can_be_made_from() -> None:
    with pytest.raises(InputError, match="cannot be made from float"):
        groute_py.sssp(1.5, 0)


class Tensor:
    """What has no more than DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_arrays_by_dlpack_are_not_copied() -> None:
    array = np.arange(4.0)
    assert np.shares_memory(array_of(Tensor(array)), array)
    graph = groute_py.Graph.from_arrays(
        Tensor(np.array([0, 1, 1])), Tensor(np.array([1])), Tensor(np.array([0.5]))
    )
    assert graph.weights.tolist() == [0.5]


def test_weights_and_ends_by_dlpack() -> None:
    """And a tensor that is not to be read, as one of PyTorch that requires a gradient."""
    graph = groute_py.Graph.from_arrays([0, 2, 3, 3], [1, 2, 2], [4, 9, 3])
    ends = Tensor(np.array([0, 1])), Tensor(np.array([2], np.int32))
    slow = graph.with_weights(Tensor(np.array([4.5, 9, 3])))
    with groute_py.open(slow, device="cpu") as solver:
        assert solver.matrix(*ends).distances.tolist() == [[7.5], [3]]
        assert solver.sssp(np.array(1), targets=ends[1]).distances.tolist() == [np.inf, 0, 3]
        assert solver.route(Tensor(np.array([[0, 2], [2, 0]]))).distances.tolist() == [7.5, np.inf]
        solver.update(Tensor(np.array([1])), arcs=Tensor(np.array([0])))
        assert solver.nearest(ends[1], to_facility=True).distances.tolist() == [4, 3, 0]
        solver.update(Tensor(np.array([0, 2, 2])))
        assert solver.apsp(groute_py.Positions(ends[0])).distances.tolist()[0] == [0, 0, 2]

    class Gradient(Tensor):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("Can't export tensors that require gradient")

    class Parameter(Gradient):
        def __array__(self, **options: Any) -> Any:
            raise RuntimeError("Can't call numpy() on Tensor that requires gradient")

    class Bfloat16(Gradient):
        def __array__(self, **options: Any) -> Any:
            raise TypeError("Got unsupported ScalarType, even without gradient")

    for kind in (Gradient, Parameter, Bfloat16):
        with pytest.raises(
            GraphError, match=rf"a {kind.__name__} cannot be read .* gradient\); copy it"
        ):
            graph.with_weights(kind(np.zeros(3)))


class OnGpu(Tensor):
    """An array that shows itself as those on a GPU do."""

    def __dlpack_device__(self) -> Any:
        return 2, 0


def test_arrays_on_a_gpu_need_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(GraphError, match=r"OnGpu cannot be read .*cupy.*; copy it"):
        groute_py.Graph.from_arrays(OnGpu(np.array([0, 0])), [], [])


class TestFrames:
    """`Result.to_frame`."""

    def test_integers(self) -> None:
        graph = groute_py.Graph.from_arrays([0, 1, 1, 1], [1], [2**60], first_id=1)
        result = groute_py.sssp(graph, 1, device="cpu")
        assert result is not None
        frame = result.to_frame()
        assert frame.index.name == "vertex"
        assert frame.index.tolist() == [1, 2, 3]
        assert frame.distance.tolist() == [0, 2**60, pd.NA]
        assert frame.predecessor.tolist() == [pd.NA, 1, pd.NA]

    def test_floats_without_predecessors(self) -> None:
        graph = graph_of(2, [(1, 0, 0.5)], "float32")
        result = groute_py.sssp(graph, 0, device="cpu", predecessors=False)
        assert result is not None
        frame = result.to_frame()
        assert list(frame) == ["distance"]
        assert frame.distance.tolist() == [0, np.inf]

    def test_coordinates(self, tmp_path: Path) -> None:
        places = tmp_path / "two.co"
        places.write_text("p aux sp co 2\nv 1 -7 4\nv 2 5 6\n")
        result = groute_py.sssp(graph_of(2, [(0, 1, 3)]), 0, device="cpu")
        assert result is not None
        frame = result.to_frame(places)
        assert frame[["x", "y"]].to_numpy().tolist() == [[-7, 4], [5, 6]]

    def test_without_pandas(self) -> None:
        code = (
            "import sys; sys.modules['pandas'] = None\n"
            "import groute_py\n"
            "groute_py.sssp(([0, 0], [], []), 0, device='cpu').to_frame()"
        )
        done = run_python(code)
        assert "a table needs pandas, which is not installed" in done.stderr
