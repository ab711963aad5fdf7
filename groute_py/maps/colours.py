"""A colour for each of several bands: from dark, for the nearest, to light."""

from __future__ import annotations

import numpy as np

ANCHORS = np.array([[64, 4, 128], [176, 42, 143], [225, 100, 98], [252, 166, 54]])
"""Of the map "plasma", which is as clear to those who do not see all colours."""

ROADS = "#b9bec6"
"""Of what is out of reach."""


def colours(count: int) -> list[str]:
    """The colours of so many bands.

    >>> colours(2)
    ['#400480', '#fca636']
    """
    places = np.linspace(0, len(ANCHORS) - 1, max(count, 2))[:count]
    channels = [
        np.interp(places, range(len(ANCHORS)), channel).round().astype(int) for channel in ANCHORS.T
    ]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*channels, strict=True)]
