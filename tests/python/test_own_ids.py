"""Vertices by the ids that a user's data have, against NetworkX, which knows no other."""

from __future__ import annotations

import itertools
import random
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import groute_py
from groute_py import InputError, Positions, centrality
from groute_py.graph.ids import Numbering

NAMES = ["Oslo", "Voss", "Bergen", "Ås", "Moss", "Hamar", "Bodø", "Røros", "Skien"]
LABELS = {
    "from 0": list(range(9)),
    "from 1": list(range(1, 10)),
    "numbers": [40, 7, 10**12, -3, 8, 15, 3, 2, 99],
    "names": NAMES,
}


@pytest.fixture(params=list(LABELS))
def roads(request: pytest.FixtureRequest) -> pd.DataFrame:
    """Arcs between nine vertices, of which some reach no others."""
    names, draw = LABELS[request.param], random.Random(request.param)
    pairs = [pair for pair in itertools.permutations(names, 2) if draw.random() < 0.25]
    pairs += list(itertools.pairwise(names))  # so that all of them are there
    rows = {pair: draw.randint(1, 50) for pair in pairs}
    return pd.DataFrame(
        [(tail, head, weight) for (tail, head), weight in rows.items()],
        columns=["from", "to", "minutes"],
    )


def network_of(roads: pd.DataFrame) -> nx.DiGraph:
    return nx.from_pandas_edgelist(
        roads, "from", "to", edge_attr="minutes", create_using=nx.DiGraph
    )


def expected(roads: pd.DataFrame) -> dict[Any, dict[Any, int]]:
    return dict(nx.all_pairs_dijkstra_path_length(network_of(roads), weight="minutes"))


def test_trees(roads: pd.DataFrame) -> None:
    network, lengths = network_of(roads), expected(roads)
    for graph, (source, target) in itertools.product(
        (roads, network), itertools.permutations(list(network)[:4], 2)
    ):
        for result in (
            groute_py.sssp(graph, source, weight="minutes", device="cpu"),
            groute_py.sssp(graph, source, targets=[target], weight="minutes", device="cpu"),
        ):
            assert result is not None
            assert result.distance_to(target) == lengths[source].get(target)
            path = result.path_to(target)
            if path:
                assert path[0] == source
                assert path[-1] == target
                assert nx.path_weight(network, path, "minutes") == lengths[source][target]


def test_rows_pairs_and_facilities(roads: pd.DataFrame) -> None:
    lengths, names = expected(roads), list(network_of(roads))
    ids = groute_py.graph_from_table(roads).numbering
    with groute_py.open(roads, device="cpu") as solver:
        matrix = solver.matrix(names[:3], names[3:5])
        rows = solver.apsp(names[2:4], predecessors=True)
        pairs = list(itertools.product(names[:2], names[4:7]))
        routes = solver.route(pairs, paths=True)
        near = solver.nearest([names[1], names[6]])
        reach = solver.isochrone([names[0]], [40])
        scores = solver.closeness(names[:2])
    assert None not in (matrix, rows, routes, near, reach, scores)
    for (k, source), (j, target) in itertools.product(enumerate(names[:3]), enumerate(names[3:5])):
        assert matrix.distances[k, j] == lengths[source].get(target, groute_py.UNREACHED)
    for target in names:
        path = rows.path(names[2], target)
        assert bool(path) == (target in lengths[names[2]])
        assert not path or (path[0], path[-1]) == (names[2], target)
    for (source, target), length, path in zip(pairs, routes.distances, routes.paths, strict=True):
        assert length == lengths[source].get(target, groute_py.UNREACHED)
        assert not len(path) or ids.ids_of(path[[0, -1]]).tolist() == [source, target]
    for name, length in zip(ids.ids_of(np.arange(9)).tolist(), near.distances, strict=True):
        known = [lengths[names[f]].get(name, groute_py.UNREACHED) for f in (1, 6)]
        assert length == min(known)
    within = {name for name, length in lengths[names[0]].items() if length <= 40}
    assert set(ids.ids_of(reach.reaches[0].vertices).tolist()) == within
    assert ids.ids_of([1, 0]).tolist() == [ids.id_of(1), ids.id_of(0)]
    assert ids.ids_of(scores.vertices).tolist() == names[:2]
    alike = centrality.closeness(roads, sources=names[:2], device="cpu")
    assert alike is not None
    np.testing.assert_array_equal(alike.values, scores.values)


def test_positions_in_the_place_of_ids(roads: pd.DataFrame) -> None:
    ids = groute_py.graph_from_table(roads).numbering
    with groute_py.open(roads, device="cpu") as solver:
        for place in range(9):
            one, other = solver.sssp(Positions(place)), solver.sssp(ids.id_of(place))
            np.testing.assert_array_equal(one.distances, other.distances)
            assert one.path_to(Positions(3)) == other.path_to(ids.id_of(3))
        everything = solver.matrix(Positions([0, 1]), Positions(range(9)))
        some = solver.route(Positions([[0, 8], [1, 4]]))
        assert everything.distances[[0, 1], [8, 4]].tolist() == some.distances.tolist()
        with pytest.raises(InputError, match=r"source at position 9 is not .* 0\.\.8"):
            solver.sssp(Positions(9))


def test_points_of_a_network_by_its_ids() -> None:
    corners = {"home": (0.0, 0.0), "work": (0.0, 0.001), "pub": (0.001, 0.001)}
    network = nx.Graph()
    for name, (x, y) in corners.items():
        network.add_node(name, x=x, y=y)
    network.add_weighted_edges_from([("home", "work", 3), ("work", "pub", 4)])
    vertices, metres = groute_py.snap(network, [(0.001, 0.0011)])
    assert vertices.tolist() == ["pub"]
    assert metres[0] == pytest.approx(11.1, abs=0.1)
    result = groute_py.sssp(network, groute_py.Points([(0.0, 0.0)]), device="cpu")
    assert result is not None
    assert result.path_to(vertices[0]) == ["home", "work", "pub"]


@pytest.mark.parametrize(
    ("label", "wrong", "near"),
    [
        ("names", "oslo", "nearest to it: Oslo"),
        ("names", "Bergn", "nearest to it: Bergen"),
        ("numbers", 9, "nearest to it: 8, 7, 3"),
        ("from 1", 0, r"vertices are 1\.\.9"),
        ("from 1", 10, r"vertices are 1\.\.9"),
    ],
)
def test_a_wrong_id_shows_the_nearest(label: str, wrong: Any, near: str) -> None:
    names = np.array(sorted(LABELS[label]))
    numbering = Numbering(9, 1) if label == "from 1" else Numbering(9, 0, names)
    for _ in range(2):
        with pytest.raises(InputError, match=rf"source {wrong} is not a vertex of town; .*{near}"):
            numbering.indices_of([names[0], wrong], "source", "town")
        if numbering.ids is not None:
            _ = numbering.order  # and by it
