"""Points from ``.geojson``; or from ``.csv`` and ``.tsv``, a point or a pair of points a line.

name,lon,lat                   source_lon,source_lat,target_lon,target_lat
depot,-73.99,40.73             -73.99,40.73,-73.95,40.78

The titles of coordinates are those of `groute_py.io.tables.titles.places_in`; other columns, such
as ``name``, are attributes of the points, as are properties of GeoJSON's features.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quote
from groute_py.io.compression import refuse_pipes
from groute_py.io.tables.titles import PlaceTitles, ends_in, places_in
from groute_py.io.text.lines import DELIMITERS, csv_rows
from groute_py.io.untrusted import json_object
from groute_py.system.memory_limits import check_room

SUFFIX = re.compile(r"[^@,][^,]*\.([ct]sv(\.\w+)?|geojson)")  # .csv may be compressed

PLACE = r"[+-]?\d+\.\d*,[+-]?\d+(\.\d*)?|[+-]?\d+,[+-]?\d+\.\d*"  # no ids: it has a decimal point
PLACES = re.compile(f"({PLACE})(;({PLACE}))*")

POINT_BYTES = 200  # of a point in memory, at least

JSON_BYTES = 8  # of a byte of JSON in memory

GREAT = 1e300  # no coordinate is


class FilePoints(NamedTuple):
    """Points of a file."""

    coordinates: NDArray[np.float64]  # shape (k, 2)
    titles: tuple[str, str] | None  # ``lon`` and ``lat``, or ``x`` and ``y``; None where unsaid
    attributes: dict[str, NDArray[Any]]  # by titles, shape (k,)

    @property
    def names(self) -> list[str]:
        """The name of each point; its number, from 1, where they have none."""
        return [str(name) for name in self.attributes["name"].tolist()]


class PointPairs(NamedTuple):
    """Pairs of points of a file, and attributes of the pairs by titles."""

    sources: FilePoints
    targets: FilePoints
    attributes: dict[str, NDArray[Any]]


def is_points_file(text: str) -> bool:
    """Return True if a text names a file of points rather than vertices.

    >>> is_points_file("depots.csv"), is_points_file("17,4"), is_points_file("depots.ss")
    (True, False, False)
    """
    return SUFFIX.fullmatch(text) is not None


def points_in(text: str) -> FilePoints | None:
    """Return points ``lon,lat;lon,lat`` of a command line, or ``x,y``; None for other texts.

    >>> points_in("24.94,60.17").coordinates.tolist(), points_in("24,60"), points_in("@ids")
    ([[24.94, 60.17]], None, None)
    """
    if not PLACES.fullmatch(text):
        return None
    words = text.split(";")
    coordinates = np.array([word.split(",") for word in words], np.float64)
    return FilePoints(coordinates, None, {"name": np.array(words, object)})


def read_points(path: Path) -> FilePoints:
    """Read a file of points."""
    if path.suffix == ".geojson":
        return _of_features(path)
    lines = _Lines(path)
    places = places_in(lines.titles)
    places = [place for place in places if not place.of] or places
    if len(places) != 1:
        lines.fail(f"expected the titles lon,lat or x,y, got {lines.shown_titles}", line=1)
    columns = [lines.column(title) for title in (places[0].x, places[0].y)]
    return _named(*lines.table(columns), _titles(places[0]))


def _named(
    points: NDArray[np.float64], attributes: dict[str, NDArray[Any]], titles: tuple[str, str] | None
) -> FilePoints:
    if "name" not in attributes:
        attributes = {"name": np.arange(1, len(points) + 1), **attributes}
    return FilePoints(points, titles, attributes)


def _of_features(path: Path) -> FilePoints:
    """Read the points of a ``FeatureCollection`` (RFC 7946), and their properties."""
    refuse_pipes(path)
    try:
        check_room(JSON_BYTES * path.stat().st_size, f"{path}: its points")
        features = json_object(path.read_bytes()).get("features")
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from error
    except ValueError as problem:
        raise FormatError(path, f"is no GeoJSON: {problem}") from problem
    if not isinstance(features, list):
        raise FormatError(path, "expected a FeatureCollection of points")
    if not features:
        raise InputError(f"{path}: has no points")
    points = [_point_of(path, *item) for item in enumerate(features, 1)]
    rows = [feature.get("properties") for feature in features]
    rows = [row if isinstance(row, dict) else {} for row in rows]
    titles = dict.fromkeys(title for row in rows for title in row)
    attributes = {_utf_8(title): _scalars([row.get(title) for row in rows]) for title in titles}
    return _named(np.array(points, np.float64), attributes, None)


def _point_of(path: Path, number: int, feature: Any) -> tuple[float, float]:
    """The coordinates of a feature, of which a height is left out."""
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    if isinstance(geometry, dict) and geometry.get("type") == "Point":
        place = geometry.get("coordinates")
        if isinstance(place, list) and len(place) in (2, 3) and all(map(_is_place, place)):
            return float(place[0]), float(place[1])
    raise FormatError(path, f"feature {number} is no Point of two numbers")


def _is_place(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < GREAT


def _scalars(values: list[Any]) -> NDArray[Any]:
    """Values of a property: numbers, if all are; else text, and None for null."""
    if all(type(value) in (int, float) for value in values):
        kind = np.int64 if all(type(value) is int for value in values) else np.float64
        if kind is np.float64 or all(abs(value) < 2**63 for value in values):
            return np.array(values, kind)
    texts = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return np.array([None if text is None else _utf_8(text) for text in texts], object)


def _utf_8(text: str) -> str:
    """A text without halves of characters, which JSON can have."""
    return text.encode(errors="replace").decode()


def read_point_pairs(path: Path) -> PointPairs | None:
    """Read pairs of points; None if the titles are not of coordinates."""
    lines = _Lines(path)
    places = [place for place in places_in(lines.titles) if place.of]
    ends = {place.of for place in places}
    joined = {both for both in product(ends, ends) if ends_in(both) == [both]}
    pairs = [
        (one, other)
        for one, other in product(places, places)
        if one.kind == other.kind and (one.of, other.of) in joined
    ]
    if len(pairs) != 1:
        return None
    columns = [lines.column(title) for place in pairs[0] for title in (place.x, place.y)]
    points, attributes = lines.table(columns)
    titles = _titles(pairs[0][0])
    numbers = {"name": np.arange(1, len(points) + 1)}
    sides = points[:, :2], points[:, 2:]
    sources, targets = (FilePoints(side, titles, numbers) for side in sides)
    return PointPairs(sources, targets, attributes)


def _titles(place: PlaceTitles) -> tuple[str, str]:
    x, _, y = place.kind.partition(",")
    return x, y


class _Lines:
    """The lines of a file, of which the first has the titles."""

    def __init__(self, path: Path) -> None:
        self._path, self._rows = path, csv_rows(path, "points", POINT_BYTES, DELIMITERS)
        self._line, titles = next(self._rows)
        self.titles = [title.strip() for title in titles]

    @property
    def shown_titles(self) -> str:
        return quote(",".join(self.titles))

    def column(self, title: str) -> int:
        if self.titles.count(title) > 1:
            self.fail(f"has two columns {title}", line=1)
        return self.titles.index(title)

    def rows(self) -> Iterator[list[str]]:
        """The lines behind the titles that are not blank."""
        for line, fields in self._rows:
            self._line = line
            if not fields:
                continue
            if len(fields) != len(self.titles):
                self.fail(f"expected {len(self.titles)} fields, got {len(fields)}")
            yield fields

    def numbers(self, fields: list[str], columns: list[int]) -> tuple[float, ...]:
        """The coordinates of a line."""
        return tuple(self._number(fields[column], self.titles[column]) for column in columns)

    def table(self, columns: list[int]) -> tuple[NDArray[np.float64], dict[str, NDArray[Any]]]:
        """The coordinates of all lines, of some columns, and the other columns by their titles."""
        others = [
            self.column(title)
            for place, title in enumerate(self.titles)
            if title and place not in columns
        ]
        numbers: list[tuple[float, ...]] = []
        texts: list[list[str]] = [[] for _ in others]
        for fields in self.rows():
            numbers.append(self.numbers(fields, columns))
            for values, column in zip(texts, others, strict=True):
                values.append(fields[column].strip())
        if not numbers:
            raise InputError(f"{self._path}: has no points")
        attributes = {
            self.titles[column]: _values(texts[place]) for place, column in enumerate(others)
        }
        return np.array(numbers, np.float64), attributes

    def fail(self, problem: str, line: int | None = None) -> None:
        raise FormatError(self._path, problem, line=line or self._line)

    def _number(self, field: str, title: str) -> float:
        try:
            number = float(field)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"expected a number as {title}, got {quote(field)}")
        return number


def _values(texts: list[str]) -> NDArray[Any]:
    """Texts as numbers, if all of them are written as these are; else as they are.

    >>> _values(["7", "12"]).dtype.kind, _values(["007", "12"]).tolist(), _values(["0.5", "2.0"])
    ('i', ['007', '12'], array([0.5, 2. ]))
    """
    for kind in (int, float):
        try:
            values = [kind(text) for text in texts]
        except ValueError:
            continue
        is_exact = [str(value) for value in values] == texts
        if is_exact and all(abs(value) < 2**63 for value in values):
            return np.array(values)
    return np.array(texts, object)
