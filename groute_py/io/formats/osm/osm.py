"""Extracts of OpenStreetMap, ``.osm.pbf`` and ``.osm`` (XML, also ``.gz`` and ``.bz2``).

Crossings and ends of ways are the vertices, with OSM's ids of their nodes; the chains between them
are an arc for each direction that is open to a profile. ``docs/openstreetmap.md`` has the rules.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, GrouteError, quoted
from groute_py.graph.csr import Graph
from groute_py.io.compression import CHUNK, bare_name, pieces
from groute_py.io.file_head import Head
from groute_py.io.formats.osm.profiles import Profile, profile_of
from groute_py.io.formats.osm.roads import Nodes, Ways, road_graph
from groute_py.io.formats.osm.tags import is_blocked, speeds_of
from groute_py.io.optional_libraries import library
from groute_py.io.text.lines import Progress
from groute_py.system.memory_limits import CHECKED_EVERY, check_room

RULES = 3
"""To be increased with each change of who may pass and how fast: older copies are not used."""

PBF = re.compile(rb"\0\0[\0-\x0f].\n\x09OSMHeader", re.S)
XML = re.compile(rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,400}-->\s*)?<osm[\s>]")
BEGINS = re.compile(PBF.pattern + b"|" + XML.pattern, re.S)
COMPRESSED = {None: "xml", "gzip": "xml.gz", "bzip2": "xml.bz2"}
"""Pyosmium's names of XML within a compression."""

FILTER_BITS = 25
"""Pyosmium's filter of ids has a bit for each of 2 to this power, for every group with a member."""

GREATEST_FILTERED = 1 << 40
"""Ids of OpenStreetMap are below 2 to the power of 34 in 2026."""

MARKED_DELETED = re.compile(rb"<way\s[^>]*?\baction\s*=\s*['\"]delete['\"][^>]*>")
WAY_ID = re.compile(rb"\sid\s*=\s*['\"](-?\d{1,18})['\"]")

HISTORY = "'osmium time-filter' makes an extract of a history, and 'osmium merge' one of several"


def read(head: Head, progress: Progress | None = None) -> Graph:
    """Read the roads of a profile, by default ``car``.

    It is a `FormatError` if the file is damaged, a history, in a compression that pyosmium does not
    read, or has no roads.
    """
    path, profile = head.path, profile_of(head.columns.profile)
    form = _form(head)
    _report(progress, path, 0)
    ways = _read_ways(path, form, profile)
    _report(progress, path, 0.5)
    nodes = _read_nodes(path, form, profile, np.unique(ways.refs))
    _report(progress, path, 1)
    name = re.sub(r"(\.osm)?(\.pbf)?$", "", bare_name(path)) or path.name
    return road_graph(path, name, ways, nodes)


def _form(head: Head) -> str:
    if PBF.match(head.text):
        if head.compression is not None:
            raise FormatError(
                head.path, f"is OpenStreetMap PBF within {head.compression}; unpack it"
            )
        return "pbf"
    if head.compression not in COMPRESSED:
        read = "plain, .gz and .bz2"
        raise FormatError(head.path, f"is OpenStreetMap XML in {head.compression}; {read} are read")
    return COMPRESSED[head.compression]


def _read_ways(path: Path, form: str, profile: Profile) -> Ways:
    osmium = _osmium()
    refs, starts, speeds = array("q"), array("q", [0]), array("d")
    ids, versions = array("q"), array("q")
    deleted = _marked_deleted(path) if form != "pbf" else frozenset()
    with _refusing(path, osmium):
        ways = _objects(osmium, path, form, osmium.osm.WAY)
        for number, way in enumerate(ways.with_filter(osmium.filter.KeyFilter("highway"))):
            if number % CHECKED_EVERY == 0:
                check_room(refs.itemsize * len(refs), f"{path}: {number:,} ways")
            ids.append(way.id)
            versions.append(way.version)
            if way.deleted or way.id in deleted:
                continue
            if (speed := speeds_of(dict(way.tags), profile)) is not None:
                refs.extend(node.ref for node in way.nodes)
                starts.append(len(refs))
                speeds.extend(speed)
    _refuse_versions(path, "way", np.array(ids, np.int64), np.array(versions, np.int64))
    return Ways(np.array(refs), np.array(starts), np.array(speeds).reshape(-1, 2))


