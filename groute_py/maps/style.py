"""Colours that colour-blind people can tell apart, and Matplotlib, imported when it is needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.io.optional_libraries import library

LONGEST = 1600
"""Pixels of a picture's longer side."""

WIDTH_IN = 8.0
"""Inches of the longer side, to which the sizes of letters relate."""

NETWORK, FAINT, LETTERS, NOTES = "#c9c9c9", "#dedede", "#222222", "#555555"
"""Gray for a network behind paths, for what is not reached, for text and for small text."""

BLACK, ROADS, GROUND = "#000000", "#4d4d4d", "#b9bec6"
"""Lines between parts, the arcs of a graph, and the roads beneath isochrones."""

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colours, without black and without yellow, which is faint on white."""

PARTS = (*SERIES, "#f0e442", "#999999")
"""Colours of areas."""

SCALE, TREE_SCALE = ("viridis", 0.0, 0.92), ("Blues", 0.3, 1.0)
"""Colour scales of distances and of counts, and which parts of them can be seen on white. Both get
evenly lighter or darker, also to those who see fewer colours."""

BANDS = np.array([[64, 4, 128], [176, 42, 143], [225, 100, 98], [252, 166, 54]])
"""Points of the scale "plasma", red, green and blue."""

FONT = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "svg.hashsalt": "groute-py",
}


def drawing(module: str) -> Any:
    """A module of Matplotlib; `SetupError` if it is not installed."""
    library("matplotlib", "drawing a picture", "plot")
    return library(f"matplotlib.{module}", "drawing a picture", "plot")


def styled() -> Any:
    """A block in which Matplotlib draws in the style of this project."""
    return library("matplotlib", "drawing a picture", "plot").rc_context(FONT)


def scale_of(name: str, first: float, last: float) -> Any:
    """A part of one of Matplotlib's colour scales."""
    whole = drawing("cm").ScalarMappable(cmap=name).get_cmap()
    shades = whole([first + (last - first) * step / 255 for step in range(256)])
    return drawing("colors").ListedColormap(shades, name)


def band_colours(count: int) -> list[str]:
    """Colours of so many bands, from dark, for the nearest, to light."""
    places = np.linspace(0, len(BANDS) - 1, max(count, 2))[:count]
    channels = [
        np.interp(places, range(len(BANDS)), channel).round().astype(int) for channel in BANDS.T
    ]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*channels, strict=True)]


def plain(text: str) -> str:
    """A text in which Matplotlib finds no formula."""
    return text.replace("$", r"\$")


def add_attribution(
    figure: Any, attribution: str, spot: tuple[float, float] = (0.995, 0.005), edge: str = "bottom"
) -> None:
    """Write the credit, if there is one, into a figure; its right end is at a spot."""
    if attribution:
        figure.text(*spot, plain(attribution), fontsize=6.5, color=LETTERS, ha="right", va=edge)


def number(value: float, _: object = None) -> str:
    """A number on an axis."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3g}"
