"""The certificate accepts right answers and refuses everything else, naming the first vertex."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph, scipy_distances

from groute_py import UNREACHED, Graph, InputError, Result, VerificationError, sssp, verify
from groute_py.results.reference import reference_distances

#   0 -4-> 1 -3-> 2 -0-> 3 -0-> 2,   0 -9-> 2,   4 -1-> 0,   1 -7-> 3
ARCS = [(0, 1, 4), (0, 2, 9), (1, 2, 3), (1, 3, 7), (2, 3, 0), (3, 2, 0), (4, 0, 1)]
GRAPH = graph_of(5, ARCS)
DISTANCES = [0, 4, 7, 7, UNREACHED]
PARENTS = [-1, 0, 1, 2, -1]


def result(
    distances: list[Any] = DISTANCES, parents: list[int] | None = PARENTS, source: int = 0
) -> Result:
    kind = np.float64 if any(isinstance(d, float) for d in distances) else np.int64
    tree = None if parents is None else np.array(parents, dtype=np.int64)
    return Result(source, np.array(distances, dtype=kind), tree)


def test_the_answer_is_accepted() -> None:
    verify(GRAPH, result())
    verify(GRAPH, result(parents=None))


NO = UNREACHED
WRONG_DISTANCES = {
    "too small": ([0, 3, 6, 6, NO], "vertex 1 (distance 3) is not led to"),
    "too large": ([0, 5, 8, 8, NO], "vertex 1 has distance 5, but vertex 0 has 0"),
    "one too large": ([0, 4, 7, 8, NO], "vertex 3 has distance 8, but vertex 2 has 7"),
    "all zero": ([0, 0, 0, 0, 0], "vertex 1 (distance 0) is not led to"),
    "unreachable marked reached": ([0, 4, 7, 7, 1], "vertex 4 (distance 1) is not led to"),
    "reachable marked unreached": ([0, 4, 7, NO, NO], f"vertex 3 has distance {NO}, but vertex 1"),
    "nothing reached but the source": ([0, NO, NO, NO, NO], f"vertex 1 has distance {NO}"),
    "source not at zero": ([1, 4, 7, 7, NO], "the source vertex 0 has distance 1"),
    "source unreached": ([NO] * 5, f"the source vertex 0 has distance {NO}"),
    "negative": ([0, -4, -1, -1, NO], "vertex 1 (distance -4) is not led to"),
    "zero cycle lifted off": ([0, 4, 6, 6, NO], "vertex 2 (distance 6) is not led to"),
}


@pytest.mark.parametrize("name", WRONG_DISTANCES)
@pytest.mark.parametrize("parents", [None, PARENTS], ids=["distances", "tree"])
def test_wrong_distances(name: str, parents: list[int] | None) -> None:
    distances, says = WRONG_DISTANCES[name]
    with pytest.raises(VerificationError) as caught:
        verify(GRAPH, result(distances, parents))
    assert says in str(caught.value)
    assert caught.value.exit_code == 3


WRONG_TREES = {
    "own predecessor": ([-1, 1, 1, 2, -1], "vertex 1 (distance 4) has a predecessor without"),
    "zero-weight two-cycle": ([-1, 0, 3, 2, -1], "vertex 2 (distance 7) has predecessors that do"),
    "arc that is not tight": ([-1, 0, 0, 2, -1], "vertex 2 (distance 7) has a predecessor without"),
    "no such arc": ([-1, 0, 1, 0, -1], "vertex 3 (distance 7) has a predecessor without"),
    "missing": ([-1, 0, -1, 2, -1], "vertex 2 (distance 7) lacks one"),
    "none at all": ([-1] * 5, "vertex 1 (distance 4) lacks one"),
    "beyond the graph": ([-1, 5, 1, 2, -1], "vertex 1 (distance 4) lacks one"),
    "far beyond": ([-1, 2**40, 1, 2, -1], "vertex 1 (distance 4) lacks one"),
    "negative": ([-1, -2, 1, 2, -1], "vertex 1 (distance 4) lacks one"),
    "for the source": ([0, 0, 1, 2, -1], "vertex 0 (distance 0) should have no predecessor"),
    "for an unreached one": ([-1, 0, 1, 2, 0], f"vertex 4 (distance {NO}) should have no"),
    "all zero": ([0] * 5, "vertex 0 (distance 0) should have no predecessor"),
    "too few": ([-1, 0, 1, 2], "4 predecessors for 5 vertices"),
}


@pytest.mark.parametrize("name", WRONG_TREES)
def test_wrong_trees(name: str) -> None:
    parents, says = WRONG_TREES[name]
    with pytest.raises(VerificationError) as caught:
        verify(GRAPH, result(parents=parents))
    assert says in str(caught.value)


def test_self_loop_of_weight_zero_is_no_predecessor() -> None:
    graph = graph_of(2, [(0, 1, 5), (1, 1, 0)])
    verify(graph, result([0, 5], [-1, 0]))
    with pytest.raises(VerificationError, match="do not lead to the source"):
        verify(graph, result([0, 5], [-1, 1]))


def test_long_cycle_of_predecessors() -> None:
    """A zero-weight ring whose members lead to each other, not to the source."""
    ring = [(v, v % 6 + 1, 0) for v in range(1, 7)]
    graph = graph_of(7, [(0, 1, 3), *ring])
    verify(graph, result([0] + [3] * 6, [-1, 0, 1, 2, 3, 4, 5]))
    with pytest.raises(VerificationError, match=r"vertex 1 \(distance 3\) has predecessors"):
        verify(graph, result([0] + [3] * 6, [-1, 6, 1, 2, 3, 4, 5]))


def test_parallel_arcs_the_lightest_counts() -> None:
    graph = graph_of(2, [(0, 1, 5), (0, 1, 3), (0, 1, 8)])
    verify(graph, result([0, 3], [-1, 0]))
    with pytest.raises(VerificationError):
        verify(graph, result([0, 5], [-1, 0]))


@pytest.mark.parametrize(
    "wrong", [result([0, 4, 7]), result(DISTANCES, source=5), result(DISTANCES, source=-1)]
)
def test_not_of_this_graph(wrong: Result) -> None:
    with pytest.raises(InputError, match="do not belong together"):
        verify(GRAPH, wrong)


@pytest.mark.parametrize("cutoff", [float("nan"), -1, "5"])
def test_a_cutoff_that_is_none(cutoff: Any) -> None:
    """Nothing lies beyond NaN, so that anything would be left out rightly."""
    with pytest.raises(InputError, match="cutoff must "):
        verify(GRAPH, result(), cutoff=cutoff)


def test_ids_of_another_graph() -> None:
    graph = replace(GRAPH, ids=np.arange(5) * 10)
    verify(graph, result())
    verify(graph, replace(result(), ids=np.arange(5) * 10))
    verify(GRAPH, replace(result(), ids=np.arange(5) * 10))
    for ids in (np.arange(5) * 10 + 1, np.array(list("abcde"))):
        with pytest.raises(InputError, match="other ids than those of graph: they do not belong"):
            verify(graph, replace(result(), ids=ids))


def test_ids_are_those_of_the_file() -> None:
    graph = Graph(GRAPH.offsets, GRAPH.heads, GRAPH.weights, first_id=1)
    with pytest.raises(VerificationError, match="vertex 2 has distance 5, but vertex 1 has 0"):
        verify(graph, result([0, 5, 8, 8, NO]))


@pytest.mark.parametrize("great", [2**53, 2**62])
@pytest.mark.parametrize("kind", [int, float])
def test_a_cutoff_between_two_floats(great: int, kind: type) -> None:
    """What is one beyond it is as far for a float."""
    graph = graph_of(3, [(0, 1, great), (1, 2, 1)], "int64")
    result = sssp(graph, 0, cutoff=kind(great), device="cpu")
    assert result.distances.tolist() == [0, great, UNREACHED]
    verify(graph, result, cutoff=kind(great))
    with pytest.raises(VerificationError, match=r"vertex 2 .* beyond the cutoff"):
        verify(graph, sssp(graph, 0, device="cpu"), cutoff=kind(great))


@pytest.mark.parametrize("weights", ["int32", "float64"])
@pytest.mark.parametrize(("cutoff", "reached"), [(5.5, 2), (1e30, 3), (10**30, 3), (np.inf, 3)])
def test_cutoffs_of_every_kind(weights: str, cutoff: float, reached: int) -> None:
    graph = graph_of(3, [(0, 1, 5), (1, 2, 1)], weights)
    result = sssp(graph, 0, cutoff=cutoff, device="cpu")
    assert result.reached.sum() == reached
    verify(graph, result, cutoff=cutoff)


def test_what_lies_beyond_the_cutoff_is_refused() -> None:
    with pytest.raises(VerificationError, match=r"vertex 2 .* is reached beyond the cutoff 6"):
        verify(GRAPH, result(), cutoff=6)


def test_sums_are_made_in_the_type_of_float_distances() -> None:
    graph = Graph(
        np.array([0, 1, 2, 2]), np.array([1, 2], np.int32), np.array([16777217, 3], np.int64)
    )
    verify(graph, Result(0, np.array([0, 16777216, 16777220], np.float32)))


def test_cutoff() -> None:
    near = [0, 4, NO, NO, NO]
    verify(GRAPH, result(near, [-1, 0, -1, -1, -1]), cutoff=6)
    with pytest.raises(VerificationError, match="vertex 2 has distance"):
        verify(GRAPH, result(near, [-1, 0, -1, -1, -1]))
    with pytest.raises(VerificationError, match="vertex 2 has distance"):
        verify(GRAPH, result(near, [-1, 0, -1, -1, -1]), cutoff=7)


def test_sums_that_do_not_fit_shorten_nothing() -> None:
    graph = graph_of(3, [(0, 1, 2**62), (1, 2, 2**62 + 5)], "int64")
    verify(graph, result([0, 2**62, NO], [-1, 0, -1]), cutoff=2.0**62)
    with pytest.raises(VerificationError, match="vertex 2"):
        verify(graph, result([0, 2**62, 5 - 2**63], [-1, 0, 1]))


def test_floats() -> None:
    graph = graph_of(4, [(0, 1, 0.1), (1, 2, 0.2)], "float64")
    verify(graph, result([0.0, 0.1, 0.1 + 0.2, np.inf], [-1, 0, 1, -1]))
    with pytest.raises(VerificationError, match=r"vertex 2 \(distance 0\.3\) is not led to"):
        verify(graph, result([0.0, 0.1, 0.3, np.inf], [-1, 0, 1, -1]))


@pytest.mark.parametrize("value", [np.nan, -np.inf])
@pytest.mark.parametrize("parents", [None, [-1, 0], [-1, -1]])
def test_what_is_no_distance(value: float, parents: list[int] | None) -> None:
    for arcs in ([(0, 1, 0.5)], []):
        with pytest.raises(VerificationError, match="vertex 1"):
            verify(graph_of(2, arcs, "float64"), result([0.0, value], parents))


def test_negative_weights() -> None:
    graph = graph_of(3, [(0, 1, 5), (0, 2, 2), (2, 1, -4)])
    verify(graph, result([0, -2, 2], [-1, 2, 0]))
    with pytest.raises(VerificationError, match="vertex 1 has distance 5, but vertex 2 has 2"):
        verify(graph, result([0, 5, 2], [-1, 0, 0]))


@given(graph=graphs(), data=st.data())
def test_any_change_is_noticed(graph: Graph, data: st.DataObject) -> None:
    """Distances are unique, so any other value at any vertex must be refused."""
    source = data.draw(st.integers(0, graph.vertex_count - 1))
    vertex = data.draw(st.integers(0, graph.vertex_count - 1))
    right = scipy_distances(graph, source)
    other = data.draw(st.one_of(st.integers(-5, 200), st.just(UNREACHED)))
    assume(other != right[vertex])
    verify(graph, Result(source, right))
    wrong = right.copy()
    wrong[vertex] = other
    with pytest.raises(VerificationError):
        verify(graph, Result(source, wrong))


@given(graph=graphs(greatest=2), data=st.data())
def test_trees_that_pass_are_trees(graph: Graph, data: st.DataObject) -> None:
    """Predecessors drawn at random: accepted only if each leads to the source by tight arcs."""
    right = scipy_distances(graph, 0)
    count = graph.vertex_count
    parents = np.full(count, -1, dtype=np.int64)
    for vertex in range(1, count):
        if right[vertex] != UNREACHED:
            parents[vertex] = data.draw(st.sampled_from(tight_tails(graph, right, vertex)))
    drawn = Result(0, right, parents)
    if all(leads_home(parents, vertex) for vertex in np.flatnonzero(drawn.reached)):
        verify(graph, drawn)
    else:
        with pytest.raises(VerificationError, match="do not lead to the source"):
            verify(graph, drawn)


def tight_tails(graph: Graph, distances: Any, vertex: int) -> list[int]:
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    into = (graph.heads == vertex) & (distances[tails] != UNREACHED)
    tight = distances[tails[into]] + graph.weights[into] == distances[vertex]
    return [int(tail) for tail in tails[into][tight]]


def leads_home(parents: Any, vertex: int) -> bool:
    for _ in range(len(parents)):
        if vertex == 0:
            return True
        vertex = parents[vertex]
    return False


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "float32", "float64"])
def test_the_serial_oracle(dtype: str) -> None:
    graph = random_graph(300, 1200, seed=2, greatest=90, dtype=dtype)
    distances = reference_distances(graph, 7)
    np.testing.assert_array_equal(distances, scipy_distances(graph, 7))
    solved = sssp(graph, 7, device="cpu")
    assert solved is not None
    assert distances.dtype == solved.distances.dtype
