"""The graph's arrays: what is accepted, what is refused, and the counting sort that makes them."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from support.processes import run_python

import groute_py
from groute_py.errors import GraphError, InputError, RunError
from groute_py.graph.arrays import WEIGHT_TYPES
from groute_py.graph.csr import Graph
from groute_py.interop.graph_like import as_graph
from groute_py.io.tables.columns import BY_TITLE
from groute_py.kernels.cpu.build import csr_from_arcs


def test_counts_and_types():
    graph = Graph.from_arrays([0, 2, 3, 3], [1, 2, 2], [4, 9, 3])
    assert (graph.vertex_count, graph.arc_count) == (3, 3)
    assert graph.offsets.dtype == np.int64
    assert graph.heads.dtype == np.int32
    assert graph.nbytes == 4 * 8 + 3 * 4 + 3 * 8


def test_arrays_are_read_only():
    graph = Graph.from_arrays([0, 1], [0], [1])
    for array in (graph.offsets, graph.heads, graph.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_integers_of_which_one_is_unsigned():
    """NumPy would make floats of them."""
    graph = Graph.from_arrays([0, np.uint64(2)], [np.uint64(0), 0], [np.uint64(5), -3])
    assert graph.weights.tolist() == [5, -3]
    assert graph.weights.dtype == np.int64


@pytest.mark.parametrize("weight_type", WEIGHT_TYPES)
def test_every_weight_type_is_kept(weight_type):
    graph = Graph.from_arrays([0, 1], [0], np.array([7], weight_type))
    assert graph.weights.dtype == weight_type


@pytest.mark.parametrize("kind", [*(t.str[1:] for t in WEIGHT_TYPES), "u8", "i2"])
def test_the_order_of_bytes_does_not_matter(kind):
    great = 2.0**40 if kind[0] == "f" else np.iinfo(kind).max // 2
    given = np.array([great, 5], f">{kind}")
    graph = Graph.from_arrays(np.array([0, 2], ">i8"), np.array([0, 0], ">i4"), given)
    assert graph.weights.tolist() == given.tolist()
    native = np.array([great, 5], kind)
    assert graph.weights.dtype == Graph.from_arrays([0, 2], [0, 0], native).weights.dtype


def test_masked_weights_are_refused():
    weights = np.ma.masked_array([1, 2], mask=[False, True])
    with pytest.raises(GraphError, match="some values are masked"):
        Graph.from_arrays([0, 2], [0, 0], weights)
    assert Graph.from_arrays([0, 1], [0], weights[:1]).weights.tolist() == [1]


def test_no_vertices_and_no_arcs():
    assert Graph.from_arrays([0], [], []).vertex_count == 0
    assert Graph.from_arrays([0, 0, 0], [], []).vertex_count == 2


@pytest.mark.parametrize(
    ("offsets", "heads", "weights", "message"),
    [
        ([], [], [], "one entry more"),
        ([0, 1], [0, 0], [1, 1], "go from 0 to the number of arcs, 2"),
        ([1, 2], [0, 0], [1, 1], "go from 0"),
        ([0, 2, 1, 2], [0, 0], [1, 1], "decrease at row 1: 2 is followed by 1"),
        ([0, 1], [1], [1], "arc 0 leads to vertex 1"),
        ([0, 2], [0, -1], [1, 1], "arc 1 leads to vertex -1"),
        ([0, 1], [0], [1, 2], "must have one length"),
        ([0, 2], [0, 0], [1.0, np.nan], "arc 1 has weight nan"),
        ([0, 2], [0, 0], [1, 2**63], "9223372036854775808 does not fit in 64-bit signed"),
        ([0, 2], [0, 0], [2**63, 2**63], "weights is 9223372036854775808, which does not fit in"),
        ([0, 2], np.array([0, 2**64 - 1], "u8"), [1, 2], "heads is 18446744073709551615, which"),
        (np.array([0, 2**63 + 1], "u8"), [0], [1], "offsets is 9223372036854775809, which"),
        ([0, 1], [0], [-np.inf], "must be finite"),
        ([0, 1], [0], np.array(["1e4000"], np.longdouble), "arc 0 has weight inf"),
        ([0, 1], [0.5], [1], "heads must be a one-dimensional array of integers"),
        ([0, 1], [0], ["x"], "array of numbers"),
    ],
)
def test_what_is_not_a_graph(offsets, heads, weights, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_arrays(offsets, heads, weights)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": {"a": [1]}}, "column 'a' must be an array, not list"),
        ({"columns": {"a": None}}, "column 'a' must be an array, not NoneType"),
        ({"columns": [1]}, "columns must be arrays by name, not list"),
        ({"weights": [1]}, "weights must be an array, not list"),
        ({"heads": None}, "heads must be an array, not NoneType"),
        ({"offsets": [0, 1, 1]}, "offsets must be an array, not list"),
        ({"ids": ["a", "b"]}, "ids must be an array, not list"),
        ({"coordinates": [(0, 1), (2, 3)]}, "coordinates must be an array, not list"),
        ({"arc_ids": [7]}, "arc_ids must be an array, not list"),
    ],
)
def test_lists_are_no_arrays(changes, message):
    with pytest.raises(InputError, match=message):
        Graph.from_arrays([0, 1, 1], [1], [1]).changed(**changes)


@given(st.data())
def test_csr_is_a_stable_sort_by_tail(data):
    count = data.draw(st.integers(1, 20))
    ids = st.integers(0, count - 1)
    arcs = data.draw(st.lists(st.tuples(ids, ids, st.integers(-(2**40), 2**40)), max_size=60))
    if data.draw(st.booleans()):
        arcs.sort(key=lambda arc: arc[0])
    tails, heads, weights = np.array(arcs, np.int64).reshape(-1, 3).T.copy()
    given_order = np.argsort(tails, kind="stable")
    offsets, placed_heads, placed_weights = csr_from_arcs(count, tails, heads, weights)
    assert offsets.tolist() == [0, *np.cumsum(np.bincount(tails, minlength=count))]
    assert placed_heads.dtype == np.int32
    assert placed_heads.tolist() == heads[given_order].tolist()
    assert placed_weights.tolist() == weights[given_order].tolist()


def test_sorted_arcs_are_not_copied():
    tails, heads = np.array([0, 0, 2], np.int32), np.array([1, 2, 0], np.int32)
    _, placed_heads, placed_weights = csr_from_arcs(3, tails, heads, heads)
    assert placed_heads is heads
    assert placed_weights is heads


@pytest.mark.parametrize("tails", [[0, 3], [-1, 0], [1, 0, -2]])
def test_a_tail_out_of_range(tails):
    tails = np.array(tails, np.int32)
    with pytest.raises(GraphError, match="there are 3"):
        csr_from_arcs(3, tails, tails, tails)


def test_lengths_that_differ():
    two = np.zeros(2, np.int32)
    with pytest.raises(GraphError, match="2 tails, 2 heads, 1 weights"):
        csr_from_arcs(1, two, two, two[:1])


def test_importing_the_graph_loads_no_numba():
    code = "import sys, groute_py.graph.csr; sys.exit('numba' in sys.modules)"
    assert run_python(code).returncode == 0


@pytest.mark.parametrize("protocol", [None, 0, 2, 4, 5])
def test_copies_are_read_only(protocol):
    """Also those that are made without the constructor."""
    graph = replace(Graph.from_arrays([0, 1, 1], [1], [7]), ids=np.array([3, 9]))
    copied = (
        copy.deepcopy(graph) if protocol is None else pickle.loads(pickle.dumps(graph, protocol))
    )
    for array in (copied.offsets, copied.heads, copied.weights, copied.ids):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
    assert copied.heads.tolist() == [1]
    assert copied.ids.tolist() == [3, 9]


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        (np.zeros((2, 2)), r"float64 of shape \(3, 2\), not float64 of shape \(2, 2\)"),
        (np.zeros((3, 2), np.float32), "not float32"),
        (np.array([[0, 0], [1, np.nan], [2, 0]]), r"vertex 1 has coordinates \[1.0, nan\]"),
    ],
)
def test_coordinates_that_are_none_of_the_vertices(coordinates, message):
    graph = Graph.from_arrays([0, 1, 1, 1], [2], [5])
    with pytest.raises(GraphError, match=message):
        graph.changed(coordinates=coordinates)


def test_coordinates_stay_with_the_graph():
    places = np.array([[0.5, 1], [2, 3], [4, 5]])
    graph = Graph.from_arrays([0, 1, 1, 1], [2], [5]).changed(coordinates=places)
    turned = graph.reversed().with_weights([7])
    assert np.array_equal(turned.coordinates, places)
    assert not turned.coordinates.flags.writeable


def test_a_graph_does_not_change_with_the_callers_arrays() -> None:
    offsets, heads = np.array([0, 2, 3, 3]), np.array([1, 2, 2], np.int32)
    weights = np.array([4, 9, 3], np.int32)
    behind_a_view = weights.view()
    behind_a_view.flags.writeable = False
    graphs = [
        Graph.from_arrays(offsets, heads, weights),
        Graph.from_arrays(offsets, heads, behind_a_view),
        Graph.from_arrays(offsets, heads, [0, 0, 0]).with_weights(weights),
        as_graph((offsets, heads, weights), BY_TITLE),
        as_graph(scipy.sparse.csr_array((weights, heads, offsets), shape=(3, 3)), BY_TITLE),
    ]
    offsets[1], heads[0], weights[:] = 0, 0, -1
    for graph in graphs:
        assert graph.offsets.tolist() == [0, 2, 3, 3]
        assert graph.heads.tolist() == [1, 2, 2]
        assert graph.weights.tolist() == [4, 9, 3]


def test_arrays_that_are_shared() -> None:
    weights = np.ones(3, np.int32)
    arrays = [0, 2, 3, 3], [1, 2, 2], weights
    assert np.shares_memory(Graph.from_arrays(*arrays, copy=False).weights, weights)
    assert weights.flags.writeable
    weights.flags.writeable = False
    assert np.shares_memory(Graph.from_arrays(*arrays).weights, weights)


@pytest.mark.parametrize("algorithm", ["delta-stepping", "heap-dijkstra", "bellman-ford"])
def test_a_solve_on_weights_that_became_negative_ends(algorithm: str) -> None:
    weights = np.ones(3, np.int32)
    graph = Graph.from_arrays([0, 1, 2, 3], [1, 2, 0], weights, copy=False)
    with groute_py.open(graph, device="cpu", algorithm=algorithm) as solver:
        weights[:] = -1
        with pytest.raises(RunError, match="have become negative since it was loaded"):
            solver.sssp(0)
