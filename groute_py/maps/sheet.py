"""Pictures, as PNG or SVG: a map with its title above and its legend below, and what all share.

Its colours can be told apart by colour-blind people. Matplotlib is imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quote
from groute_py.io.optional_libraries import library
from groute_py.maps.raster import Frame
from groute_py.system.atomic_file import check_writable, replacing, translating_errors

LONGEST = 1600  # pixels of a picture's longer side
WIDTH_IN = 8.0  # inches of the longer side, to which the sizes of letters relate

NETWORK, FAINT, LETTERS, NOTES = "#c9c9c9", "#dedede", "#222222", "#555555"
"""Gray for a network behind paths, for what is not reached, for text and for small text."""

BLACK, ROADS, GROUND = "#000000", "#4d4d4d", "#b9bec6"
"""Lines between parts, the arcs of a graph, and the roads beneath isochrones."""

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colours, without black and without yellow, which is faint on white."""

PARTS = (*SERIES, "#f0e442", "#999999")  # colours of areas

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


FORMS: dict[str, dict[str, Any]] = {
    ".png": {"format": "png", "metadata": {"Software": None}},
    ".svg": {"format": "svg", "metadata": {"Date": None, "Creator": None}},
}
"""The way in which Matplotlib saves a picture, by suffix."""


def check_picture(path: Path) -> None:
    """Raise an error now if no picture could be saved at a path later."""
    if path.suffix not in FORMS:
        forms = ", ".join(FORMS)
        raise InputError(f"{path}: unknown suffix {quote(path.suffix)}; a picture is {forms}")
    check_writable(path)
    drawing("figure")


def save_picture(figure: Any, title: str, path: Path) -> None:
    """Write a figure of Matplotlib; the file is complete or absent."""
    form = FORMS[path.suffix]
    with translating_errors(path), replacing(path) as file:
        figure.savefig(file, **{**form, "metadata": {"Title": title, **form["metadata"]}})


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


TOP, BOTTOM, SIDE, LEAST_WIDTH = 0.085, 0.1, 0.025, 0.75
"""Title, legend and margins, and how narrow a picture may be, by the longer side of the map."""

HALF_DOT, DISTANCES = 4, (5, 16, 28, 40, 60)
"""Points: half the side of a marked place, and from there to its name along both axes."""

ACROSS, UP = {"left": 1, "right": -1, "center": 0}, {"bottom": 1, "top": -1, "center": 0}
"""The side of a place, by that of its name which is next to it."""


class Mark(NamedTuple):
    """A place in pixels and its name."""

    spot: NDArray[np.float64]
    text: str
    color: str
    shape: str


