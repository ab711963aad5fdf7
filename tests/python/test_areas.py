"""Areas within reach: what they hold, what they do not, and their files."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.path import Path as Outline
from support.graphs import graph_of

import groute_py
from groute_py import Graph, InputError, Isochrones, SetupError
from groute_py.io import optional_libraries
from groute_py.maps.areas import Polygon
from groute_py.maps.reach import ReachView

shape = pytest.importorskip("shapely.geometry").shape
explain_validity = pytest.importorskip("shapely.validation").explain_validity

DEGREE_M = np.radians(1) * 6_371_008.8


def street(places: Any, weights: Any, **more: Any) -> Graph:
    """Places one after the other, with arcs both ways."""
    arcs = [(v, v + 1, w) for v, w in enumerate(weights)]
    graph = graph_of(len(places), [*arcs, *((v, u, w) for u, v, w in arcs)])
    return graph.changed(coordinates=np.array(places, np.float64), **more)


def holds(area: list[Polygon], points: Any) -> Any:
    """Which points lie in an area: in an odd number of its rings."""
    rings = [ring for polygon in area for ring in polygon]
    return np.sum([Outline(ring).contains_points(np.array(points)) for ring in rings], axis=0) % 2


@pytest.fixture
def horseshoe() -> Isochrones:
    """A street about three sides of a square, walked from one end."""
    graph = street([(0, 0), (100, 0), (100, 100), (0, 100)], [10, 10, 10])
    result = groute_py.isochrone(graph, [0], [12, 30], planar=True, device="cpu")
    assert result is not None
    return result


def test_no_hull(horseshoe: Isochrones) -> None:
    near, far = horseshoe.areas(horseshoe.reaches[0], margin=10)
    assert holds(near, [(50, 0), (100, 12), (50, 7), (50, -7)]).all()
    assert not holds(near, [(100, 60), (50, 50), (50, 13), (0, 100)]).any()
    assert holds(far, [(50, 0), (100, 60), (2, 100)]).all()
    assert not holds(far, [(50, 50), (0, 50), (50, 13), (50, 87), (120, 50)]).any()


def test_they_grow(horseshoe: Isochrones) -> None:
    near, far = horseshoe.areas(horseshoe.reaches[0])
    corners = np.concatenate([ring for polygon in near for ring in polygon])
    inside = (corners - corners.mean(axis=0)) * 0.999 + corners.mean(axis=0)
    assert holds(far, inside[holds(near, inside) == 1]).all()


def test_against_distances_to_every_part() -> None:
    """On a net of streets, by the distance from random points to all parts within reach."""
    side, random = 12, np.random.default_rng(7)
    at = random.uniform(0, 0.3, (side * side, 2)) + np.indices((side, side)).reshape(2, -1).T
    across = [(v, v + 1) for v in range(side * side) if (v + 1) % side]
    along = [(v, v + side) for v in range(side * side - side)]
    arcs = [(u, v, int(random.integers(1, 9))) for u, v in across + along if random.random() < 0.8]
    graph = graph_of(side * side, arcs + [(v, u, w) for u, v, w in arcs])
    graph = graph.changed(coordinates=at * 0.01 + np.array([10, 60.0]))
    result = groute_py.isochrone(graph, [66, 3], [9, 17], device="cpu")
    assert result is not None
    reach, margin = result.reaches[0], 200.0
    pieces, points = result.pieces(reach), random.uniform(0, 12, (600, 2)) * 0.01 + [10, 60]
    lines = pieces.lines(graph.coordinates)  # type: ignore[arg-type]
    scale = np.array([np.cos(np.radians(ReachView(result).plane.centre[1])), 1]) * DEGREE_M  # type: ignore[index]
    for band, area in enumerate(result.areas(reach, margin)):
        metres = to_lines(points * scale, lines[pieces.bands <= band] * scale)
        inside = holds(area, points)
        assert inside[metres < 0.75 * margin].all()
        assert not inside[metres > 1.25 * margin].any()


def to_lines(points: Any, lines: Any) -> Any:
    """The distance from each point to the nearest line."""
    begin, way = lines[:, 0], lines[:, 1] - lines[:, 0]
    apart = points[:, np.newaxis] - begin
    share = np.clip((apart * way).sum(axis=2) / (way**2).sum(axis=1), 0, 1)
    return np.hypot(*np.moveaxis(apart - share[..., np.newaxis] * way, 2, 0)).min(axis=1)


@pytest.mark.parametrize("planar", [True, False])
def test_they_are_valid(tmp_path: Path, planar: bool) -> None:
    """500 areas in files; lines on a grid have the margin's contour touch itself easily."""
    random, path = np.random.default_rng(5), tmp_path / "areas.geojson"
    side, problems = 5, []
    at = np.indices((side, side)).reshape(2, -1).T * 100.0
    pairs = [(v, v + 1) for v in range(side * side) if (v + 1) % side]
    pairs += [(v, v + side) for v in range(side * side - side)]
    for number in range(50):
        some = random.permutation(pairs)[: random.integers(10, len(pairs))].tolist()
        arcs = [(u, v, int(random.integers(50, 150))) for u, v in some]
        graph = graph_of(side * side, arcs + [(v, u, w) for u, v, w in arcs])
        places = at + random.uniform(-40, 40, at.shape) * (number % 2)
        graph = graph.changed(coordinates=places if planar else places / DEGREE_M + [7, 43])
        limits = random.integers(1, 900, 5)
        result = groute_py.isochrone(graph, some[0], limits, planar=planar, device="cpu")
        assert result is not None
        result.save(path, margin=random.choice([None, 0.1, 15, 25, 50, 100]))
        for feature in json.loads(path.read_text())["features"]:
            area = shape(feature["geometry"])
            assert area.area > 0
            problems.append(explain_validity(area))
    assert set(problems) == {"Valid Geometry"}
    assert len(problems) >= 245


