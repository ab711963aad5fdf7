"""Extracts of OpenStreetMap, ``.osm.pbf`` and ``.osm`` (XML, also ``.gz`` and ``.bz2``).

Crossings and ends of ways are the vertices, with OSM's ids of their nodes; what lies between is an
arc for each direction that is open to a profile. ``docs/openstreetmap.md`` has the rules.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from groute_py.errors import FormatError
from groute_py.graph.csr import Graph
from groute_py.io.compression import bare_name
from groute_py.io.file_head import Head
from groute_py.io.formats.osm.extract import nodes_in, report, ways_in
from groute_py.io.formats.osm.profiles import profile_of
from groute_py.io.formats.osm.roads import road_graph
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.io.text.lines import Progress

PBF = re.compile(rb"\0\0[\0-\x0f].\n\x09OSMHeader", re.S)
XML = re.compile(rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,400}-->\s*)?<osm[\s>]")
COMPRESSED = {None: "xml", "gzip": "xml.gz", "bzip2": "xml.bz2"}
"""What pyosmium calls the XML within a compression."""


def sniff(head: Head) -> bool:
    """Whether it begins as one of both forms."""
    return bool(PBF.match(head.text) or XML.match(head.text))


def read(path: Path, progress: Progress | None = None, asked: Columns = BY_TITLE) -> Graph:
    """Read the roads of a profile.

    Args:
        path: the extract.
        progress: called with bytes done and bytes in all.
        asked: the profile, ``car`` where none is named.

    Raises:
        FormatError: it is damaged, in a compression that pyosmium does not read, or has no roads.
        InputError: there is no such profile.
        SetupError: pyosmium is not installed.
    """
    profile = profile_of(asked.profile)
    form = _form(path)
    report(progress, path, 0)
    ways = ways_in(path, form, profile)
    report(progress, path, 0.5)
    nodes = nodes_in(path, form, profile, np.unique(ways.refs))
    report(progress, path, 1)
    name = re.sub(r"(\.osm)?(\.pbf)?$", "", bare_name(path)) or path.name
    return road_graph(path, name, ways, nodes)


def _form(path: Path) -> str:
    head = Head(path)
    if PBF.match(head.text):
        if head.compression is not None:
            raise FormatError(path, f"is OpenStreetMap PBF within {head.compression}; unpack it")
        return "pbf"
    if head.compression not in COMPRESSED:
        read = "plain, .gz and .bz2"
        raise FormatError(path, f"is OpenStreetMap XML in {head.compression}; {read} are read")
    return COMPRESSED[head.compression]
