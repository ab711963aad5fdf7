"""The backend's centralities and distance measures, against NetworkX on random graphs."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.networks import KINDS, both, needs_backend, networks
from support.skips import EMULATED

pytestmark = needs_backend

EXAMPLES = 5 if EMULATED else 40


def same(ours: Any, theirs: Any) -> None:
    """The same nodes or edges with the same numbers, or the same error."""
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        if math.isnan(value):
            assert math.isnan(ours[key])
        else:
            assert ours[key] == pytest.approx(value, rel=1e-9, abs=1e-12), key


@pytest.mark.usefixtures("on_device")
@settings(max_examples=EXAMPLES)
@given(network=networks(least=1), data=st.data())
def test_betweenness(network: Any, data: st.DataObject) -> None:
    weight = data.draw(st.sampled_from([None, "weight"]))
    drawn = data.draw(st.none() | st.integers(1, len(network)))
    how = {"k": drawn, "seed": 5, "weight": weight, "normalized": data.draw(st.booleans())}
    same(*both("betweenness_centrality", network, endpoints=data.draw(st.booleans()), **how))
    same(*both("edge_betweenness_centrality", network, **how))


@pytest.mark.usefixtures("on_device")
@settings(max_examples=EXAMPLES)
@given(network=networks(), data=st.data())
def test_closeness_and_harmonic(network: Any, data: st.DataObject) -> None:
    distance = data.draw(st.sampled_from([None, "weight"]))
    improved, node = data.draw(st.booleans()), data.draw(st.sampled_from(list(network)))
    how = {"distance": distance, "wf_improved": improved}
    same(*both("closeness_centrality", network, **how))
    ours, theirs = both("closeness_centrality", network, node, **how)
    assert ours == pytest.approx(theirs, rel=1e-12)
    some = st.none() | st.lists(st.sampled_from(list(network)))
    bunch, sources = data.draw(some), data.draw(some)
    same(*both("harmonic_centrality", network, bunch, distance, sources))


@pytest.mark.usefixtures("on_device")
@settings(max_examples=EXAMPLES)
@given(network=networks(), data=st.data())
def test_distance_measures(network: Any, data: st.DataObject) -> None:
    if data.draw(st.booleans()):  # else few are connected
        nx.add_cycle(network, list(network))
    weight = data.draw(st.sampled_from([None, "weight"]))
    for name in ("diameter", "radius", "center", "periphery"):
        ours, theirs = both(name, network, weight=weight)
        if isinstance(theirs, list):  # of a tree they come in another order
            ours, theirs = set(ours), set(theirs)
        assert ours == pytest.approx(theirs) if isinstance(theirs, float) else ours == theirs
    some = data.draw(st.none() | st.lists(st.sampled_from(list(network))))
    same(*both("eccentricity", network, some, weight=weight))
    ours, theirs = both("average_shortest_path_length", network, weight=weight)
    assert ours is theirs if isinstance(theirs, type) else ours == pytest.approx(theirs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [{}, {"usebounds": True}, {"weight": "weight"}])
@pytest.mark.parametrize("name", ["diameter", "radius", "center", "periphery"])
def test_measures_of_no_nodes(name: str, how: dict[str, Any], kind: Any) -> None:
    raised = []
    for backend in ("groute", None):
        with pytest.raises((ValueError, nx.NetworkXException)) as caught:
            getattr(nx, name)(kind(), backend=backend, **how)
        raised.append(caught.type)
    assert raised[0] is raised[1]


@pytest.mark.usefixtures("on_device")
@settings(max_examples=EXAMPLES)
@given(network=networks(), data=st.data())
def test_voronoi_cells(network: Any, data: st.DataObject) -> None:
    """Each node is in a cell whose center is as near as any."""
    centers = data.draw(st.sets(st.sampled_from(list(network)), min_size=1))
    ours, theirs = both("voronoi_cells", network, centers)
    assert ours.get("unreachable") == theirs.get("unreachable")
    assert centers <= ours.keys()
    nearest = nx.multi_source_dijkstra_path_length(network, centers)
    for center in ours.keys() - {"unreachable"}:
        lengths = nx.single_source_dijkstra_path_length(network, center)
        for node in ours[center]:
            assert lengths[node] == pytest.approx(nearest[node])
    assert sum(map(len, ours.values())) == len(network)


def test_a_node_of_an_eccentricity() -> None:
    for chosen in (2, [2, 3], [9], None):
        ours, theirs = both("eccentricity", nx.path_graph(4), chosen)
        assert ours == theirs
    lengths = dict(nx.shortest_path_length(nx.path_graph(4)))
    assert nx.eccentricity(nx.path_graph(4), sp=lengths, backend="groute") == {
        0: 3,
        1: 2,
        2: 2,
        3: 3,
    }
    with pytest.raises(nx.NetworkXError, match=r'Format of "sp" is invalid'):
        nx.eccentricity(nx.path_graph(4), sp=3, backend="groute")
    with pytest.raises(nx.NetworkXError, match="not connected"):
        nx.eccentricity(nx.path_graph(4), sp={n: {n: 0} for n in range(4)}, backend="groute")


@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("betweenness_centrality", nx.Graph()),
        ("edge_betweenness_centrality", nx.Graph()),
        ("closeness_centrality", nx.Graph()),
        ("harmonic_centrality", nx.Graph()),
        ("eccentricity", nx.Graph()),
        ("average_shortest_path_length", nx.Graph()),
        ("average_shortest_path_length", nx.empty_graph(1)),
        ("betweenness_centrality", nx.empty_graph(1)),
    ],
)
def test_graphs_of_almost_nothing(name: str, network: Any) -> None:
    ours, theirs = both(name, network)
    assert ours == theirs


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("betweenness_centrality", {"weight": "weight"}),
        ("edge_betweenness_centrality", {"weight": "weight"}),
        ("closeness_centrality", {"distance": "weight"}),
        ("harmonic_centrality", {"distance": "weight"}),
        ("eccentricity", {"weight": "weight"}),
    ],
)
def test_negative_weights_are_left_to_networkx(name: str, choices: dict[str, str]) -> None:
    network = nx.DiGraph([(0, 1, {"weight": -1}), (1, 0, {"weight": 2})])
    with pytest.raises(NotImplementedError):
        getattr(nx, name)(network, **choices, backend="groute")


def test_cycles_of_no_weight_are_left_to_networkx() -> None:
    network = nx.Graph([(0, 1, {"weight": 0}), (1, 2, {"weight": 2})])
    with pytest.raises(NotImplementedError):
        nx.betweenness_centrality(network, weight="weight", backend="groute")


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_of_no_weight_changes_nothing(kind: Any) -> None:
    """NetworkX counts paths twice there, so its answer without the loop is the right one."""
    network = kind()
    network.add_weighted_edges_from([(0, 1, 1), (1, 2, 1), (2, 3, 2)])
    looped = network.copy()
    looped.add_edge(1, 1, weight=0)
    for name in ("betweenness_centrality", "edge_betweenness_centrality"):
        ours = getattr(nx, name)(looped, weight="weight", backend="groute")
        theirs = getattr(nx, name)(network, weight="weight", backend="networkx")
        loops = [ours.pop(key) for key in ours.keys() - theirs.keys()]
        assert not any(loops)
        same(ours, theirs)


def test_nothing_is_drawn() -> None:
    with pytest.raises(ZeroDivisionError):
        nx.betweenness_centrality(nx.path_graph(4), k=0, backend="groute")
    with pytest.raises(ValueError, match="must not be empty"):
        nx.voronoi_cells(nx.path_graph(4), set(), backend="groute")


def test_a_method_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="method not supported: guess"):
        nx.average_shortest_path_length(nx.path_graph(3), method="guess", backend="groute")
    for method in ("unweighted", "bellman-ford"):
        ours, theirs = both("average_shortest_path_length", nx.path_graph(3), method=method)
        assert ours == theirs
