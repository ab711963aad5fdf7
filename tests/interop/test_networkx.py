"""The NetworkX backend: NetworkX's own tests, and against NetworkX on random graphs."""

from __future__ import annotations

import re
from itertools import chain, pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.networks import both, needs_backend, networks
from support.processes import run_python, run_tests_of_others

from groute_py.engine.solver import SourceSolver
from groute_py.networkx import backend
from groute_py.networkx.info import FUNCTIONS, get_info

pytestmark = needs_backend


CENTRALITY = "networkx.algorithms.centrality.tests"

MEASURES = {
    f"{CENTRALITY}.test_betweenness_centrality": [
        "betweenness_centrality",
        "edge_betweenness_centrality",
    ],
    f"{CENTRALITY}.test_closeness_centrality": ["closeness_centrality"],
    f"{CENTRALITY}.test_harmonic_centrality": ["harmonic_centrality"],
    "networkx.algorithms.tests.test_distance_measures": [
        *("center", "diameter", "eccentricity", "periphery", "radius"),
    ],
    "networkx.algorithms.tests.test_voronoi": ["voronoi_cells"],
}
"""NetworkX's tests of measures of nodes, and the functions that they test."""

OWN_TESTS = {
    "networkx.algorithms.shortest_paths": sorted(set(FUNCTIONS) - set(chain(*MEASURES.values()))),
    **MEASURES,
}

LONGEST_S = 900
"""Some of them call a function thousands of times."""


@pytest.mark.slow
@pytest.mark.timeout(LONGEST_S)
@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("tests", OWN_TESTS)
def test_networkxs_own_tests_pass(tests: str) -> None:
    """All of them, and they call every function that they have a test for."""
    done = run_tests_of_others(
        "support.foreign_networkx",
        tests,
        timeout=LONGEST_S,
        NETWORKX_TEST_BACKEND="groute",
        NETWORKX_FALLBACK_TO_NX="True",
    )
    print(done.stdout.splitlines()[-1])
    assert done.returncode == 0, done.stdout
    assert re.match(r"\d+ passed", done.stdout.splitlines()[-1])
    calls = dict(re.findall(r"groute_py\.networkx\.(\w+): (\d+) calls", done.stdout))
    assert [name for name in OWN_TESTS[tests] if calls[name] == "0"] == []


def test_every_function_of_the_info_is_there() -> None:
    assert get_info()["backend_name"] == "groute"
    for name in FUNCTIONS:
        assert "groute" in getattr(nx, name).backends, name
        assert getattr(backend, name).__doc__, name


