"""Read and write graph files; the format of a file is told by its content, never by its name alone.

`FORMATS` lists what there is; a new format is one file in `formats` and one line here. Formats that
groute-py does not read are known by how they begin, and refused with the way on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from groute_py.errors import FormatError, InputError, check_kind, file_path
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Size
from groute_py.io.compression import SUFFIXES, bare_name
from groute_py.io.file_head import Head
from groute_py.io.formats import (
    dense_matrix,
    dimacs,
    galois,
    gapbs,
    matrix_market,
    metis,
    native,
    pace,
    parquet,
    prepared,
    scipy_npz,
    tntp,
)
from groute_py.io.formats.edge_list import edge_list
from groute_py.io.formats.osm import osm
from groute_py.io.tables.columns import Columns
from groute_py.io.text.arc_reader import Piece
from groute_py.io.text.lines import Progress
from groute_py.system.atomic_file import translating_errors


class Format(NamedTuple):
    """A format: detection by the beginning of a file, reader and writer."""

    begins: re.Pattern[bytes]
    read: Callable[[Head, Progress | None], Graph]
    sniff: Callable[[Head], bool] | None = None  # where `begins` is not enough
    write: Callable[[Graph, Path], None] | None = None
    read_piece: Callable[[Head, range, Progress | None], Piece | None] | None = None
    size: Callable[[Head], Size | None] | None = None
    suffixes: tuple[str, ...] = ()  # of files that are written in this format
    trusts_suffix: bool = False  # `sniff` looks at a file of this suffix, whatever it begins with
    compressible: bool = True  # files may be compressed as well, and the graph is worth a cache
    first_id: int | None = None  # that all files give to vertex 0; None where they keep all ids
    has_titles: bool = False  # columns may be named
    has_profiles: bool = False  # read for a kind of traveller
    keeps_columns: bool = False  # of several weights one is chosen after reading
    rules: int = 1  # increased when `read` makes another graph: older copies are not used

    def copy_columns(self, columns: Columns) -> Columns:
        """The columns that a copy of a file depends on."""
        return columns._replace(weight=None) if self.keeps_columns else columns


def _format(module: ModuleType, *suffixes: str, **traits: Any) -> Format:
    names = ("sniff", "read", "write", "read_piece", "size")
    functions = {name: getattr(module, name) for name in names if hasattr(module, name)}
    return Format(module.BEGINS, **functions, suffixes=suffixes, **traits)


FORMATS = {
    "native CSR": _format(native, native.SUFFIX, compressible=False, keeps_columns=True),
    "Matrix Market": _format(matrix_market, ".mtx", trusts_suffix=True, first_id=1),
    "Parquet": _format(parquet, ".parquet", compressible=False, has_titles=True),
    "SciPy sparse array": _format(scipy_npz, ".npz", compressible=False),
    "prepared graph": _format(prepared, prepared.SUFFIX, compressible=False, keeps_columns=True),
    "OpenStreetMap": _format(
        osm, has_titles=True, has_profiles=True, keeps_columns=True, rules=osm.RULES
    ),
    "TNTP": _format(tntp, first_id=1, keeps_columns=True),
    "GAPBS binary": _format(gapbs, ".sg", ".wsg", first_id=0),
    "Galois binary": _format(galois, ".galois", first_id=0),
    "PACE text": _format(pace),
    "DIMACS text": _format(dimacs, ".gr", first_id=1),
    "dense matrix": _format(dense_matrix, ".mat", first_id=0),
    "METIS": _format(metis, *metis.SUFFIXES, trusts_suffix=True, first_id=1),
    "edge list": _format(edge_list, *edge_list.SUFFIX_OF_NAMES, has_titles=True),
}
"""The formats, by the name that messages give them, in the order in which they are looked for."""

MAPPED = (FORMATS["native CSR"], FORMATS["prepared graph"])
"""Those that are mapped into memory instead of read."""


def write_graph(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph in the format that the suffix names; ``.gz .xz .zst .bz2`` may follow it.

    Args:
        graph: the graph.
        path: the file; it is complete or absent.

    Raises:
        InputError: the suffix is unknown, the format cannot hold the graph, or no file can be
            written there.
        RunError: the disk is full, or fails.
        SetupError: the format needs a library that is not installed.
    """
    check_kind("graph", graph, Graph, "a Graph")
    path = file_path("path", path)
    write = written_form(path).write
    assert write is not None
    with translating_errors(path):
        write(graph, path)


def written_form(path: Path) -> Format:
    """The format for the suffix of a file to write."""
    for form in FORMATS.values():
        if form.write is not None and bare_name(path).endswith(form.suffixes):
            if path.suffix in SUFFIXES and not form.compressible:
                raise InputError(f"{path}: {form.suffixes[0]} is not compressed further")
            return form
    suffixes = ", ".join(suffix for form in FORMATS.values() for suffix in form.suffixes)
    raise InputError(f"{path}: unknown suffix; a graph is written as {suffixes}")


def format_of(head: Head) -> Format:
    """The format of a file."""
    path = head.path
    if (problem := problem_of(head)) is not None:
        raise FormatError(path, problem)
    for name, form in FORMATS.items():
        is_likely = form.begins.match(head.text) or (
            form.trusts_suffix and head.name.endswith(form.suffixes)
        )
        if is_likely and (form.sniff is None or form.sniff(head)):
            if head.compression is not None and not form.compressible:
                problem = f"is {name} within {head.compression}; decompress it first"
                raise FormatError(path, problem)
            if form.keeps_columns or not form.has_titles:
                form.copy_columns(head.columns).refuse(f"{path}: {name}")
            if not form.has_profiles:
                head.columns.refuse_profile(f"{path}: {name}")
            return form
    raise FormatError(path, f"is not a graph file; the known formats are {', '.join(FORMATS)}")


# Repetitions are possessive (*+): a file that almost fits would else be tried in all ways.
COMMENTS = rb"(?:\s|//[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/|#[^\n]*(?:\n|$))*+"
OTHER_MARKUP = re.compile(rb"\s*<(?:\?xml|!doctype|!--|[a-z]+[\s>])", re.I)
NETWORKX = "NetworkX reads it: in Python groute_py.sssp(networkx.{call}, source)"
GEOPANDAS = (
    "GeoPandas reads it: in Python groute_py.sssp(geopandas.read_file({path}), source), "
    "if columns hold the ends of its lines"
)
UNPACK = "unpack it, and give the file of edges in it"


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
