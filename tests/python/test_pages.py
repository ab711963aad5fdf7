"""Maps for a browser: their ground, layers, legend and tooltips, and what they refuse."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import re
from importlib.metadata import PackageNotFoundError as NotInstalled
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import as_json, run_command
from support.graphs import graph_of
from support.keeping import raising_at
from support.pages import layers_of

import groute_py
from groute_py import Graph, InputError, Isochrones, Points, RunError, SetupError
from groute_py.io import optional_libraries
from groute_py.maps.page import LEAFLET

branca = pytest.importorskip("branca.element")

EVIL = "</script><img src=x onerror=alert(1)>"
CREDIT = "© the town"


def street(count: int = 4, **more: Any) -> Graph:
    """Places 0.001 degrees apart, with arcs of 60 both ways."""
    arcs = [(v, v + step, 60) for v in range(count) for step in (-1, 1) if 0 <= v + step < count]
    places = np.stack([np.arange(count) * 0.001, np.zeros(count)], axis=1)
    return graph_of(count, arcs).changed(**{"coordinates": places, "attribution": CREDIT} | more)


def reach(graph: Graph, sources: Any, *limits: float, **options: Any) -> Isochrones:
    result = groute_py.isochrone(graph, sources, limits, device="cpu", **options)
    assert result is not None
    return result


def shown_in(feature: dict[str, Any]) -> dict[str, str]:
    """Return the text of the tooltip of a feature."""
    return {name: text for name, text in feature["properties"].items() if name != "style"}


def own_part(page: str) -> str:
    """A page without the text of Leaflet."""
    folder = distribution("XStatic-Leaflet")
    for kind in ("js", "css"):
        text = Path(str(folder.locate_file(f"{LEAFLET}.{kind}"))).read_text(encoding="utf-8")
        assert text in page
        page = page.replace(text, "")
    return page


def test_leaflet_is_the_one_that_was_published() -> None:
    """Its hash stands on Leaflet's page of downloads."""
    script = distribution("XStatic-Leaflet").locate_file(f"{LEAFLET}.js")
    digest = hashlib.sha256(Path(str(script)).read_bytes()).digest()
    assert base64.b64encode(digest) == b"WBkoXOwTeyKclOHuWtc+i2uENFpDZ9YPdf5Hf+D7ewM="


def test_layers_of_limits(tmp_path: Path) -> None:
    ends = Points({"lon": [0.0], "lat": [0.0], "name": ["home"]})
    result = reach(street(), ends, 60, 90, 95, 500, 600)
    result.save(tmp_path / "map.html", margin=20)
    page = own_part((tmp_path / "map.html").read_text(encoding="utf-8"))
    assert "https://tile.openstreetmap.org/{z}/{x}/{y}.png" in page
    assert "\\u003eOpenStreetMap\\u003c/a\\u003e contributors" in page
    assert '"referrerPolicy": "strict-origin-when-cross-origin"' in page
    assert json.dumps(CREDIT) in page
    assert not re.search(r"<(script|link)[^>]*(src|href)=", page)
    layers = layers_of(page)
    assert list(layers) == ["within 500", "within 95", "within 90", "within 60", "sources"]
    assert page.count("within 600: no more") == 1  # in the legend
    assert [shown_in(point) for point in layers["sources"]] == [{"source": "home"}]
    near, far = (layers[f"within {limit}"] for limit in (60, 90))
    kinds = [feature["geometry"]["type"] for feature in near]
    assert kinds == ["MultiPolygon", "MultiLineString", "MultiLineString"]
    assert {shown_in(feature)["within"] for feature in far} == {"90"}
    (inner,), (outer, hole) = (band[0]["geometry"]["coordinates"][0] for band in (near, far))
    assert hole == inner
    assert len(outer) > 4
    dashes = [band[1]["properties"]["style"].get("dashArray") for band in list(layers.values())[:4]]
    assert dashes == ["4 4", "4 8", "4 12", "4 16"]
    ways = far[2]["geometry"]["coordinates"]  # back and on
    np.testing.assert_allclose(ways, [[[0.001, 0], [0.0005, 0]], [[0.001, 0], [0.0015, 0]]], 1e-5)