def test_the_info_loads_nothing() -> None:
    code = "import sys; before = set(sys.modules); import groute_py.networkx.info as info; " + (
        "info.get_info(); print({m.split('.')[0] for m in set(sys.modules) - before})"
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    loaded = done.stdout
    assert not re.search(r"numpy|numba|scipy|networkx'|mpi4py|cupy", loaded), loaded


def _lightest(network: Any) -> Any:
    """A simple graph with the lightest of parallel edges."""
    simple = nx.DiGraph()
    for tail, neighbours in network.adjacency():
        for head, data in neighbours.items():
            every = data.values() if network.is_multigraph() else [data]
            simple.add_edge(tail, head, weight=min(d.get("weight", 1) for d in every))
    return simple


def check_paths(network: Any, paths: Any, lengths: Any, weight: str | None = "weight") -> None:
    """Each path is one of the graph, and as long as it should be."""
    assert paths.keys() == lengths.keys()
    simple = _lightest(network)
    for node, path in paths.items():
        assert path[-1] == node
        steps = [simple.edges[step]["weight"] if weight else 1 for step in pairwise(path)]
        assert sum(steps) == lengths[node]


@pytest.mark.usefixtures("on_device")
@settings(max_examples=50)
@given(network=networks(), data=st.data())
def test_lengths_and_paths(network: Any, data: st.DataObject) -> None:
    source, target = (data.draw(st.sampled_from(list(network))) for _ in range(2))
    cutoff = data.draw(st.sampled_from([None, 0, 3]))
    for method in ("dijkstra", "bellman_ford"):
        more = {"cutoff": cutoff} if method == "dijkstra" else {}
        ours, theirs = both(f"single_source_{method}_path_length", network, source, **more)
        assert ours == theirs
        result = getattr(nx, f"single_source_{method}")(network, source, **more, backend="groute")
        assert result[0] == theirs
        check_paths(network, result[1], theirs)
        paths, _ = both(f"single_source_{method}_path", network, source, **more)
        check_paths(network, paths, theirs)
        ours, theirs = both(f"{method}_predecessor_and_distance", network, source, **more)
        assert ours[1] == theirs[1]
        assert {v: set(p) for v, p in ours[0].items()} == {v: set(p) for v, p in theirs[0].items()}
        ours, theirs = both(f"{method}_path_length", network, source, target)
        assert ours == theirs
        ours, theirs = both(f"{method}_path", network, source, target)
        assert ours == theirs if isinstance(theirs, type) else ours[-1] == target
        ours, theirs = both(f"all_pairs_{method}_path_length", network, **more)
        assert ours == theirs
    for ours, theirs in (
        both("bidirectional_dijkstra", network, source, target),
        both("single_source_dijkstra", network, source, target, cutoff),
    ):
        if isinstance(theirs, type):
            assert ours == theirs
        else:
            assert ours[0] == theirs[0]
            check_paths(network, {target: ours[1]}, {target: theirs[0]})


TO_ONE: dict[str, dict[str, Any]] = {
    "bidirectional_dijkstra": {},
    "dijkstra_path": {},
    "dijkstra_path_length": {},
    "single_source_dijkstra": {},
    "bidirectional_shortest_path": {},
    "has_path": {},
    "shortest_path": {"weight": "weight"},
    "shortest_path_length": {"weight": "weight"},
}


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("name", TO_ONE)
def test_the_solve_ends_at_the_target(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    line, reached, sssp = nx.path_graph(3000), list[int](), SourceSolver.sssp

    def watched(*words: Any, **named: Any) -> Any:
        result = sssp(*words, **named)
        assert result is not None
        reached.append(int(result.reached.sum()))
        return result

    monkeypatch.setattr(SourceSolver, "sssp", watched)
    ours, theirs = both(name, line, 0, 5, **TO_ONE[name])
    assert ours == theirs
    assert reached == [6]
    both(name, line, 0, 5000, **TO_ONE[name])  # which is no node
    assert max(reached) == (6 if len(reached) == 1 else 3000)


@pytest.mark.usefixtures("on_device")
@settings(max_examples=40)
@given(network=networks(), data=st.data())
def test_several_sources(network: Any, data: st.DataObject) -> None:
    sources = data.draw(st.sets(st.sampled_from(list(network)), min_size=1))
    ours, theirs = both("multi_source_dijkstra_path_length", network, sources)
    assert ours == theirs
    ours, _ = both("multi_source_dijkstra", network, sources)
    assert ours[0] == theirs
    check_paths(network, ours[1], theirs)
    assert {path[0] for path in ours[1].values()} <= sources


@pytest.mark.usefixtures("on_device")
@settings(max_examples=40)
@given(network=networks(), data=st.data())
def test_edges_counted(network: Any, data: st.DataObject) -> None:
    source, target = (data.draw(st.sampled_from(list(network))) for _ in range(2))
    cutoff = data.draw(st.sampled_from([None, 0, 2]))
    for name in ("single_source_shortest_path", "single_target_shortest_path"):
        ours, theirs = both(f"{name}_length", network, source, cutoff=cutoff)
        assert ours == theirs
        paths, _ = both(name, network, source, cutoff=cutoff)
        if "target" in name:
            paths = {v: path[::-1] for v, path in paths.items()}
            check_paths(network.reverse() if network.is_directed() else network, paths, ours, None)
        else:
            check_paths(network, paths, ours, None)
    ours, theirs = both("all_pairs_shortest_path_length", network, cutoff=cutoff)
    assert ours == theirs
    ours, theirs = both("bidirectional_shortest_path", network, source, target)
    assert ours == theirs if isinstance(theirs, type) else len(ours) == len(theirs)
    assert len(set(both("has_path", network, source, target))) == 1


@pytest.mark.usefixtures("on_device")
@settings(max_examples=40)
@given(network=networks(), data=st.data())
def test_functions_that_choose(network: Any, data: st.DataObject) -> None:
    ends = st.none() | st.sampled_from(list(network))
    given_ends = {"source": data.draw(ends), "target": data.draw(ends)}
    weight = data.draw(st.sampled_from([None, "weight"]))
    method = data.draw(st.sampled_from(["dijkstra", "bellman-ford"]))
    more = {**given_ends, "weight": weight, "method": method}
    ours, theirs = both("shortest_path_length", network, **more)
    assert ours == theirs
    ours, theirs = both("shortest_path", network, **more)
    if isinstance(theirs, type):
        assert ours == theirs
    elif None in given_ends.values():
        assert ours.keys() == theirs.keys()
    else:
        assert (ours[0], ours[-1]) == (theirs[0], theirs[-1])


@pytest.mark.usefixtures("on_device")
@settings(max_examples=40)
@given(network=networks(least=-1, kinds=(nx.DiGraph, nx.MultiDiGraph)), data=st.data())
def test_negative_weights(network: Any, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(list(network)))
    has_cycle, theirs = both("negative_edge_cycle", network.copy())
    assert has_cycle == theirs
    if has_cycle:
        assert both("johnson", network)[0] is nx.NetworkXUnbounded
        return
    ours, theirs = both("single_source_bellman_ford_path_length", network, source)
    assert ours == theirs
    check_paths(network, both("johnson", network)[0][source], theirs)
    check_paths(network, both("single_source_bellman_ford_path", network, source)[0], theirs)


@settings(max_examples=40)
@given(network=networks())
def test_floyd_warshall(network: Any) -> None:
    ours, theirs = both("floyd_warshall", network)
    assert ours == {node: dict(row) for node, row in theirs.items()}
    np.testing.assert_array_equal(*both("floyd_warshall_numpy", network))
    (parents, lengths), (theirs, _) = both("floyd_warshall_predecessor_and_distance", network)
    assert lengths == ours
    assert {u: set(row) for u, row in parents.items()} == {
        u: set(row) for u, row in theirs.items() if row
    }
    for u, row in parents.items():
        for v in row:
            if u != v:
                path = nx.reconstruct_path(u, v, parents)
                check_paths(network, {v: path}, {v: lengths[u][v]})


@pytest.mark.parametrize(
    ("weight", "kind"), [(2, int), (2.0, float), (np.int8(2), int), (True, int)]
)
def test_lengths_are_pythons_numbers(weight: Any, kind: type) -> None:
    network = nx.Graph([(0, 1, {"weight": weight})])
    assert type(nx.single_source_dijkstra(network, 0, backend="groute")[0][1]) is kind
    assert type(nx.floyd_warshall(network, backend="groute")[0][1]) is kind


@pytest.mark.parametrize("weight", [None, "far", float("nan"), float("inf"), 2**70, 2**63, [1, 2]])
def test_weights_that_are_left_to_networkx(weight: Any) -> None:
    network = nx.Graph([(0, 1, {"weight": weight}), (1, 2, {"weight": 1})])
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra(network, 0, backend="groute")
    if weight is None:  # NetworkX takes it for an edge that is hidden
        with nx.config(backend_priority=["groute"]):
            assert nx.single_source_dijkstra_path_length(network, 0) == {0: 0}


def test_what_is_left_to_networkx() -> None:
    network = nx.Graph([(0, 1, {"weight": 3})])
    length = lambda tail, head, data: 2 * data["weight"]  # noqa: E731
    with pytest.raises(NotImplementedError):
        nx.dijkstra_path_length(network, 0, 1, weight=length, backend="groute")
    with nx.config(backend_priority=["groute"]):
        assert nx.dijkstra_path_length(network, 0, 1, weight=length) == 6
    negative = nx.DiGraph([(0, 1, {"weight": -1})])
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra(negative, 0, backend="groute")


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("single_source_dijkstra", ("x",)),
        ("dijkstra_path", (0, "x")),
        ("multi_source_dijkstra", (["x"],)),
        ("single_source_bellman_ford", ("x",)),
        ("bidirectional_dijkstra", ("x", 0)),
        ("bidirectional_shortest_path", (0, "x")),
        ("single_target_shortest_path", ("x",)),
        ("single_source_shortest_path", ([],)),
        ("has_path", (0, "x")),
    ],
)
def test_absent_nodes(name: str, args: tuple[Any, ...]) -> None:
    ours, theirs = both(name, nx.path_graph(3), *args)
    assert ours is theirs
    assert issubclass(ours, nx.NetworkXException)


