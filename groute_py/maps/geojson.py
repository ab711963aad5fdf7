"""GeoJSON (RFC 7946), written feature by feature; a file is complete or absent."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.system.atomic_file import replacing, translating_errors

SUFFIX = ".geojson"

DIGITS = 7
"""Of degrees: a centimetre."""

Feature = tuple[str, Any, dict[str, Any]]
"""The type of its geometry, the coordinates of that as nested lists, and its properties. Without
coordinates it has no geometry."""


def write_features(path: Path, features: Iterable[Feature], attribution: str = "") -> None:
    """Write a collection of features, one a line.

    Args:
        path: of the file.
        features: any number.
        attribution: what the data require to be said; a member of the collection if there is any.

    Raises:
        RunError: the disk is full, or fails.
        InputError: no file can be written there.
    """
    head: dict[str, Any] = {"type": "FeatureCollection"}
    if attribution:
        head["attribution"] = attribution
    with translating_errors(path), replacing(path) as file:
        file.write(f'{json.dumps(head)[:-1]}, "features": ['.encode())
        between = "\n"
        for kind, coordinates, properties in features:
            geometry = None if coordinates is None else {"type": kind, "coordinates": coordinates}
            feature = {"type": "Feature", "properties": properties, "geometry": geometry}
            text = json.dumps(feature, allow_nan=False, separators=(",", ":"))
            file.write(f"{between}{text}".encode())
            between = ",\n"
        file.write(b"\n]}\n")


def coordinates_in(points: NDArray[np.float64], *, planar: bool) -> Any:
    """Points of the shape (…, 2) as nested lists: of degrees to a centimetre, or of a plane."""
    return (points if planar else points.round(DIGITS)).tolist()