def test_layers_of_sources(tmp_path: Path) -> None:
    reach(street(), [0, 3], 60, 90, each=True).save(tmp_path / "map.html")
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    layers = layers_of(page)
    assert list(layers) == ["from 0", "from 3", "sources"]
    assert shown_in(layers["from 3"][0]) == {"from": "3", "within": "90"}
    shown = re.findall(r"^ *(geo_json_\w+)\.addTo\(", page, re.MULTILINE)
    assert len(shown) == 2  # the first one, and the sources


def test_a_page_that_needs_no_network(tmp_path: Path) -> None:
    reach(street(), [0], 60).save(tmp_path / "map.html", tiles="none")
    page = own_part((tmp_path / "map.html").read_text(encoding="utf-8"))
    assert "http" not in page.replace('http-equiv="content-type"', "")
    (roads,) = layers_of(page)["roads"]
    assert len(roads["geometry"]["coordinates"]) == 2  # on the map, once for both ways


def test_a_plane_has_no_ground(tmp_path: Path) -> None:
    graph = street(coordinates=np.array([[0.0, 0], [5000, 0], [9000, 0], [9000, 3000]]))
    result = reach(graph, [0], 60, planar=True)
    result.save(tmp_path / "map.html")
    page = own_part((tmp_path / "map.html").read_text(encoding="utf-8"))
    assert "L.CRS.Simple" in page
    assert "http" not in page.replace('http-equiv="content-type"', "")
    with pytest.raises(InputError, match="not of a plane"):
        result.save(tmp_path / "other.html", tiles="OpenStreetMap")
    assert not (tmp_path / "other.html").exists()


def test_many_lines_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.maps.isochrone_map.MOST_LINES", 1)
    reach(street(), [0], 120).save(tmp_path / "map.html")
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    kinds = [feature["geometry"]["type"] for feature in layers_of(page)["within 120"]]
    assert kinds == ["MultiPolygon", "MultiLineString"]
    assert "areas only, of 2 parts of roads" in page


def test_names_are_no_markup(tmp_path: Path) -> None:
    graph = street(name=EVIL, attribution=EVIL)
    ends = Points({"lon": [0.0, 0.003], "lat": [0.0, 0.0], "name": [EVIL, "{{ 7 * 7 }}"]})
    reach(graph, ends, 90, each=True).save(tmp_path / "reach.html")
    more = Points({"lon": [0.001] * 2, "lat": [0.0] * 2, "name": ["a", "b"], EVIL: [EVIL] * 2})
    routes = groute_py.route(graph, (ends, more), paths=True, device="cpu")
    assert routes is not None
    routes.save(tmp_path / "routes.html")
    for name in ("reach.html", "routes.html"):
        page = own_part((tmp_path / name).read_text(encoding="utf-8"))
        assert "<img" not in page.replace("\\u003c", "<")
        assert page.count("</script>") == page.count("<script")
        assert "&lt;/script&gt;" in page
        assert "{{ 7 * 7 }}" in page


def test_routes(tmp_path: Path) -> None:
    (tmp_path / "it.csv").write_text("from,to,time_s\n1,2,150\n2,1,150\n3,1,7\n")
    (tmp_path / "it_places.csv").write_text("id,lon,lat\n1,0,0\n2,0.01,0\n3,0.02,0\n")
    (tmp_path / "a.csv").write_text("name,lon,lat\nhome,0,0\n")
    (tmp_path / "b.csv").write_text("name,lon,lat\nschool,0.01,0\nfar,0.02,0\n")
    ends = ("--from", tmp_path / "a.csv", "--to", tmp_path / "b.csv")
    where = ("--coordinates", tmp_path / "it_places.csv", "--device", "cpu")
    page_path = tmp_path / "map.html"
    words = ["route", tmp_path / "it.csv", *ends, *where, "--json", "-o", page_path]
    assert as_json(run_command(*words))["reached_pairs"] == 1
    page = page_path.read_text(encoding="utf-8")
    layers = layers_of(page)
    assert list(layers) == ["from home"]
    line, end = layers["from home"]
    assert line["geometry"]["coordinates"] == [[0, 0], [0.01, 0]]
    assert end["geometry"] == {"type": "Point", "coordinates": [0.01, 0]}
    names = {"source": "1", "target": "2", "source_name": "home", "target_name": "school"}
    assert shown_in(line) == shown_in(end) == {**names, "distance": "2.5 min"}
    assert "it: 1 shortest path</b>" in page
    before = page_path.read_bytes()
    with pytest.raises(InputError, match="no path to draw"):
        run_command(
            *["route", tmp_path / "it.csv", "--from", 1, "--to", 3, *where], "-o", page_path
        )
    assert page_path.read_bytes() == before