def _read_nodes(path: Path, form: str, profile: Profile, refs: NDArray[np.int64]) -> Nodes:
    """Read the nodes of some ids, int64, ascending.

    Pyosmium's filter does not take negative ids, as drafts of JOSM have, and takes room for all ids
    up to the greatest. So ids outside of its range are looked up one by one in a pass of their own.
    """
    osmium = _osmium()
    ids, versions, places = array("q"), array("q"), array("d")
    is_usual = (refs > 0) & (refs < GREATEST_FILTERED)
    others, refs = set(refs[~is_usual].tolist()), refs[is_usual]
    if len(refs):
        chunks = len(np.unique(refs >> FILTER_BITS)) << FILTER_BITS - 3
        check_room(chunks + 8 * int(refs[-1] >> FILTER_BITS), f"{path}: a filter of its ids")

    def take(nodes: Iterable[Any]) -> None:
        for node in nodes:
            location = node.location
            if not location.valid() or node.deleted:
                continue
            if not (node.tags and is_blocked(dict(node.tags), profile)):
                ids.append(node.id)
                versions.append(node.version)
                places.extend((location.lon, location.lat))

    with _refusing(path, osmium):
        nodes = _objects(osmium, path, form, osmium.osm.NODE)
        take(nodes.with_filter(osmium.filter.IdFilter(refs.tolist())))
        if others:
            every = _objects(osmium, path, form, osmium.osm.NODE)
            take(node for node in every if node.id in others)
    _refuse_versions(path, "node", np.array(ids, np.int64), np.array(versions, np.int64))
    unique, first = np.unique(np.array(ids, np.int64), return_index=True)
    return Nodes(unique, np.array(places, np.float64).reshape(-1, 2)[first])


def _marked_deleted(path: Path) -> frozenset[int]:
    """Read the ids of ways that an editor such as JOSM will delete; pyosmium ignores the mark."""
    ids, rest = set(), b""
    for piece, _ in pieces(path):
        text = rest + piece
        end = text.rfind(b">") + 1
        if b"delete" in text:
            for mark in MARKED_DELETED.finditer(text, 0, end):
                if (number := WAY_ID.search(mark[0])) is not None:
                    ids.add(int(number[1]))
        rest = text[end:][-CHUNK:]
    return frozenset(ids)


def _refuse_versions(
    path: Path, kind: str, ids: NDArray[np.int64], versions: NDArray[np.int64]
) -> None:
    order = np.lexsort((versions, ids))
    ids, versions = ids[order], versions[order]
    differ = np.flatnonzero((ids[1:] == ids[:-1]) & (versions[1:] != versions[:-1]))
    if len(differ):
        place = differ[0]
        both = f"{versions[place]} and {versions[place + 1]}"
        raise FormatError(path, f"has {kind} {ids[place]} in versions {both}; {HISTORY}")


def _report(progress: Progress | None, path: Path, share: float) -> None:
    if progress is not None:
        size = path.stat().st_size
        progress(int(share * size), size)


def _osmium() -> Any:
    return library("osmium", "reading OpenStreetMap", extra="osm")


def _objects(osmium: Any, path: Path, form: str, kind: Any) -> Any:
    objects = osmium.FileProcessor(osmium.io.File(str(path), form), kind)
    if objects.header.has_multiple_object_versions:
        raise FormatError(path, f"is a history; {HISTORY}")
    return objects


@contextmanager
def _refusing(path: Path, osmium: Any) -> Iterator[None]:
    """Translate errors of pyosmium into one that names the file."""
    try:
        yield
    except (GrouteError, MemoryError):
        raise
    except (RuntimeError, ValueError, OverflowError, osmium.InvalidLocationError) as problem:
        raise FormatError(path, f"damaged OpenStreetMap file: {quoted(problem)}") from problem