class Sheet:
    """A figure of Matplotlib on which a map fills its frame, with a note below the title."""

    def __init__(self, frame: Frame, title: str, note: str) -> None:
        self.title = title
        self._longest = max(frame.width, frame.height)
        width = max(frame.width + 2 * SIDE * self._longest, LEAST_WIDTH * self._longest)
        height = frame.height + (TOP + BOTTOM) * self._longest
        self._wide, self._tall = self._longest / width, self._longest / height
        inch = self._longest / WIDTH_IN
        self.figure = drawing("figure").Figure(figsize=(width / inch, height / inch), dpi=inch)
        self._point = self.figure.dpi / 72
        left, shares = (1 - frame.width / width) / 2, (frame.width / width, frame.height / height)
        self._axes = self.figure.add_axes((left, BOTTOM * self._tall, *shares))
        self._axes.set_axis_off()
        self._axes.set_xlim(-0.5, frame.width - 0.5)
        self._axes.set_ylim(-0.5, frame.height - 0.5)
        for text, below, size, color in ((title, 0.035, 13, LETTERS), (note, 0.066, 9, NOTES)):
            spot = SIDE * self._wide, 1 - below * self._tall
            self.figure.text(*spot, plain(text), fontsize=size, color=color, va="baseline")

    def add_attribution(self, attribution: str) -> None:
        """Write below the map, above its legend, the credit, if there is one."""
        spot = 1 - SIDE * self._wide, (BOTTOM - 0.003) * self._tall
        add_attribution(self.figure, attribution, spot, "top")

    def image(self, image: NDArray[Any]) -> None:
        """Put colours, shape (height, width, 4), onto the map."""
        self._axes.imshow(image, origin="lower", interpolation="none", aspect="auto")

    def layer(self, drawn: NDArray[np.bool_], color: str) -> None:
        """Put one colour onto some pixels."""
        image = np.zeros((*drawn.shape, 4))
        image[drawn] = drawing("colors").to_rgba(color)
        self.image(image)

    def scaled(
        self, values: NDArray[np.float64], scale: tuple[str, float, float], label: str, *, log: bool
    ) -> None:
        """Put values, shape (height, width), onto the map, and their colour scale below it.

        NaN is left empty. With ``log`` equal steps of colour are equal factors.
        """
        colors = drawing("colors")
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        high = high if high > low else low + 1
        norm = (colors.LogNorm if log else colors.Normalize)(low, high)
        mapped = drawing("cm").ScalarMappable(norm, scale_of(*scale))
        image = mapped.to_rgba(np.ma.masked_invalid(values))
        image[np.isnan(values)] = 0
        self.image(image)
        strip = self.figure.add_axes((0.2, 0.068 * self._tall, 0.6, 0.013 * self._tall))
        bar = self.figure.colorbar(mapped, cax=strip, orientation="horizontal", format=number)
        bar.set_label(label, fontsize=9, color=LETTERS)
        bar.ax.tick_params(labelsize=8, length=3)
        bar.ax.minorticks_off()
        bar.outline.set_visible(False)

    def legend(self, entries: list[tuple[str, str]]) -> None:
        """Name colours below the map, as (colour, text)."""
        patch = drawing("patches").Patch
        patches = [patch(color=color, label=text) for color, text in entries]
        columns = min(len(patches), 4)
        how = {"loc": "lower center", "ncols": columns, "frameon": False, "fontsize": 9}
        self.figure.legend(handles=patches, **how)

    def path(self, spots: NDArray[np.float64], color: str) -> None:
        """Draw a line through places in pixels, on a white edge."""
        for width, shade in ((4.5, "white"), (2.2, color)):
            self._axes.plot(*spots.T, color=shade, linewidth=width, solid_joinstyle="round")

    def edges(self, rings: list[NDArray[np.float64]], color: str, dash: float, gap: float) -> None:
        """Draw closed rings of places in pixels by dashes, whose lengths are in points."""
        style: Any = (0, (dash, gap)) if gap else "solid"
        how = {"colors": color, "linewidths": 1.2, "linestyles": [style]}
        self._axes.add_collection(drawing("collections").LineCollection(rings, **how))

    def lines(self, spots: NDArray[np.float64], color: str, width: float) -> None:
        """Draw straight lines between two places in pixels each, shape (k, 2, 2)."""
        how = {"colors": color, "linewidths": width, "capstyle": "round"}
        lines = drawing("collections").LineCollection(spots, **how)
        self._axes.add_collection(lines, autolim=False)

    def area(self, rings: list[NDArray[np.float64]], color: str) -> None:
        """Fill what lies within closed rings of places in pixels; those clockwise stay empty."""
        paths = drawing("path").Path
        codes = [paths.MOVETO, paths.LINETO, paths.CLOSEPOLY]
        kinds = [np.repeat(codes, [1, len(ring) - 2, 1]) for ring in rings]
        outline = paths(np.concatenate(rings), np.concatenate(kinds))
        how = {"facecolor": color, "alpha": 0.35, "linewidth": 0}
        self._axes.add_patch(drawing("patches").PathPatch(outline, **how))

    def dots(self, spots: NDArray[np.float64]) -> None:
        """Mark places in pixels, shape (k, 2), without names."""
        how = {"color": "white", "markeredgecolor": "black", "markersize": 5}
        self._axes.plot(*spots.T, "o", **how)

    def marks(self, marks: Sequence[Mark]) -> None:
        """Mark places, and name each where there is room: in the map, upon no place or name."""
        half = HALF_DOT * self._point
        dots = [self._axes.transData.transform(mark.spot) for mark in marks]
        boxes = [drawing("transforms").Bbox([dot - half, dot + half]) for dot in dots]
        for spot, text, color, shape in marks:
            how = {"color": color, "markersize": 7, "markeredgecolor": "white"}
            self._axes.plot(*spot, shape, clip_on=False, **how)
            boxes.append(self._name(spot, text, color, boxes))

    def _name(self, spot: NDArray[np.float64], text: str, color: str, boxes: list[Any]) -> Any:
        """Name a place, outside of some boxes as far as possible; returns the box of its name."""
        edge = [drawing("patheffects").withStroke(linewidth=3, foreground="white")]
        how = {"fontsize": 9, "color": color, "path_effects": edge}
        name, frame = self._axes.text(*spot, plain(text), **how), self._axes.get_window_extent()

        def put(side: tuple[int, tuple[str, str]]) -> Any:
            distance, (across, up) = side
            away = np.array([ACROSS[across], UP[up]]) * distance * self._point
            name.set(position=spot + away, ha=across, va=up)
            return name.get_window_extent()

        def hidden(side: tuple[int, tuple[str, str]]) -> float:
            box = put(side)
            return _area(box) - _shared(box, frame) + sum(_shared(box, one) for one in boxes)

        best = min(product(DISTANCES, product(ACROSS, UP)), key=hidden)
        box = put(best)
        if best[0] > DISTANCES[0]:
            ends = np.stack([spot, name.get_position()])
            self._axes.plot(*ends.T, color=color, linewidth=0.6, zorder=name.zorder - 0.5)
        return box


def _shared(box: Any, other: Any) -> float:
    """The area that two boxes share."""
    both = type(box).intersection(box, other)
    return 0.0 if both is None else _area(both)


def _area(box: Any) -> float:
    return float(box.width * box.height)
