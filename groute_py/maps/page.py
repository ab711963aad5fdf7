"""One HTML page with a map, drawn by itself: no network, nothing beside the file."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.maps.colours import ROADS
from groute_py.maps.isochrone_map import Layer, Sheet
from groute_py.system.atomic_file import replacing, translating_errors

TEMPLATE = Path(__file__).with_name("page.html")

STEPS = 65_535
"""Of the longer side of a map: coordinates are uint16."""


def write_page(sheet: Sheet, path: Path) -> None:
    """Write the page of a map.

    Raises:
        RunError: the disk is full, or fails.
        InputError: no file can be written there.
    """
    text = page_of(sheet)
    with translating_errors(path), replacing(path) as file:
        file.write(text.encode())


def page_of(sheet: Sheet) -> str:
    """The page of a map."""
    side = float((sheet.high - sheet.low).max())
    data = {
        "title": sheet.title,
        "labels": sheet.labels,
        "colours": sheet.colours,
        "ground": ROADS,
        "size": [round(float(x)) for x in (sheet.high - sheet.low) / side * STEPS],
        "unit": side / STEPS,
        "metres": sheet.metres,
        "road_length": sheet.road_length / side * STEPS,
        "roads": _numbers(sheet, sheet.roads),
        "layers": [_layer(sheet, layer) for layer in sheet.layers],
        "attribution": sheet.attribution,
    }
    # "<" is escaped so that no name can end the script
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    page = TEMPLATE.read_text(encoding="utf-8")
    return page.replace("TITLE", html.escape(sheet.title), 1).replace('"DATA"', text, 1)


def _layer(sheet: Sheet, layer: Layer) -> dict[str, Any]:
    areas = []
    for band in layer.areas:
        rings = [ring for polygon in band for ring in polygon]
        points = np.concatenate(rings) if rings else np.empty((0, 2))
        areas.append({"points": _numbers(sheet, points), "rings": [len(ring) for ring in rings]})
    return {
        "name": layer.name,
        "sources": _numbers(sheet, layer.sources),
        "lines": [_numbers(sheet, lines) for lines in layer.lines],
        "areas": areas,
    }


def _numbers(sheet: Sheet, points: NDArray[np.float64]) -> str:
    """Points, of any shape (…, 2), as the page reads them: uint16, down from the upper left."""
    side = float((sheet.high - sheet.low).max())
    corner = np.array([sheet.low[0], sheet.high[1]])
    steps = (points - corner) / side * STEPS * np.array([1, -1])
    whole = np.clip(np.rint(steps), 0, STEPS).astype("<u2")
    return base64.b64encode(whole.tobytes()).decode("ascii")
