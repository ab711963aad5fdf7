"""A plane on which the places near some of them are drawn and measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.geography import EARTH_RADIUS_M
from groute_py.maps.places import Places


@dataclass(frozen=True)
class Plane:
    """The equirectangular projection about a centre; the plane itself for planar places.

    Longitudes are those within 180 degrees of the centre's, so that no line crosses the date line.
    """

    centre: tuple[float, float] | None  # longitude and latitude; None on a plane

    def project(self, coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Metres east and north of latitude 0, or x and y; of the shape (…, 2)."""
        if self.centre is None:
            return coordinates
        return np.radians(self.unwrapped(coordinates)) * EARTH_RADIUS_M * self.scale

    def unproject(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The coordinates of points, of the shape (…, 2)."""
        if self.centre is None:
            return points
        return np.degrees(points / (EARTH_RADIUS_M * np.array(self.scale)))

    def unwrapped(self, coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        """The coordinates, with longitudes near the centre's."""
        if self.centre is None:
            return coordinates
        turns = np.rint((coordinates[..., 0] - self.centre[0]) / 360)
        return np.stack([coordinates[..., 0] - 360 * turns, coordinates[..., 1]], axis=-1)

    @property
    def scale(self) -> tuple[float, float]:
        """The lengths of a degree of longitude and of latitude by the latter; on a plane both 1."""
        return (1.0 if self.centre is None else east_of_north(self.centre[1]), 1.0)


def east_of_north(latitude: float) -> float:
    """The length of a degree of longitude by that of one of latitude, at least 1/1000."""
    return max(float(np.cos(np.radians(latitude))), 1e-3)


def plane_of(places: Places, vertices: NDArray[np.int64]) -> Plane:
    """The plane about some vertices, at least one."""
    if places.planar:
        return Plane(None)
    some = places.coordinates[vertices]
    near = Plane((float(some[0, 0]), 0.0)).unwrapped(some)
    middle = (near.min(axis=0) + near.max(axis=0)) / 2
    return Plane((float(middle[0]), float(middle[1])))
