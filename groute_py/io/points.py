"""Points from ``.csv`` and ``.tsv``: a line of titles, then a point, or a pair of points, a line.

name,lon,lat                   source_lon,source_lat,target_lon,target_lat
depot,-73.99,40.73             -73.99,40.73,-73.95,40.78

The titles of coordinates are those of `groute_py.io.tables.titles.places_in`; other columns are
ignored, but for ``name``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quote
from groute_py.io.tables.titles import PlaceTitles, ends_in, places_in
from groute_py.io.text.lines import DELIMITERS, csv_rows

SUFFIX = re.compile(r"[^@,][^,]*\.[ct]sv(\.\w+)?")  # of files of points, which may be compressed

POINT_BYTES = 200  # of a point in memory, at least


class FilePoints(NamedTuple):
    """Points of a file."""

    coordinates: NDArray[np.float64]  # shape (k, 2)
    names: list[str]  # of each point; its number, from 1, without names
    titles: tuple[str, str]  # ``lon`` and ``lat``, or ``x`` and ``y``


def is_points_file(text: str) -> bool:
    """Return True if a text names a file of points rather than vertices.

    >>> is_points_file("depots.csv"), is_points_file("17,4"), is_points_file("depots.ss")
    (True, False, False)
    """
    return SUFFIX.fullmatch(text) is not None


def read_points(path: Path) -> FilePoints:
    """Read a file of points."""
    lines = _Lines(path)
    places = places_in(lines.titles)
    places = [place for place in places if not place.of] or places
    if len(places) != 1:
        lines.fail(f"expected the titles lon,lat or x,y, got {lines.shown_titles}", line=1)
    columns = [lines.column(title) for title in (places[0].x, places[0].y)]
    name = lines.column("name") if "name" in lines.titles else None
    rows: list[tuple[float, ...]] = []
    names: list[str] = []
    for fields in lines.rows():
        rows.append(lines.numbers(fields, columns))
        names.append(str(len(rows)) if name is None else fields[name].strip())
    return FilePoints(lines.stacked(rows, 2), names, _titles(places[0]))


def read_point_pairs(path: Path) -> tuple[FilePoints, FilePoints] | None:
    """Read pairs of points, sources and targets; None if its titles are not of coordinates."""
    lines = _Lines(path)
    places = [place for place in places_in(lines.titles) if place.of]
    pairs = [
        (one, other)
        for one, other in product(places, places)
        if one.kind == other.kind and ends_in([one.of, other.of]) == [(one.of, other.of)]
    ]
    if len(pairs) != 1:
        return None
    columns = [lines.column(title) for place in pairs[0] for title in (place.x, place.y)]
    rows = [lines.numbers(fields, columns) for fields in lines.rows()]
    names = [str(number + 1) for number in range(len(rows))]
    ends, titles = lines.stacked(rows, 4), _titles(pairs[0][0])
    return FilePoints(ends[:, :2], names, titles), FilePoints(ends[:, 2:], names, titles)


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

    def stacked(self, rows: list[tuple[float, ...]], width: int) -> NDArray[np.float64]:
        if not rows:
            raise InputError(f"{self._path}: has no points")
        return np.array(rows, np.float64).reshape(-1, width)

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
