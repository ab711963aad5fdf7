"""A map with its title above and its legend below, pixel by pixel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.maps.raster import Frame
from groute_py.maps.style import LETTERS, WIDTH_IN, add_attribution, drawing, number, scale_of

TOP, BOTTOM, SIDE, LEAST_WIDTH = 0.085, 0.1, 0.025, 0.75
"""Title, legend and margins, and how narrow a picture may be, by the longer side of the map."""

LABEL = 14
"""Points from a marked place to the upper edge of its name above it."""


class Sheet:
    """A figure on which a map fills its frame.

    Args:
        frame: of the map.
        title: what is drawn.
        note: a second line, in smaller letters.

    Attributes:
        title: as given.
        figure: of Matplotlib.
    """

    def __init__(self, frame: Frame, title: str, note: str) -> None:
        self.title = title
        longest = max(frame.width, frame.height)
        width = max(frame.width + 2 * SIDE * longest, LEAST_WIDTH * longest)
        height = frame.height + (TOP + BOTTOM) * longest
        inch = longest / WIDTH_IN
        self._frame, self._size = frame, (width, height)
        self.figure = drawing("figure").Figure(figsize=(width / inch, height / inch), dpi=inch)
        self._axes = self.figure.add_axes(
            (
                (width - frame.width) / 2 / width,
                BOTTOM * longest / height,
                frame.width / width,
                frame.height / height,
            )
        )
        self._axes.set_axis_off()
        self._axes.set_xlim(-0.5, frame.width - 0.5)
        self._axes.set_ylim(-0.5, frame.height - 0.5)
        left = SIDE * longest / width
        for text, below, size, color in ((title, 0.035, 13, LETTERS), (note, 0.066, 9, "#555555")):
            at = 1 - below * longest / height
            self.figure.text(left, at, text, fontsize=size, color=color, va="baseline")

    def add_attribution(self, attribution: str) -> None:
        """Write below the map, above its legend, whom to name, if anybody."""
        width, height = self._size
        longest = max(self._frame.width, self._frame.height)
        spot = 1 - SIDE * longest / width, (BOTTOM - 0.003) * longest / height
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
        self,
        values: NDArray[np.float64],
        scale: tuple[str, float, float],
        label: str,
        *,
        log: bool,
    ) -> None:
        """Put values onto the map, and their colour scale below it.

        Args:
            values: shape (height, width); NaN for none.
            scale: as `scale_of` takes it.
            label: what the values are, with their unit.
            log: whether equal steps of colour are equal factors.
        """
        colors = drawing("colors")
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        high = high if high > low else low + 1
        norm = (colors.LogNorm if log else colors.Normalize)(low, high)
        mapped = drawing("cm").ScalarMappable(norm, scale_of(*scale))
        image = mapped.to_rgba(np.ma.masked_invalid(values))
        image[np.isnan(values)] = 0
        self.image(image)
        bar = self.figure.colorbar(
            mapped, cax=self._strip(), orientation="horizontal", format=number
        )
        bar.set_label(label, fontsize=9, color=LETTERS)
        bar.ax.tick_params(labelsize=8, length=3)
        bar.ax.minorticks_off()
        bar.outline.set_visible(False)

    def legend(self, entries: list[tuple[str, str]]) -> None:
        """Name colours below the map, as (colour, text)."""
        patch = drawing("patches").Patch
        patches = [patch(color=color, label=text) for color, text in entries]
        self.figure.legend(
            handles=patches,
            loc="lower center",
            ncols=min(len(patches), 4),
            frameon=False,
            fontsize=9,
        )

    def line(self, spots: NDArray[np.float64], color: str) -> None:
        """Draw a line through places in pixels, on a white edge."""
        for width, shade in ((4.5, "white"), (2.2, color)):
            self._axes.plot(
                spots[:, 0], spots[:, 1], color=shade, linewidth=width, solid_joinstyle="round"
            )

    def mark(self, spot: NDArray[np.float64], text: str, color: str, shape: str) -> None:
        """Mark a place in pixels, and name it on the side where there is room."""
        self._axes.plot(
            *spot, shape, color=color, markersize=7, markeredgecolor="white", clip_on=False
        )
        is_right = spot[0] > 0.75 * self._frame.width
        above = LABEL * self.figure.dpi / 72
        is_high = spot[1] + above > self._frame.height  # the second line of the title is there
        self._axes.annotate(
            text,
            spot,
            xytext=(-8 if is_right else 8, -4 if is_high else 4),
            textcoords="offset points",
            ha="right" if is_right else "left",
            va="top" if is_high else "baseline",
            fontsize=9,
            color=LETTERS,
            path_effects=[drawing("patheffects").withStroke(linewidth=3, foreground="white")],
        )

    def _strip(self) -> Any:
        width, height = self._size
        longest = max(self._frame.width, self._frame.height)
        strip = 0.6 * width
        return self.figure.add_axes(
            (0.2, 0.068 * longest / height, strip / width, 0.013 * longest / height)
        )