def test_no_sources() -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        nx.multi_source_dijkstra(nx.path_graph(3), [], backend="groute")


def star(weight: Any) -> nx.DiGraph:
    """So many edges that the backend is asked."""
    return nx.DiGraph([(0, leaf, {"weight": weight}) for leaf in range(1, 1500)])


def path_of(weight: int) -> nx.DiGraph:
    return nx.DiGraph([(node, node + 1, {"weight": weight}) for node in range(4)])


def dense_with_a_negative_loop() -> nx.DiGraph:
    network = nx.complete_graph(36, nx.DiGraph)
    network.add_edge(0, 0, weight=-1)
    return network


@pytest.mark.parametrize(
    ("name", "network", "choices"),
    [
        ("all_pairs_dijkstra_path_length", star(-3), {}),
        ("all_pairs_dijkstra_path", star(2**70), {}),
        ("all_pairs_bellman_ford_path_length", star(2**70), {}),
        ("all_pairs_shortest_path_length", star(1), {"cutoff": -1}),
        ("floyd_warshall", dense_with_a_negative_loop(), {}),
        ("floyd_warshall", path_of(-(2**62)), {}),
    ],
)
def test_networkx_takes_over(name: str, network: Any, choices: Any) -> None:
    with pytest.raises(NotImplementedError):
        getattr(nx, name)(network, **choices, backend="groute")
    with nx.config(backend_priority=["groute"]):
        taken = dict(getattr(nx, name)(network, **choices))
    assert taken == dict(getattr(nx, name)(network, **choices, backend="networkx"))


