"""Colours that colour-blind people can tell apart, and Matplotlib, imported when it is needed."""

from __future__ import annotations

from typing import Any

from groute_py.io.optional_libraries import library

LONGEST = 1600
"""Pixels of a picture's longer side."""

WIDTH_IN = 8.0
"""Inches of the longer side, to which the sizes of letters relate."""

NETWORK, FAINT, LETTERS = "#c9c9c9", "#dedede", "#222222"
"""Gray for a network behind paths, for what is not reached, and for text."""

BLACK, ROADS = "#000000", "#4d4d4d"

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colours, without black and without yellow, which is faint on white."""

PARTS = (*SERIES, "#f0e442", "#999999")
"""Colours of areas."""

SCALE, TREE_SCALE = ("viridis", 0.0, 0.92), ("Blues", 0.3, 1.0)
"""Colour scales of distances and of counts, and which parts of them can be seen on white. Both get
evenly lighter or darker, also to those who see fewer colours."""

FONT = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "svg.hashsalt": "groute-py",
}


def drawing(module: str) -> Any:
    """A module of Matplotlib.

    Raises:
        SetupError: it is not installed.
    """
    library("matplotlib", "drawing a picture", "plot")
    return library(f"matplotlib.{module}", "drawing a picture", "plot")


def styled() -> Any:
    """A block in which Matplotlib draws in the style of this project.

    Raises:
        SetupError: it is not installed.
    """
    return library("matplotlib", "drawing a picture", "plot").rc_context(FONT)


def scale_of(name: str, first: float, last: float) -> Any:
    """A part of one of Matplotlib's colour scales."""
    whole = drawing("cm").ScalarMappable(cmap=name).get_cmap()
    shades = whole([first + (last - first) * step / 255 for step in range(256)])
    return drawing("colors").ListedColormap(shades, name)


def add_attribution(
    figure: Any, attribution: str, spot: tuple[float, float] = (0.995, 0.005), edge: str = "bottom"
) -> None:
    """Write into a figure whom to name, if anybody.

    Args:
        figure: of Matplotlib.
        attribution: the text.
        spot: where the right end of its edge lies, from (0, 0) to (1, 1).
        edge: ``top`` or ``bottom``.
    """
    if attribution:
        text = attribution.replace("$", r"\$")
        figure.text(*spot, text, fontsize=6.5, color=LETTERS, ha="right", va=edge)


def number(value: float, _: object = None) -> str:
    """A number on an axis.

    >>> number(1250000.0), number(0.25)
    ('1,250,000', '0.25')
    """
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3g}"