def test_holes_turn_the_other_way() -> None:
    ring = street([(0, 0), (9, 0), (9, 9), (0, 9), (0, 0)], [1] * 4)
    result = groute_py.isochrone(ring, [0], [4], planar=True, device="cpu")
    assert result is not None
    ((outer, hole),) = result.areas(result.reaches[0], margin=1)[0]

    def turn(ring: Any) -> float:
        x, y = ring.T
        return float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum())

    assert turn(outer) > 0 > turn(hole)
    for closed in (outer, hole):
        assert closed[0].tolist() == closed[-1].tolist()


def test_a_source_alone() -> None:
    """Where no arc leads on there is a circle about the source; for each by itself as well."""
    graph = graph_of(3, [(1, 2, 50)]).changed(coordinates=np.array([[5, 5], [9, 9], [9, 8.0]]))
    result = groute_py.isochrone(graph, [0, 0, 2], [4, 5], each=True, device="cpu")
    assert result is not None
    for reach, centre in zip(result.reaches, [(5, 5), (5, 5), (9, 8)], strict=True):
        for ((ring,),) in result.areas(reach):
            east, north = ((ring - centre) * DEGREE_M * [np.cos(np.radians(6.5)), 1]).T
            assert np.hypot(east, north).max() < 130
            assert np.hypot(east, north).min() > 70


def test_the_date_line() -> None:
    graph = street([(179.99, 0), (-179.99, 0)], [10])
    result = groute_py.isochrone(graph, [0], [5], device="cpu")
    assert result is not None
    ((polygon,),) = result.areas(result.reaches[0], margin=200)
    assert np.ptp(polygon[0][:, 0]) < 0.02
    lines = result.pieces(result.reaches[0]).lines(ReachView(result).ground.points)
    np.testing.assert_allclose(np.abs(lines[0, :, 0]), [179.99, 180], atol=1e-9)


class TestFiles:
    """`Isochrones.save`."""

    def test_the_picture(self, horseshoe: Isochrones, tmp_path: Path) -> None:
        from matplotlib.image import imread

        horseshoe.save(tmp_path / "map.png", margin=10)
        picture = imread(tmp_path / "map.png")
        height, width, _ = picture.shape
        assert min(height, width) > 1000
        middle = picture[int(0.52 * height), int(0.2 * width), :3]
        assert middle.tolist() == [1, 1, 1]  # within the horseshoe

    def test_no_coordinates(self, tmp_path: Path) -> None:
        result = groute_py.isochrone(([0, 1, 1], [1], [3]), [0], [2], device="cpu")
        assert result is not None
        for suffix in ("html", "png", "geojson"):
            with pytest.raises(InputError, match="has no coordinates"):
                result.save(tmp_path / f"map.{suffix}")
        result.save(tmp_path / "table.csv")
        assert (tmp_path / "table.csv").read_text() == "vertex,distance,limit\n0,0,2\n"
        assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]

    def test_a_library_that_is_absent(
        self, horseshoe: Isochrones, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def absent(name: str) -> None:
            raise ImportError(name)

        monkeypatch.setattr(optional_libraries, "import_module", absent)
        with pytest.raises(SetupError, match=r"scipy, which is not installed: .*groute-py\[maps\]"):
            horseshoe.save(tmp_path / "map.png")

    @pytest.mark.parametrize("suffix", ["geojson", "html", "png"])
    def test_the_ends_of_a_plane(self, tmp_path: Path, suffix: str) -> None:
        path = ([0, 1, 1], [1], [3])
        for far, margin in itertools.product([1e150, 1e-150], [None, 1e-150, 1e150]):
            ends = np.array([[-far, -far], [far, far]])
            how: dict[str, Any] = {"coordinates": ends, "planar": True, "device": "cpu"}
            result = groute_py.isochrone(path, [0], [9], **how)
            assert result is not None
            result.save(tmp_path / f"map.{suffix}", margin=margin)
            with pytest.raises(InputError, match=r"which is farther out than 1e\+150 on a plane"):
                groute_py.isochrone(path, [0], [9], **how | {"coordinates": ends * (1e158 / far)})

    @pytest.mark.parametrize("margin", [0, -1, np.nan, np.inf, 1e308, "wide"])
    def test_wrong_margins(self, horseshoe: Isochrones, margin: Any) -> None:
        with pytest.raises(InputError, match="margin must be"):
            horseshoe.areas(horseshoe.reaches[0], margin)
