"""One HTML page with a map, drawn by itself: no network, no other file."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from groute_py.maps.isochrone_map import IsochroneMap, Layer
from groute_py.maps.style import GROUND

TEMPLATE = Path(__file__).with_name("page.html")

STEPS = 65_535
"""Steps of the longer side of a map: coordinates are uint16."""


def write_page(chart: IsochroneMap, file: IO[bytes]) -> None:
    """Write the page of a map."""
    side = float((chart.high - chart.low).max())
    data = {
        "title": chart.title,
        "labels": chart.labels,
        "colours": chart.colours,
        "ground": GROUND,
        "size": [round(float(x)) for x in (chart.high - chart.low) / side * STEPS],
        "unit": side / STEPS,
        "metres": chart.metres,
        "road_length": chart.road_length / side * STEPS,
        "roads": _numbers(chart, chart.roads),
        "layers": [_layer(chart, layer) for layer in chart.layers],
        "attribution": chart.attribution,
    }
    # "<" is escaped so that no name can end the script
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    page = TEMPLATE.read_text(encoding="utf-8")
    page = page.replace("TITLE", html.escape(chart.title), 1).replace('"DATA"', text, 1)
    file.write(page.encode())


def _layer(chart: IsochroneMap, layer: Layer) -> dict[str, Any]:
    areas = []
    for band in layer.areas:
        rings = [ring for polygon in band for ring in polygon]
        points = np.concatenate(rings) if rings else np.empty((0, 2))
        areas.append({"points": _numbers(chart, points), "rings": [len(ring) for ring in rings]})
    return {
        "name": layer.name,
        "sources": _numbers(chart, layer.sources),
        "lines": [_numbers(chart, lines) for lines in layer.lines],
        "areas": areas,
    }


def _numbers(chart: IsochroneMap, points: NDArray[np.float64]) -> str:
    """Points, of any shape (…, 2), as the page reads them: uint16, down from the upper left."""
    side = float((chart.high - chart.low).max())
    corner = np.array([chart.low[0], chart.high[1]])
    steps = (points - corner) / side * STEPS * np.array([1, -1])
    whole = np.clip(np.rint(steps), 0, STEPS).astype("<u2")
    return base64.b64encode(whole.tobytes()).decode("ascii")
