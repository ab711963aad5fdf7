"""Trips between zones: read, checked, and sorted by origin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.matrices import read_omx
from groute_py.device.loading import Origins
from groute_py.errors import FormatError, InputError, quote, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.ids import Numbering
from groute_py.io.file_head import Head
from groute_py.io.formats.tntp import BEGINS, read_trips
from groute_py.io.text.lines import csv_rows

TITLES = {
    "origin": ("origin", "from", "o", "o_zone_id"),
    "destination": ("destination", "to", "d", "d_zone_id"),
    "trips": ("trips", "volume", "flow", "demand"),
}
"""Titles of a table of trips, in lower case."""

OMX = re.compile(r"(?s)(.*\.omx)(?::(.+))?")
"""The path of an OMX file, and the name of a matrix in it."""

ROW_BYTES = 200  # bytes of a row of trips in memory, at least, while it is read


@dataclass(frozen=True, eq=False)
class UserClass:
    """Travellers who see the same costs.

    Args:
        demand: trips as `groute_py.assign` takes them.
        factors: by column of the graph: the cost of a link is its time and, for each of these, the
            factor times the column, such as minutes for each cent of toll.
        pce: passenger car equivalents: how much a trip adds to the volume of a link.
    """

    demand: Any
    factors: Mapping[str, float] = field(default_factory=dict)
    pce: float = 1.0


@dataclass(frozen=True, eq=False)
class Trips:
    """Trips that are to be loaded."""

    origins: Origins  # by origin, in vertices
    total: float  # all trips, within zones included
    within_zones: float  # trips from a zone to itself, which are not loaded


class Classes(NamedTuple):
    """Additions of the classes of travellers to a network."""

    trips: list[Trips]  # of each class
    fixed: NDArray[np.float64]  # costs besides the time, (c, m)
    pce: NDArray[np.float64]  # (c,), the volume of a trip


def trips_of(demand: Any, graph: Graph) -> Trips:
    """Trips by origin; a `FormatError` of a file names the line."""
    ends, trips = _triples(demand, graph.numbering, graph.name)
    fine = np.isfinite(trips) & (trips >= 0)
    if not fine.all():
        place = int((~fine).argmax())
        pair = graph.numbering.ids_of(ends[:, place]).tolist()
        raise InputError(
            f"trips from {quoted(pair[0])} to {quoted(pair[1])} are {trips[place]}; give a finite "
            "number, not a negative one"
        )
    with np.errstate(over="ignore"):
        total = float(trips.sum())
    if not np.isfinite(total):
        raise InputError("trips add up to more than a number can be; look at their unit")
    within = ends[0] == ends[1]
    is_loaded = ~within & (trips > 0)
    some, amounts = ends[:, is_loaded], trips[is_loaded]
    order = np.lexsort((some[1], some[0]))
    origins, starts = np.unique(some[0, order], return_index=True)
    by_origin = Origins(
        origins, np.append(starts, len(order)).astype(np.int64), some[1, order], amounts[order]
    )
    return Trips(by_origin, total, float(trips[within].sum()))


def _triples(
    demand: Any, numbering: Numbering, graph: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Origins and destinations as vertices, shape (2, k), and trips, shape (k,)."""
    if isinstance(demand, str | Path) and (omx := OMX.fullmatch(str(demand))):
        ids, matrix = read_omx(Path(omx[1]), omx[2])
        if ids is None:
            return _triples(matrix, numbering, graph)
        places = np.nonzero(matrix)
        named = [[ids[place] for place in some.tolist()] for some in places]
        return _vertices(named, numbering, graph), matrix[places]
    if isinstance(demand, str | Path):
        ids, trips = _read(Path(demand))
        return _vertices(ids, numbering, graph), trips
    if isinstance(demand, tuple) and len(demand) == 3:
        *ends, trips = (np.asarray(part) for part in demand)
        if not ends[0].shape == ends[1].shape == trips.shape or trips.ndim != 1:
            raise InputError("origins, destinations and trips are three lists of one length")
        return _vertices([part.tolist() for part in ends], numbering, graph), _amounts(trips)
    if (matrix := np.asarray(demand)).ndim == 2 and matrix.shape[0] == matrix.shape[1]:
        if len(matrix) > numbering.count:
            raise InputError(
                f"{len(matrix):,} zones, but {quoted(graph)} has {numbering.count:,} vertices"
            )
        values = _amounts(matrix)
        places = np.nonzero(values)
        return np.stack(places).astype(np.int64), values[places]
    raise InputError(
        "trips are a file, three lists (origins, destinations, trips), or a square matrix of zones"
    )


def _amounts(trips: NDArray[Any]) -> NDArray[np.float64]:
    if trips.dtype.kind not in "iufb":
        raise InputError(f"trips are numbers, not {trips.dtype}")
    return trips.astype(np.float64)


def _vertices(ids: list[list[Any]], numbering: Numbering, graph: str) -> NDArray[np.int64]:
    ends = [
        numbering.indices_of(some, role, graph)
        for some, role in zip(ids, ("origin", "destination"), strict=True)
    ]
    return np.stack(ends)


def _read(path: Path) -> tuple[list[list[Any]], NDArray[np.float64]]:
    """Ids of origins and destinations, and trips."""
    if BEGINS.match(Head(path).text):
        table = read_trips(path)
        return [table.origins.tolist(), table.destinations.tolist()], table.flows
    if not {".csv", ".tsv"} & set(path.suffixes):
        raise InputError(
            f"{path}: unknown suffix {quote(path.suffix)}; trips are .tntp .csv .tsv .omx"
        )
    rows = csv_rows(path, "trips", ROW_BYTES, "\t" if ".tsv" in path.suffixes else ",;")
    line, titles = next(rows, (1, []))
    columns = _columns(path, [title.strip().lower() for title in titles], line)
    ids: list[list[Any]] = [[], []]
    trips: list[float] = []
    for line, row in rows:
        if not row:
            continue
        try:
            values = [row[column].strip() for column in columns]
            trips.append(float(values[2]))
        except (IndexError, ValueError):
            problem = f"expected an origin, a destination and trips, got {quote(','.join(row))}"
            raise FormatError(path, problem, line=line) from None
        ids[0].append(values[0])
        ids[1].append(values[1])
    return ids, np.array(trips, np.float64)


def _columns(path: Path, titles: list[str], line: int) -> list[int]:
    """The columns of the roles, in their order."""
    columns = []
    for role, choices in TITLES.items():
        places = [place for place, title in enumerate(titles) if title in choices]
        if len(places) != 1:
            problem = (
                f"expected one column {role} of {', '.join(choices)}; got {quote(','.join(titles))}"
            )
            raise FormatError(path, problem, line=line)
        columns.extend(places)
    return columns
