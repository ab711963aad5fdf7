"""The ways of a profile and the places of their nodes, read from an extract by pyosmium."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, GrouteError, quoted
from groute_py.io.formats.osm.profiles import Profile
from groute_py.io.formats.osm.tags import is_blocked, speeds_of
from groute_py.io.optional_libraries import library
from groute_py.io.text.lines import Progress
from groute_py.system.memory_limits import CHECKED_EVERY, check_room

FILTER_BITS = 25
"""Pyosmium's filter of ids has a bit for each of 2 to this power, for every group with a member."""


class Ways(NamedTuple):
    """The ways that a profile may take.

    Attributes:
        refs: int64, the ids of the nodes of one way after another.
        starts: int64, shape (ways + 1,), where each way begins in ``refs``.
        speeds: float64, shape (ways, 2): km/h along and against each; 0 where that is closed.
    """

    refs: NDArray[np.int64]
    starts: NDArray[np.int64]
    speeds: NDArray[np.float64]


class Nodes(NamedTuple):
    """Nodes that are there and may be passed.

    Attributes:
        ids: int64, shape (k,), ascending.
        places: float64, shape (k, 2): longitudes and latitudes in degrees.
    """

    ids: NDArray[np.int64]
    places: NDArray[np.float64]


def ways_in(path: Path, form: str, profile: Profile) -> Ways:
    """Read the ways.

    Args:
        path: the extract.
        form: as pyosmium calls its format.
        profile: who travels.

    Raises:
        FormatError: the file is damaged.
        SetupError: pyosmium is not installed.
    """
    osmium = _osmium()
    refs, starts, speeds = array("q"), array("q", [0]), array("d")
    with _refusing(path, osmium):
        ways = _objects(osmium, path, form, osmium.osm.WAY)
        for number, way in enumerate(ways.with_filter(osmium.filter.KeyFilter("highway"))):
            if number % CHECKED_EVERY == 0:
                check_room(refs.itemsize * len(refs), f"{path}: {number:,} ways")
            if (found := speeds_of(dict(way.tags), profile)) is not None:
                refs.extend(node.ref for node in way.nodes)
                starts.append(len(refs))
                speeds.extend(found)
    return Ways(np.array(refs), np.array(starts), np.array(speeds).reshape(-1, 2))


def nodes_in(path: Path, form: str, profile: Profile, wanted: NDArray[np.int64]) -> Nodes:
    """Read the nodes of some ids, int64, ascending; arguments and errors are as of `ways_in`.

    Drafts, as of JOSM, have negative ids, which pyosmium's filter does not take. They are looked up
    one by one in a pass of their own.
    """
    osmium = _osmium()
    ids, places = array("q"), array("d")
    drafts, wanted = set(wanted[wanted <= 0].tolist()), wanted[wanted > 0]
    if len(wanted):
        chunks = len(np.unique(wanted >> FILTER_BITS)) << FILTER_BITS - 3
        check_room(chunks + 8 * int(wanted[-1] >> FILTER_BITS), f"{path}: a filter of its ids")

    def take(nodes: Iterable[Any]) -> None:
        for node in nodes:
            location = node.location
            if location.valid() and not (node.tags and is_blocked(dict(node.tags), profile)):
                ids.append(node.id)
                places.extend((location.lon, location.lat))

    with _refusing(path, osmium):
        nodes = _objects(osmium, path, form, osmium.osm.NODE)
        take(nodes.with_filter(osmium.filter.IdFilter(wanted.tolist())))
        if drafts:
            every = _objects(osmium, path, form, osmium.osm.NODE)
            take(node for node in every if node.id in drafts)
    found, first = np.unique(np.array(ids, np.int64), return_index=True)
    return Nodes(found, np.array(places, np.float64).reshape(-1, 2)[first])


def report(progress: Progress | None, path: Path, share: float) -> None:
    """Call ``progress``, if there is one, with a share of the file."""
    if progress is not None:
        size = path.stat().st_size
        progress(int(share * size), size)


def _osmium() -> Any:
    return library("osmium", "reading OpenStreetMap", extra="osm")


def _objects(osmium: Any, path: Path, form: str, kind: Any) -> Any:
    return osmium.FileProcessor(osmium.io.File(str(path), form), kind)


@contextmanager
def _refusing(path: Path, osmium: Any) -> Iterator[None]:
    """What pyosmium raises is damage, and an error that names the file."""
    try:
        yield
    except (GrouteError, MemoryError):
        raise
    except (RuntimeError, ValueError, OverflowError, osmium.InvalidLocationError) as problem:
        raise FormatError(path, f"damaged OpenStreetMap file: {quoted(problem)}") from problem
