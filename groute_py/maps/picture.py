"""A PNG of a map, drawn by Matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from groute_py.io.optional_libraries import library
from groute_py.maps.areas import Polygon
from groute_py.maps.colours import ROADS
from groute_py.maps.isochrone_map import Layer, Sheet
from groute_py.system.atomic_file import replacing, translating_errors

INCHES, HEAD_INCHES, DOTS_AN_INCH = 9.0, 0.3, 160
"""Of the longer side, and of the title above."""

NARROWEST = 0.4
"""Of the longer side, that the shorter one has at least."""

DRAWING = "drawing a picture"


def write_picture(sheet: Sheet, path: Path) -> None:
    """Write the picture of a map.

    Raises:
        RunError: the disk is full, or fails.
        InputError: no file can be written there.
        SetupError: Matplotlib is not installed.
    """
    figure = figure_of(sheet)
    with translating_errors(path), replacing(path) as file:
        figure.savefig(file, format="png", dpi=DOTS_AN_INCH)


def figure_of(sheet: Sheet) -> Any:
    """The map as a figure of Matplotlib."""
    figures: Any = library("matplotlib.figure", DRAWING, "maps")
    size = np.maximum((sheet.high - sheet.low) / (sheet.high - sheet.low).max(), NARROWEST)
    width, height = size * INCHES
    figure = figures.Figure(figsize=(width, height + HEAD_INCHES))
    axes = figure.add_axes((0.005, 0.005, 0.99, height / (height + HEAD_INCHES) - 0.005))
    axes.set(xlim=(sheet.low[0], sheet.high[0]), ylim=(sheet.low[1], sheet.high[1]))
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.set_title(sheet.title.replace("$", r"\$"), fontsize=10, loc="left")
    _add_lines(axes, sheet.roads, ROADS, 0.3)
    for band in reversed(range(len(sheet.labels))):  # the nearest on top
        for layer in sheet.layers:
            _add_area(axes, layer, band, sheet.colours[band])
    for band in reversed(range(len(sheet.labels))):
        for layer in sheet.layers:
            _add_lines(axes, layer.lines[band], sheet.colours[band], 0.6)
    for layer in sheet.layers:
        axes.plot(*layer.sources.T, "o", color="white", markeredgecolor="black", markersize=5)
    handles = [
        library("matplotlib.patches", DRAWING, "maps").Patch(color=colour, label=f"within {label}")
        for label, colour in zip(sheet.labels, sheet.colours, strict=True)
    ]
    axes.legend(handles=handles, loc="upper right", fontsize=8, framealpha=0.9)
    if sheet.attribution:
        axes.annotate(
            sheet.attribution.replace("$", r"\$"),
            *((1, 0), (-4, 4)),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            fontsize=6,
        )
    return figure


def _add_area(axes: Any, layer: Layer, band: int, colour: str) -> None:
    """Fill the area of a band, without that inside of it."""
    patches: Any = library("matplotlib.patches", DRAWING, "maps")
    area, inner = layer.areas[band], layer.areas[band - 1] if band else []
    if area:
        shape = _outline(area, inner)
        axes.add_patch(patches.PathPatch(shape, facecolor=colour, alpha=0.35, linewidth=0))


def _add_lines(axes: Any, lines: Any, colour: str, width: float) -> None:
    collections: Any = library("matplotlib.collections", DRAWING, "maps")
    drawn = collections.LineCollection(lines, colors=colour, linewidths=width, capstyle="round")
    axes.add_collection(drawn, autolim=False)


def _outline(area: list[Polygon], inner: list[Polygon]) -> Any:
    """An area without that inside of it, as one path.

    Holes turn the other way than outer rings, and so does all of the inner area: they stay empty.
    """
    paths: Any = library("matplotlib.path", DRAWING, "maps")
    rings = [ring for polygon in area for ring in polygon]
    rings += [ring[::-1] for polygon in inner for ring in polygon]
    codes = np.concatenate([_codes(len(ring), paths.Path) for ring in rings])
    return paths.Path(np.concatenate(rings), codes)


def _codes(count: int, path: Any) -> Any:
    codes = np.full(count, path.LINETO)
    codes[0], codes[-1] = path.MOVETO, path.CLOSEPOLY
    return codes