def test_a_page_is_complete_or_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "map.html"
    path.write_text("an older one")
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(branca.Figure, "render", raising_at(1, print, full))
    with pytest.raises(RunError, match=r"map\.html: cannot be written: No space left"):
        reach(street(), [0], 60).save(path)
    assert path.read_text() == "an older one"
    assert [each.name for each in tmp_path.iterdir()] == ["map.html"]


@pytest.mark.parametrize(
    ("tiles", "problem"),
    [
        ("OpenStreetMapp", r"'OpenStreetMapp' are not known; .*such as OpenStreetMap\."),
        ("?", r"'\?' are not known; take none, a URL .* OpenStreetMap"),
        ("", r"tiles '' are not known"),
        ("https://tiles.example.org/{z}", r"{z}' are not known; take none, a URL with {z}, {x}"),
        ("CartoDB.Positron", "need a token; give a URL that has it"),
    ],
)
def test_wrong_tiles(tmp_path: Path, tiles: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        reach(street(), [0], 60).save(tmp_path / "map.html", tiles=tiles)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["isochrone", "route"])
def test_tiles_of_other_files(tmp_path: Path, command: str) -> None:
    own = {"isochrone": ("--from", 1, "--limits", 4), "route": ("--from", 1, "--to", 2)}[command]
    where = ("--tiles", "none", "-o", tmp_path / "out.geojson", "--device", "cpu")
    with pytest.raises(InputError, match=r"tiles are the ground of \.html maps"):
        run_command(command, "road:3x3", *own, *where)


def test_tiles_of_ones_own(tmp_path: Path) -> None:
    tiles = "https://tiles.example.org/{z}/{x}/{y}.png?key=1"
    reach(street(), [0], 60).save(tmp_path / "map.html", tiles=tiles)
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    assert json.dumps(tiles) in page
    assert '"attribution": "tiles.example.org"' in page
    for words, name in (("opentopomap", "opentopomap.org"), ("OpenStreetMap", "openstreetmap.org")):
        reach(street(), [0], 60).save(tmp_path / "map.html", tiles=words)
        assert f"{name}/{{z}}/{{x}}/{{y}}" in (tmp_path / "map.html").read_text(encoding="utf-8")


def test_without_folium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    result = reach(street(), [0], 60)
    monkeypatch.setattr(optional_libraries, "import_module", absent)
    with pytest.raises(SetupError, match=r"folium, which is not installed: .*groute-py\[maps\]"):
        result.save(tmp_path / "map.html")
    monkeypatch.undo()
    monkeypatch.setattr("groute_py.maps.page.distribution", raising_at(1, print, NotInstalled()))
    with pytest.raises(SetupError, match=r"XStatic-Leaflet, which is not installed"):
        result.save(tmp_path / "map.html")


def test_frames_of_geopandas() -> None:
    geopandas = pytest.importorskip("geopandas")
    frame = reach(street(), [0, 3], 60, 90, each=True).to_geodataframe()
    assert isinstance(frame, geopandas.GeoDataFrame)
    assert (frame.crs, frame.attrs) == ("EPSG:4326", {"attribution": CREDIT})
    assert frame["limit"].tolist() == [90, 60, 90, 60]
    assert frame.is_valid.all()
    routes = groute_py.route(street(), [(0, 2), (3, 1)], paths=True, device="cpu")
    assert routes is not None
    lines = routes.to_geodataframe()
    assert lines["distance"].tolist() == [120, 120]
    assert lines.geometry[1].coords[:] == [(0.003, 0), (0.002, 0), (0.001, 0)]
    assert type(lines.explore("distance", tiles=None)).__name__ == "Map"
    plane = reach(street(coordinates=np.eye(4)[:, :2] * 1e6), [0], 60, planar=True)
    assert plane.to_geodataframe().crs is None