def test_networkx_takes_over_what_does_not_fit() -> None:
    network = path_of(-(2**62))
    with pytest.raises(NotImplementedError):
        nx.negative_edge_cycle(network, backend="groute")
    with nx.config(backend_priority=["groute"]):
        assert nx.negative_edge_cycle(network) is False


def test_floyd_warshall_of_nothing_is_left_to_networkx() -> None:
    with pytest.raises(NotImplementedError):
        nx.floyd_warshall(nx.DiGraph(), backend="groute")


@pytest.mark.parametrize("cutoff", [0, 1, 1.5, 2])
def test_a_fraction_of_an_edge_is_an_edge(cutoff: float) -> None:
    ours, theirs = both("single_source_shortest_path_length", nx.path_graph(5), 0, cutoff=cutoff)
    assert ours == theirs


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_loop_of_no_weight_at_the_source(nodes: int) -> None:
    network = nx.DiGraph()
    network.add_nodes_from(range(nodes))
    network.add_edge(0, 0, weight=0)
    for name in ("bellman_ford_predecessor_and_distance", "dijkstra_predecessor_and_distance"):
        ours, theirs = both(name, network, 0)
        assert ours == theirs


@pytest.mark.parametrize(
    ("first", "second", "cutoff"), [(0, 2**63 - 1, 3), (1e308, 1.5e308, 1.2e308)]
)
def test_a_sum_beyond_the_cutoff_that_reads_as_unreached(
    first: float, second: float, cutoff: float
) -> None:
    network = nx.DiGraph([(0, 1, {"weight": first}), (1, 2, {"weight": second})])
    ours, theirs = both("dijkstra_predecessor_and_distance", network, 0, cutoff=cutoff)
    assert ours == theirs
    assert 2 not in theirs[0]


def test_a_predecessor_sum_that_overflows_is_no_warning() -> None:
    network = nx.DiGraph()
    network.add_weighted_edges_from([(0, 1, 1e308), (0, 2, 1e308), (1, 2, 1.5e308)])
    ours, theirs = both("dijkstra_predecessor_and_distance", network, 0)
    assert ours == theirs
