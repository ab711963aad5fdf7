"""groute_py.csgraph against scipy.sparse.csgraph: by SciPy's own tests, and on random graphs."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph as theirs
from support.foreign_scipy import OURS
from support.processes import run_tests_of_others

import groute_py
from groute_py import csgraph as ours
from groute_py.csgraph.functions import _choice


@pytest.mark.slow
@pytest.mark.usefixtures("on_device")
def test_scipys_own_tests_pass() -> None:
    """The file installed with SciPy, every test of it, and our functions are called."""
    done = run_tests_of_others(
        "support.foreign_scipy", "scipy.sparse.csgraph.tests.test_shortest_path"
    )
    print(done.stdout.splitlines()[-1])
    assert done.returncode == 0, done.stdout
    assert not re.search(r"failed|skipped|error", done.stdout.splitlines()[-1])
    calls = dict(re.findall(r"groute_py\.csgraph\.(\w+): (\d+) calls", done.stdout))
    assert {name for name, count in calls.items() if int(count) > 0} == {
        "bellman_ford",
        "dijkstra",
        "johnson",
        "shortest_path",
    }


@pytest.mark.parametrize("name", OURS)
def test_signatures_are_scipys(name: str) -> None:
    said = str(getattr(theirs, name).__doc__).split(")")[0].strip().replace("np.inf", "inf")
    parameters = inspect.signature(getattr(ours, name)).parameters.values()
    words = [
        p.name if p.default is p.empty else f"{p.name}={p.default!r}"  # no blanks, as in SciPy
        for p in parameters
    ]
    assert re.sub(r"\s+", " ", said) == f"{name}({', '.join(words)}"


@st.composite
def matrices(draw: st.DrawFn, least: int = 0) -> Any:
    """Sparse and dense ones, with explicit zeros, empty rows, loops; integers and floats."""
    count = draw(st.integers(1, 14))
    arc = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    arcs = draw(st.lists(arc, max_size=4 * count, unique=True))
    weights = draw(st.lists(st.integers(least, 9), min_size=len(arcs), max_size=len(arcs)))
    scale = draw(st.sampled_from([1, 0.1]))
    rows = np.array([a for a, _ in arcs], int)
    columns = np.array([b for _, b in arcs], int)
    values = np.array(weights) * scale if arcs else np.zeros(0)
    made = sparse.csr_array((values, (rows, columns)), shape=(count, count))
    form = draw(st.sampled_from(["csr", "csc", "coo", "lil", "dense", "masked"]))
    if form == "dense":
        return made.toarray()
    if form == "masked":
        hole = np.ones((count, count), bool)
        hole[rows, columns] = False
        return np.ma.masked_array(made.toarray(), mask=hole)
    return made.asformat(form)


def check_tree(distances: Any, parents: Any, sources: Any, matrix: Any, directed: bool) -> None:
    """Each predecessor is one by an arc that is just as long as it has to be."""
    assert parents.dtype == np.int32
    arcs = theirs.csgraph_to_dense(_sparse(matrix), null_value=np.inf)
    if not directed:
        arcs = np.minimum(arcs, arcs.T)
    for source, row, tree in zip(sources, distances, parents, strict=True):
        reached = np.isfinite(row)
        reached[source] = False
        assert np.array_equal(tree >= 0, reached)
        assert (tree[~reached] == -9999).all()
        heads = np.flatnonzero(reached)
        ends = row[tree[heads]] + arcs[tree[heads], heads]
        np.testing.assert_allclose(ends, row[heads], atol=1e-9)


def _sparse(matrix: Any) -> Any:
    if sparse.issparse(matrix):
        return matrix.tocsr()
    if np.ma.isMaskedArray(matrix):
        return theirs.csgraph_from_masked(matrix)
    return theirs.csgraph_from_dense(matrix)


@pytest.mark.usefixtures("on_device")
@settings(max_examples=60)
@given(matrix=matrices(), directed=st.booleans(), unweighted=st.booleans())
def test_without_negative_weights(matrix: Any, directed: bool, unweighted: bool) -> None:
    given_form = _sparse(matrix)
    expected = theirs.dijkstra(given_form, directed=directed, unweighted=unweighted)
    options: Any = {"directed": directed, "unweighted": unweighted, "return_predecessors": True}
    weights = given_form.copy()
    if unweighted:
        weights.data[:] = 1
    for name in ("dijkstra", "bellman_ford", "johnson", "floyd_warshall", "shortest_path"):
        result, tree = getattr(ours, name)(matrix, **options)
        assert result.dtype == np.float64
        np.testing.assert_allclose(result, expected, err_msg=name)
        check_tree(result, tree, range(len(result)), weights, directed)


@pytest.mark.usefixtures("on_device")
@settings(max_examples=60)
@given(matrix=matrices(), directed=st.booleans(), limit=st.integers(0, 12), data=st.data())
def test_sources_and_limit(matrix: Any, directed: bool, limit: int, data: st.DataObject) -> None:
    count = matrix.shape[0]
    indices = np.array(data.draw(st.lists(st.integers(-count, count - 1), min_size=1, max_size=4)))
    options: Any = {"directed": directed, "indices": indices, "limit": limit}
    given_form = _sparse(matrix)
    np.testing.assert_allclose(
        ours.dijkstra(matrix, **options), theirs.dijkstra(given_form, **options)
    )
    options |= {"min_only": True, "return_predecessors": True}
    result, tree, sources = ours.dijkstra(matrix, **options)
    np.testing.assert_allclose(result, theirs.dijkstra(given_form, **options)[0])
    reached = np.isfinite(result)
    assert np.array_equal(sources == -9999, ~reached)
    assert set(sources[reached]) <= set(indices % count)
    begins = (tree < 0) & reached
    assert (sources[begins] == np.flatnonzero(begins)).all()
    inner = reached & ~begins
    assert (sources[inner] == sources[tree[inner]]).all()


@pytest.mark.usefixtures("on_device")
@settings(max_examples=60)
@given(matrix=matrices(least=-2))
def test_negative_weights(matrix: Any) -> None:
    try:
        expected = theirs.johnson(_sparse(matrix))
    except theirs.NegativeCycleError:
        expected = None
    # SciPy does not see a negative self-loop everywhere, and takes rounding for a cycle
    loops = _sparse(matrix).diagonal().min() < 0
    for name in ("bellman_ford", "johnson", "floyd_warshall"):
        try:
            result, tree = getattr(ours, name)(matrix, return_predecessors=True)
        except theirs.NegativeCycleError:
            assert loops or expected is None, name
            continue
        assert expected is not None, name
        np.testing.assert_allclose(result, expected, atol=1e-12, err_msg=name)
        if name != "johnson":
            check_tree(result.round(9), tree, range(len(result)), matrix, directed=True)


@settings(max_examples=60)
@given(matrix=matrices(), directed=st.booleans(), data=st.data())
def test_breadth_first_order(matrix: Any, directed: bool, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, matrix.shape[0] - 1))
    expected = theirs.breadth_first_order(matrix.copy(), start, directed=directed)
    result = ours.breadth_first_order(matrix, start, directed=directed)
    for ours_, theirs_ in zip(result, expected, strict=True):
        assert ours_.dtype == theirs_.dtype
        np.testing.assert_array_equal(ours_, theirs_)
    np.testing.assert_array_equal(
        ours.breadth_first_order(matrix, start, directed, return_predecessors=False), result[0]
    )


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_breadth_first_order_of_rows_that_are_not_sorted(form: str, directed: bool) -> None:
    tails, heads = [0, 0, 3, 3, 4, 2, 1], [3, 1, 4, 0, 2, 0, 2]
    matrix = sparse.coo_array((np.ones(7), (tails, heads)), shape=(5, 5)).asformat(form)
    for result, expected in zip(
        *(m.breadth_first_order(matrix, 0, directed) for m in (ours, theirs)), strict=True
    ):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.usefixtures("on_device")
@pytest.mark.filterwarnings("ignore:Graph has negative weights")  # SciPy's, though it counts arcs
@pytest.mark.parametrize("stored", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("form", ["csr", "masked", "dense"])
def test_stored_entries_are_counted_as_arcs(stored: float, form: str) -> None:
    matrix: Any = sparse.csr_array(([stored, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    if form != "csr":
        matrix = matrix.toarray()
    if form == "masked":
        matrix = np.ma.masked_array(matrix, mask=matrix == 0)
    for name in ("dijkstra", "bellman_ford", "johnson", "shortest_path"):
        result, expected = (getattr(m, name)(matrix, unweighted=True) for m in (ours, theirs))
        np.testing.assert_array_equal(result, expected, err_msg=name)
    for result, expected in zip(
        *(m.breadth_first_order(matrix, 0) for m in (ours, theirs)), strict=True
    ):
        np.testing.assert_array_equal(result, expected)
    distances = ours.dijkstra(matrix, indices=0)
    assert distances.tolist() == [0, np.inf, np.inf]


@pytest.mark.parametrize("count", [63, 64, 65, 300])
def test_floyd_in_blocks(count: int) -> None:
    random = np.random.default_rng(count)
    matrix = np.where(
        random.random((count, count)) < 0.1, random.integers(1, 50, (count, count)), 0
    )
    result, tree = ours.floyd_warshall(matrix, return_predecessors=True)
    np.testing.assert_array_equal(result, theirs.floyd_warshall(matrix))
    np.testing.assert_array_equal(result, ours.floyd_warshall(matrix))
    check_tree(result, tree, range(count), matrix.astype(float), directed=True)


def test_overwrite() -> None:
    matrix = np.array([[0.0, 2, 0], [0, 0, 3], [0, 0, 0]])
    kept = matrix.copy()
    assert ours.shortest_path(matrix, "FW") is not matrix
    np.testing.assert_array_equal(matrix, kept)
    assert ours.shortest_path(matrix, "FW", overwrite=True) is matrix
    assert matrix[0, 2] == 5


@pytest.mark.usefixtures("on_device")
def test_dijkstra_warns_of_negative_weights_and_is_right() -> None:
    matrix = [[0, 5, 2, 0], [0, 0, 0, 0], [0, -4, 0, 0], [0, 1, 0, 0]]
    with pytest.warns(UserWarning, match="negative weights"):
        result, tree = ours.dijkstra(matrix, indices=0, return_predecessors=True, limit=1)
    assert result.tolist() == [0, -2, np.inf, np.inf]
    assert tree.tolist() == [-9999, 2, -9999, -9999]


@pytest.mark.usefixtures("on_device")
def test_a_negative_cycle_is_named() -> None:
    with pytest.raises(ours.NegativeCycleError, match=r"negative cycle of weight -1\.0") as caught:
        ours.floyd_warshall([[0, 1, 0], [0, 0, -3], [1, 0, 0]])
    with pytest.raises(ours.NegativeCycleError, match=r"negative cycle of weight -4\.0: [01] → "):
        ours.floyd_warshall([[0, -2], [0, 0]], directed=False)
    assert isinstance(caught.value, groute_py.NegativeCycleError)
    assert isinstance(caught.value, theirs.NegativeCycleError)
    assert sorted(caught.value.cycle[:-1]) == [0, 1, 2]


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("form", ["csr", "masked"])
def test_a_negative_cycle_by_an_arc_of_weight_0(form: str) -> None:
    matrix = sparse.csr_array(([0.0, -1.0], ([0, 1], [1, 0])), shape=(2, 2))
    if form == "masked":
        matrix = np.ma.masked_array([[0.0, 0.0], [-1.0, 0.0]], mask=[[1, 0], [0, 1]])
    for method in ("FW", "J", "BF", "auto"):
        with pytest.raises(theirs.NegativeCycleError):
            ours.shortest_path(matrix, method)


@pytest.mark.parametrize("form", ["csr", "dense", "inf", "masked"])
@pytest.mark.parametrize(("arcs", "least", "chosen"), [(3, 1, "D"), (3, -1, "J"), (4, -1, "FW")])
def test_a_quarter_of_all_pairs_is_dense(form: str, arcs: int, least: int, chosen: str) -> None:
    heads = [1, 2, 3, 2][:arcs]
    tails, weights = [0, 0, 0, 1][:arcs], [least, 2, 3, 4][:arcs]
    matrix = sparse.csr_array((weights, (tails, heads)), shape=(4, 4))
    if form != "csr":
        matrix = theirs.csgraph_to_dense(matrix, null_value=0 if form == "dense" else np.inf)
    assert _choice(np.ma.masked_invalid(matrix) if form == "masked" else matrix, None) == chosen
    assert _choice(matrix, [0]) == ("D" if least > 0 else "J")


@pytest.mark.parametrize("method", ["FW", "D", "BF", "J", "auto"])
def test_an_unmasked_zero_is_an_arc_of_every_method(method: str) -> None:
    matrix = np.ma.masked_array([[0.0, 0, 5], [0, 0, 2], [0, 0, 0]])
    matrix.mask = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    result = ours.shortest_path(matrix, method)
    np.testing.assert_array_equal(result, theirs.dijkstra(matrix))


@pytest.mark.usefixtures("on_device")
def test_shapes() -> None:
    matrix = sparse.random_array((9, 9), density=0.4, rng=np.random.default_rng(1))
    assert ours.dijkstra(matrix, indices=3).shape == (9,)
    assert ours.dijkstra(matrix, indices=[[0, 1], [2, 3]]).shape == (2, 2, 9)
    assert ours.dijkstra(matrix, indices=[]).shape == (0, 9)
    assert ours.johnson(np.zeros((0, 0))).shape == (0, 0)
    assert ours.floyd_warshall(np.zeros((0, 0))).shape == (0, 0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ours.dijkstra(np.ones((2, 3))), "square"),
        (lambda: ours.dijkstra(np.ones(3)), "square"),
        (lambda: ours.dijkstra([[0, 1j], [0, 0]]), "real numbers"),
        (lambda: ours.dijkstra(np.eye(2), indices=2), "2 is not a vertex"),
        (lambda: ours.dijkstra(np.eye(2), indices=[0, -3]), "-3 is not a vertex"),
        (lambda: ours.dijkstra(np.eye(2), limit=-1), "limit"),
        (lambda: ours.dijkstra(np.eye(2), limit=np.nan), "limit"),
        (lambda: ours.shortest_path(np.eye(2), "X"), "method 'X'"),
        (lambda: ours.shortest_path(np.eye(2), "FW", indices=[0]), "leave them out"),
        (lambda: ours.breadth_first_order(np.eye(2), 5), "5 is not a vertex"),
    ],
)
def test_wrong_arguments(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        call()
    assert isinstance(caught.value, groute_py.InputError)


def test_sums_beyond_64_bits_are_floats() -> None:
    far = sparse.csr_array(([2**62] * 3, ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    expected = theirs.dijkstra(far.astype(float), indices=0)
    assert ours.dijkstra(far, indices=0).tolist() == expected.tolist()
    assert ours.dijkstra(far, indices=[0, 0], min_only=True).tolist() == expected.tolist()
