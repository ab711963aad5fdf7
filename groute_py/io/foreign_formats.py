"""Formats of graphs that groute-py does not read, known by how they begin, and the way on."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from groute_py.io.file_head import Head
from groute_py.io.formats import tntp
from groute_py.io.formats.osm import osm

# Repetitions are possessive (*+): a file that almost fits would else be tried in all ways.
COMMENTS = rb"(?:\s|//[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/|#[^\n]*(?:\n|$))*+"
OTHER_MARKUP = re.compile(rb"\s*<(?:\?xml|!doctype|!--|[a-z]+[\s>])", re.I)
NETWORKX = "NetworkX reads it: in Python groute_py.sssp(networkx.{call}, source)"
GEOPANDAS = (
    "GeoPandas reads it: in Python groute_py.sssp(geopandas.read_file({path}), source), "
    "if columns hold the ends of its lines"
)
UNPACK = "unpack it, and give the file of edges in it"
OSMIUM = "convert it: osmium cat {path} -o roads.osm.pbf"


class Foreign(NamedTuple):
    """A format: its name, how a file of it begins, and what to do with ``{path}``."""

    name: str
    begins: Callable[[bytes], object]
    way: str


def _like(pattern: bytes, flags: int = re.I) -> Callable[[bytes], object]:
    return re.compile(pattern, flags).match


def _root(name: bytes) -> Callable[[bytes], object]:
    """XML whose first element has this name, behind declarations and comments."""
    return _like(rb"\s*+(?:<[?!][^>]*+>\s*+)*+<" + name + rb"\b")


def _networkx(call: str) -> str:
    return NETWORKX.format(call=call)


def _is_lgl(text: bytes) -> bool:
    """Lines ``# TAIL``, each above lines ``HEAD [WEIGHT]``; some tails are heads too.

    Pairs of integers below such lines are arcs with comments.
    """
    if not text.lstrip().startswith(b"#"):
        return False
    lines = [line.split() for line in text.split(b"\n") if line.strip()]
    if any(len(fields) > 2 or (fields[0] == b"#" and len(fields) == 1) for fields in lines):
        return False
    tails = [fields[1] for fields in lines if fields[0] == b"#"]
    rows = [fields for fields in lines if fields[0] != b"#"]
    if all(len(fields) == 2 and b"." not in fields[1] for fields in rows):
        return False
    return len(tails) > 1 and not {fields[0] for fields in rows}.isdisjoint(tails)


FOREIGN = (
    Foreign("GraphML", _like(rb"\s*<(?:[^>]*>\s*<)*?graphml\b"), _networkx("read_graphml({path})")),
    Foreign("GEXF", _like(rb"\s*<(?:[^>]*>\s*<)*?gexf\b"), _networkx("read_gexf({path})")),
    Foreign(
        "GML",
        _like(rb"(?:\s|#[^\n]*\n|(?:creator|version|comment)\b[^\n]*\n)*+graph\s*\["),
        _networkx("read_gml({path})"),
    ),
    Foreign(
        "Pajek",
        _like(rb"(?:\s|%[^\n]*\n)*+\*(?:vertices|network|(?:arcs|edges)(?:list)?)\b"),
        _networkx("read_pajek({path})"),
    ),
    Foreign(
        "DOT",
        _like(
            COMMENTS + rb"(?:strict\b" + COMMENTS + rb")?(?:di)?graph\b" + COMMENTS
            + rb'(?:"(?:[^"\\]|\\.)*"|[\w.-]+|<[^>]*>)?' + COMMENTS + rb"\{",
            re.I | re.S,
        ),
        _networkx("nx_pydot.read_dot({path})"),
    ),
    Foreign(
        "LGL",
        _is_lgl,
        "igraph reads it: in Python groute_py.sssp(igraph.Graph.Read_Lgl({path}, "
        "directed=False).to_networkx(), source)",
    ),
    Foreign(
        "a network of MATSim",
        _root(rb"network"),
        "pandas reads its links: in Python groute_py.sssp(pandas.read_xml({path}, "
        "xpath='.//link', parser='etree'), source, weight='length')",
    ),
    Foreign(
        "a network of SUMO",
        _root(rb"net"),
        "sumolib reads it: in Python edges = sumolib.net.readNet({path}).getEdges(), then "
        "groute_py.sssp({{'tail': [e.getFromNode().getID() for e in edges], 'head': "
        "[e.getToNode().getID() for e in edges], 'length': [e.getLength() for e in edges]}}, "
        "source)",
    ),
    Foreign(
        "a change file of OpenStreetMap",
        _root(rb"osmChange"),
        "apply it to an extract: osmium apply-changes extract.osm.pbf {path} -o new.osm.pbf",
    ),
    Foreign("OpenStreetMap's o5m", _like(rb"\xff\xe0\x04o5[mc]2", 0), OSMIUM),
    Foreign(
        "OpenStreetMap's OPL",
        _like(rb"[nwr]-?\d+ (?:v\d+ |d[VD] |c\d+ |t\S* |i\d+ |T|x-?\d)", 0),
        OSMIUM,
    ),
    Foreign(
        "GeoJSON",
        _like(rb'\s*\{(?=[^\[]{0,4000}"type"\s*:\s*"Feature(?:Collection)?")', re.S),
        GEOPANDAS,
    ),
    Foreign(
        "JSON of Overpass",
        _like(rb'\s*\{.{0,4000}?"elements"\s*:\s*\[', re.S),
        "ask for XML by [out:xml] in the query, and read what comes as .osm",
    ),
    Foreign(
        "JSON",
        _like(rb'\s*(?:\{\s*"|\[\s*[\[{])'),
        "NetworkX reads node-link data: in Python "
        "groute_py.sssp(networkx.node_link_graph(json.load(open({path}))), source)",
    ),
    Foreign(
        "an Excel workbook",
        _like(rb"PK\x03\x04.{26}(?:\[Content_Types\]|_rels/|docProps/|xl/)", re.S),
        "save it as .csv, or in Python groute_py.sssp(pandas.read_excel({path}), source)",
    ),
    Foreign("a zip archive", _like(rb"PK[\x03\x05].{27}(?![\w ]{1,60}\.npy)", re.S), UNPACK),
    Foreign("a tar archive", _like(rb".{257}ustar", re.S), UNPACK),
    Foreign(
        "UTF-16 or UTF-32",
        _like(rb"\xff\xfe|\xfe\xff|\0\0\xfe\xff", 0),
        "convert it: iconv -f UTF-16 -t UTF-8 {path}",
    ),
    Foreign("a shapefile", _like(rb"\0\0\x27\x0a", 0), GEOPANDAS),
    Foreign("GeoPackage, or another SQLite database", _like(rb"SQLite format 3\0", 0), GEOPANDAS),
    Foreign("FlatGeobuf", _like(rb"fgb", 0), GEOPANDAS),
)  # fmt: skip


def problem_of(head: Head) -> str | None:
    """Return the message for a file of such a format; None for any other file."""
    path = repr(str(head.path)) if len(str(head.path)) <= 200 else "PATH"
    for name, begins, way in FOREIGN:
        if begins(head.text):
            return f"is {name}, which groute-py does not read; {way.format(path=path)}"
    is_ours = osm.BEGINS.match(head.text) or tntp.BEGINS.match(head.text)
    if OTHER_MARKUP.match(head.text) and not is_ours:
        return "is XML or HTML, and neither GraphML nor GEXF; groute-py reads no such graphs"
    return None
