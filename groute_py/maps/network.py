"""The pixels of a network: arcs where they can be seen, else vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.shapes import Shapes
from groute_py.maps.bends import parts_of
from groute_py.maps.raster import (
    Arcs,
    Floats,
    Frame,
    mean_of_arcs,
    mean_of_points,
    most_of_arcs,
    most_of_points,
)

LINES_UP_TO = 1 << 22
"""Vertices up to which arcs are drawn; with more, the vertices cover the picture."""

COARSEST = 60
"""Pixels of the longer side, however few vertices there are without arcs."""


class Network:
    """The vertices of a graph and the arcs that are drawn between them.

    Args:
        places: float64, shape (n, 2).
        arcs: None where none are known.
        longest: pixels of the longer side.
        shapes: of the arcs, in their order; None for straight arcs.
        planar: whether places lie on a plane; else their numbers decide.

    Attributes:
        places, arcs: as given; no arcs where they would not be seen, or take too long.
        frame: of the picture.
    """

    def __init__(
        self,
        places: Floats,
        arcs: Arcs | None,
        longest: int,
        shapes: Shapes | None = None,
        *,
        planar: bool = False,
    ) -> None:
        self.places = places
        self.frame = Frame.around(places, longest, planar=planar)
        self.arcs = None
        if arcs is not None and len(places) <= LINES_UP_TO:
            self._parts = parts_of(places, arcs, shapes)
            self.frame = Frame.around(self._parts.points, longest, planar=planar)
            are_drawn = self._parts.lines.fit(self.frame, self._parts.points)
            self.arcs = arcs if are_drawn else None
        apart = np.sqrt(self.frame.width * self.frame.height / max(len(places), 1))
        self._thick = int(np.clip(apart / 5, 1, longest / 200 + 1))
        side = np.clip(longest / max(apart, 1), min(COARSEST, longest), longest)
        self._coarse = Frame.around(
            places, int(side), planar=planar
        )  # so that vertices without arcs touch

    def mean(self, values: Floats, known: NDArray[np.bool_]) -> Floats:
        """The mean of known values of vertices in each pixel; NaN where there is none.

        Args:
            values, known: shape (n,).
        """
        if self.arcs is None:
            some = slice(None) if known.all() else known
            return self._enlarged(mean_of_points(self._coarse, self.places[some], values[some]))
        parts, scale = self._parts, self.frame.scale
        drawn = (known[self.arcs.tails] & known[self.arcs.heads])[parts.arcs]
        lines = Arcs(parts.lines.tails[drawn], parts.lines.heads[drawn])
        values = parts.at_points(values, self.arcs, scale)
        return mean_of_arcs(self.frame, parts.points, lines, values, self._thick)

    def most(self, of_arcs: Floats, of_vertices: Floats) -> Floats:
        """The greatest value in each pixel; NaN where there is none.

        Args:
            of_arcs: of the arcs, where they are drawn; −1 for no value.
            of_vertices: likewise, shape (n,), where these are.
        """
        if self.arcs is None:
            return self._enlarged(most_of_points(self._coarse, self.places, of_vertices))
        parts, of_lines = self._parts, of_arcs[self._parts.arcs]
        return most_of_arcs(self.frame, parts.points, parts.lines, of_lines, self._thick)

    def covered(self) -> NDArray[np.bool_]:
        """The pixels of the network; bool, shape (height, width)."""
        zeros = np.zeros(0 if self.arcs is None else len(self.arcs.tails))
        return ~np.isnan(self.most(zeros, np.zeros(len(self.places))))

    def around(self, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The pixels of some vertices; bool, shape (height, width)."""
        found = most_of_points(self._coarse, self.places, np.where(which, 0.0, -1.0))
        return self._enlarged(~np.isnan(found))

    def _enlarged(self, image: NDArray[Any]) -> NDArray[Any]:
        """An image of the frame's size, made of larger squares where vertices are few."""
        rows = np.arange(self.frame.height) * image.shape[0] // self.frame.height
        columns = np.arange(self.frame.width) * image.shape[1] // self.frame.width
        return image[np.ix_(rows, columns)]
