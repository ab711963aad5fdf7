"""Pages with a map for a browser, by folium: a ground, layers to switch, a legend, tooltips.

A page holds Leaflet itself, so that only the tiles of its ground need a network.
"""

from __future__ import annotations

import difflib
import html
import itertools
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit

from groute_py.errors import InputError, SetupError, quote
from groute_py.graph.csr import Graph
from groute_py.io.optional_libraries import library
from groute_py.maps.geojson import Feature, collection
from groute_py.maps.sheet import SERIES

PAGE = ".html"

USUAL_TILES, NO_TILES = "OpenStreetMap", "none"

DRAWING = "drawing a map for a browser"

LEAFLET = "xstatic/pkg/leaflet/data/leaflet"
"""Leaflet of the version that folium links to, in the distribution XStatic-Leaflet."""

HEADING = """<style>.leaflet-container {{ background: #fbfbf9 }}</style>
<div style="position: fixed; z-index: 1000; left: 54px; top: 10px; max-width: 24em;
padding: 8px 12px; background: #fffffff0; border-radius: 6px; font: 13px/1.5 sans-serif">
<b style="overflow-wrap: anywhere">{}</b>{}</div>"""
ENTRY = """<br><i style="display: inline-block; width: 1.6em; height: 0.8em; margin-right: 0.5em;
background: {}"></i>{}"""

MOST_NAMED = 12  # sources that a legend names


class MapLayer(NamedTuple):
    """A layer that can be switched; each feature's property ``style`` has options of Leaflet.

    The other properties, the same ones of all features, are shown as a tooltip.
    """

    name: str
    features: list[Feature]
    is_shown: bool = True


class MapPage(NamedTuple):
    """A map for a browser, whose legend has colours and texts."""

    title: str
    layers: list[MapLayer]
    legend: list[tuple[str, str]]
    attribution: str
    planar: bool = False


def ground_layer(tiles: str | None, *, planar: bool = False) -> Any:
    """Return folium's layer of tiles, None for no ground.

    Raises:
        InputError: nobody serves such tiles without a token, or the map is of a plane.
        SetupError: folium is not installed.
    """
    folium, _ = library("folium", DRAWING, "maps"), _leaflet("js")
    if tiles == NO_TILES or (tiles is None and planar):
        return None
    if planar:
        raise InputError("tiles are of longitudes and latitudes, not of a plane; leave them out")
    name = USUAL_TILES if tiles is None else tiles
    # servers of OpenStreetMap refuse requests that do not say which site they are for
    how = {"overlay": True, "referrer_policy": "strict-origin-when-cross-origin"}
    if all(place in name for place in ("{z}", "{x}", "{y}")):
        host = html.escape(urlsplit(name).netloc)
        return folium.TileLayer(name, attr=host or "tiles", name=host or "tiles", **how)
    providers = library("xyzservices", DRAWING, "maps").providers
    names = {"openstreetmap": "OpenStreetMap.Mapnik"}
    try:
        provider = providers.query_name(names.get(name.lower(), name))
    except ValueError:
        every = [known for known, of in providers.flatten().items() if not of.requires_token()]
        near = difflib.get_close_matches(name, every, 3, 0.3) or [USUAL_TILES]
        raise InputError(
            f"tiles {quote(name)} are not known; take none, a URL with {{z}}, {{x}} and {{y}}, or "
            f"a name of xyzservices, such as {', '.join(near)}"
        ) from None
    if provider.requires_token():
        raise InputError(f"tiles {quote(name)} need a token; give a URL that has it")
    return folium.TileLayer(provider, name=provider.name, **how)


def check_tiles(path: Path, tiles: str | None, *, planar: bool = False) -> None:
    """Raise `InputError` if a file cannot be a map above such tiles."""
    if path.suffix == PAGE:
        ground_layer(tiles, planar=planar)
    elif tiles is not None:
        raise InputError(f"{path}: tiles are the ground of {PAGE} maps; leave them out")


def write_page(page: MapPage, ground: Any, file: IO[bytes]) -> None:
    """Write a page above a layer of `ground_layer`."""
    folium, branca = (library(name, DRAWING, "maps") for name in ("folium", "branca.element"))
    chart = folium.Map(
        tiles=ground,
        crs="Simple" if page.planar else "EPSG3857",
        control_scale=not page.planar,
        prefer_canvas=True,
        **{"minZoom": -30 if page.planar else 0, "maxZoom": 20},
    )
    chart.default_js = chart.default_css = []
    for layer in page.layers:
        features = [(kind, where, _escaped(row)) for kind, where, row in layer.features]
        fields = [title for title in features[0][2] if title != "style"]
        folium.GeoJson(
            collection(features),
            name=html.escape(layer.name),
            tooltip=folium.GeoJsonTooltip(fields) if fields else None,
            marker=folium.CircleMarker(radius=5, fill=True),
            show=layer.is_shown,
            attribution=html.escape(page.attribution),
        ).add_to(chart)
    chart.fit_bounds(chart.get_bounds())
    folium.LayerControl(collapsed=False).add_to(chart)
    root = chart.get_root()
    root.title = html.escape(page.title)
    entries = (ENTRY.format(colour, html.escape(text)) for colour, text in page.legend)
    heading = HEADING.format(root.title, "".join(entries))
    root.html.add_child(branca.Html(heading, script=True, width=0, height=0))
    for kind, link in (("js", branca.JavascriptLink), ("css", branca.CssLink)):
        leaflet = link(f"leaflet.{kind}")
        leaflet.code = _leaflet(kind).read_text(encoding="utf-8")
        root.header.add_child(leaflet)
    file.write(root.render(embedded=True).encode())


def _leaflet(kind: str) -> Path:
    """A file of Leaflet; `SetupError` if it is not installed."""
    try:
        return Path(str(distribution("XStatic-Leaflet").locate_file(f"{LEAFLET}.{kind}")))
    except PackageNotFoundError as error:
        raise SetupError(
            f"{DRAWING} needs XStatic-Leaflet, which is not installed: pip install "
            "XStatic-Leaflet, or groute-py[maps]"
        ) from error


def _escaped(row: dict[str, Any]) -> dict[str, Any]:
    """Properties as texts in which a browser finds no markup."""
    style = row.pop("style")
    texts = ((title, "" if value is None else str(value)) for title, value in row.items())
    return {"style": style, **{html.escape(title): html.escape(text) for title, text in texts}}


def page_of_routes(lines: Iterable[Feature], graph: Graph, *, planar: bool) -> MapPage:
    """The page of lines as `groute_py.maps.geojson.lines_of` has them, a layer for each source."""
    by_source: dict[str, list[Feature]] = {}
    for kind, where, row in lines:
        if where is not None:
            name = str(row.get("source_name") or row["source"])
            by_source.setdefault(name, []).append((kind, where, row))
    if not by_source:
        raise InputError("there is no path to draw between any source and its target")
    colours = dict(zip(by_source, itertools.cycle(SERIES)))
    for name, features in by_source.items():
        style = {"color": colours[name], "weight": 4, "fillColor": "#ffffff", "fillOpacity": 1}
        ends = [("Point", where[-1], row) for _, where, row in features]
        features[:] = [(k, where, row | {"style": style}) for k, where, row in features + ends]
    legend = [(colour, f"from {name}") for name, colour in colours.items()][:MOST_NAMED]
    layers = [MapLayer(f"from {name}", features) for name, features in by_source.items()]
    count = sum(len(layer.features) for layer in layers) // 2
    title = f"{graph.name}: {count:,} shortest path{'s' * (count > 1)}"
    return MapPage(title, layers, legend, graph.attribution, planar)
