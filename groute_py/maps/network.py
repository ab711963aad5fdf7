"""The pixels of a network: arcs where they can be seen, else vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.shapes import Shapes
from groute_py.maps.lines import Floats, Ground, segments_of
from groute_py.maps.pieces import Pieces
from groute_py.maps.raster import (
    Frame,
    mean_of_lines,
    mean_of_points,
    most_of_lines,
    most_of_points,
    stretch_of,
)

LINES_UP_TO = 1 << 22
"""Vertices up to which arcs are drawn; with more, the vertices cover the picture."""

COARSEST = 60
"""Pixels of the longer side, however few vertices there are without arcs."""


class Network:
    """The vertices of a graph and the arcs between them; None where arcs would not be seen."""

    def __init__(
        self,
        places: Floats,
        arcs: Pieces | None,
        longest: int,
        shapes: Shapes | None = None,
        *,
        planar: bool = False,
    ) -> None:
        stretch = 1.0 if planar else stretch_of(places)
        self.places, self.arcs = places, None
        self.frame = Frame.around(places, longest, stretch)
        if arcs is not None and len(places) <= LINES_UP_TO:
            self._segments = segments_of(arcs, Ground(places, shapes, (stretch, 1.0)))
            if shapes is not None:
                points = np.concatenate([places, self._segments.ends.reshape(-1, 2)])
                self.frame = Frame.around(points, longest, stretch)
            self.arcs = arcs if self.frame.can_draw(self._segments.ends) else None
        apart = np.sqrt(self.frame.width * self.frame.height / max(len(places), 1))
        self._thick = int(np.clip(apart / 5, 1, longest / 200 + 1))
        # coarse, so that vertices without arcs touch
        side = np.clip(longest / max(apart, 1), min(COARSEST, longest), longest)
        self._coarse = Frame.around(places, int(side), stretch)

    def mean(self, values: Floats, valid: NDArray[np.bool_]) -> Floats:
        """The mean of valid values of vertices, shape (n,), in each pixel; NaN without any."""
        if self.arcs is None:
            some = slice(None) if valid.all() else valid
            return self._enlarged(mean_of_points(self._coarse, self.places[some], values[some]))
        lines, shares, arcs = self._segments
        low, high = values[self.arcs.tails], values[self.arcs.heads]
        some = (valid[self.arcs.tails] & valid[self.arcs.heads])[arcs]
        arcs = arcs[some]
        along = low[arcs, np.newaxis] + (high - low)[arcs, np.newaxis] * shares[some]
        return mean_of_lines(self.frame, lines[some], along, self._thick)

    def most(self, of_arcs: Floats, of_vertices: Floats) -> Floats:
        """The greatest value in each pixel, of arcs or else of vertices; −1 is none; else NaN."""
        if self.arcs is None:
            return self._enlarged(most_of_points(self._coarse, self.places, of_vertices))
        lines, _, arcs = self._segments
        return most_of_lines(self.frame, lines, of_arcs[arcs], self._thick)

    def covered(self) -> NDArray[np.bool_]:
        """The pixels of the network; bool, shape (height, width)."""
        zeros = np.zeros(0 if self.arcs is None else len(self.arcs))
        return ~np.isnan(self.most(zeros, np.zeros(len(self.places))))

    def around(self, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The pixels of some vertices; bool, shape (height, width)."""
        spots = most_of_points(self._coarse, self.places, np.where(which, 0.0, -1.0))
        return self._enlarged(~np.isnan(spots))

    def _enlarged(self, image: NDArray[Any]) -> NDArray[Any]:
        """An image of the frame's size, made of larger squares where vertices are few."""
        rows = np.arange(self.frame.height) * image.shape[0] // self.frame.height
        columns = np.arange(self.frame.width) * image.shape[1] // self.frame.width
        return image[np.ix_(rows, columns)]
