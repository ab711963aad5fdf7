"""Points, isochrones and routes on the roads of New York; skipped where the data are missing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.path import Path as Outline
from support.graphs import scipy_distances

import groute_py
from groute_py.io.coordinates import read_coordinates

MultiPolygon = pytest.importorskip("shapely.geometry").MultiPolygon
explain_validity = pytest.importorskip("shapely.validation").explain_validity

EARTH_M = 6_371_008.8
POINTS = [(-73.985, 40.748), (-74.044, 40.689), (-73.778, 40.641)]
"""The Empire State Building; the Statue of Liberty, in the water; Kennedy Airport."""


@pytest.mark.slow
def test_new_york(data_folder: Path, tmp_path: Path) -> None:
    roads = data_folder / "dimacs9" / "USA-road-d.NY.gr.gz"
    coordinates = data_folder / "dimacs9" / "USA-road-d.NY.co.gz"
    graph = groute_py.read_graph(roads)
    degrees = read_coordinates(coordinates, graph.vertex_count) * 1e-6
    vertices, metres = groute_py.snap(graph, POINTS, coordinates, within=2000)
    for point, vertex, distance in zip(POINTS, vertices, metres, strict=True):
        east, north = np.radians(degrees).T
        x, y = np.radians(point)
        cosine = np.sin(north) * np.sin(y) + np.cos(north) * np.cos(y) * np.cos(east - x)
        every = EARTH_M * np.arccos(np.minimum(cosine, 1))
        here = every[graph.numbering.index_of(vertex)]
        assert here <= every.min() + 0.1
        assert abs(here - distance) < 0.1
    with pytest.raises(groute_py.InputError, match=r"point 1 .* of 3 points"):
        groute_py.snap(graph, POINTS, coordinates, within=300)

    result = groute_py.isochrone(graph, vertices[::2], [20_000, 50_000], coordinates=coordinates)
    assert result is not None
    at = graph.numbering.indices_of(vertices[::2])
    wanted = np.min([scipy_distances(graph, source) for source in at], axis=0)
    (reach,) = result.reaches
    np.testing.assert_array_equal(reach.vertices, np.flatnonzero(wanted <= 50_000))
    np.testing.assert_array_equal(reach.distances, wanted[reach.vertices])
    for margin in (None, 50, 1000):
        for area in result.areas(reach, margin):
            whole = MultiPolygon([(outer, holes) for outer, *holes in area])
            assert explain_validity(whole) == "Valid Geometry"
    area = result.areas(reach)[1]
    inside = sum(
        Outline(ring).contains_points(degrees).astype(int) for rings in area for ring in rings
    )
    assert (inside[reach.vertices] % 2 == 1).all()
    assert (inside % 2).sum() < 1.2 * len(reach.vertices)  # no hull

    routes = groute_py.route(graph, [(vertices[0], vertices[2])], paths=True)
    assert routes is not None
    routes.save(tmp_path / "route.geojson", coordinates)
    (line,) = json.loads((tmp_path / "route.geojson").read_text())["features"]
    ends = np.array(line["geometry"]["coordinates"])[[0, -1]]
    np.testing.assert_allclose(ends, degrees[at], atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("on_roads", [False, True])
def test_a_hundred_random_points_reach_each_other(data_folder: Path, on_roads: bool) -> None:
    """Also where many streets are one-way; by their nearest vertices some do not."""
    graph = groute_py.read_graph(data_folder / "dimacs9" / "USA-road-d.NY.gr.gz")
    coordinates = data_folder / "dimacs9" / "USA-road-d.NY.co.gz"
    places = read_coordinates(coordinates, graph.vertex_count) * 1e-6
    draw = np.random.default_rng(1)
    keep = draw.random(graph.arc_count) < 0.97
    table = {"tail": graph.tails()[keep], "head": graph.heads[keep], "weight": graph.weights[keep]}
    roads = groute_py.graph_from_table(table)
    roads = roads.changed(coordinates=places[roads.numbering.ids_of(np.arange(roads.vertex_count))])
    points = places[draw.integers(0, len(places), 100)] + draw.normal(0, 1e-3, (100, 2))
    whole = groute_py.add_points(roads, points) if on_roads else roads
    ends, any_ends = (groute_py.Points(points, None, 5000, connected=c) for c in (True, False))
    matrix = groute_py.matrix(whole, ends, ends)
    assert matrix is not None
    assert (matrix.distances < groute_py.UNREACHED).all()
    apart = groute_py.matrix(roads, any_ends, any_ends)
    assert apart is not None
    assert (apart.distances == groute_py.UNREACHED).any()
