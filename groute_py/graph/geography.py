"""Coordinates of the vertices of a graph, and their credit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

OPENSTREETMAP = "© OpenStreetMap contributors, ODbL"
"""The credit for data of OpenStreetMap."""


EARTH_RADIUS_M = 6_371_008.8
"""The mean radius of the Earth, of the sphere on which distances are measured."""


class Geography(NamedTuple):
    """Coordinates and attribution of a graph, which results take."""

    coordinates: NDArray[np.float64] | None = None
    attribution: str = ""
