"""Formats of graphs that others read, known by how they begin, and how to read them."""

from __future__ import annotations

import re
from typing import NamedTuple

from groute_py.io.file_head import Head
from groute_py.io.formats.osm import osm

# Repetitions are possessive (*+): a file that almost fits would else be tried in all ways.
COMMENTS = rb"(?:\s|//[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/|#[^\n]*(?:\n|$))*+"


class Foreign(NamedTuple):
    """A format.

    Attributes:
        name: as messages call it.
        begins: what such a file begins with.
        reader: the call that makes a NetworkX graph of a file.
    """

    name: str
    begins: re.Pattern[bytes]
    reader: str


FOREIGN = (
    Foreign("GraphML", re.compile(rb"\s*<(?:[^>]*>\s*<)*?graphml\b", re.I), "read_graphml({path})"),
    Foreign("GEXF", re.compile(rb"\s*<(?:[^>]*>\s*<)*?gexf\b", re.I), "read_gexf({path})"),
    Foreign(
        "GML",
        re.compile(rb"(?:\s|#[^\n]*\n|(?:creator|version|comment)\b[^\n]*\n)*+graph\s*\[", re.I),
        "read_gml({path})",
    ),
    Foreign(
        "Pajek",
        re.compile(rb"(?:\s|%[^\n]*\n)*+\*(?:vertices|network|(?:arcs|edges)(?:list)?)\b", re.I),
        "read_pajek({path})",
    ),
    Foreign(
        "DOT",
        re.compile(
            COMMENTS + rb"(?:strict\b" + COMMENTS + rb")?(?:di)?graph\b" + COMMENTS
            + rb'(?:"(?:[^"\\]|\\.)*"|[\w.-]+|<[^>]*>)?' + COMMENTS + rb"\{",
            re.I | re.S,
        ),
        "nx_pydot.read_dot({path})",
    ),
    Foreign(
        "JSON",
        re.compile(rb'\s*(?:\{\s*"|\[\s*[\[{])'),
        "node_link_graph(json.load(open({path})))",
    ),
)  # fmt: skip
NEAR_OPENSTREETMAP = {
    re.compile(rb"\s*<(?:[^>]*>\s*<)*?osmchange\b", re.I): (
        "is a change file of OpenStreetMap, not an extract; 'osmium apply-changes' makes an extract"
    ),
    re.compile(rb'\s*\{\s*"version":\s*0\.6\b'): (
        "is OpenStreetMap as JSON; ask Overpass for [out:xml], and save the answer as .osm"
    ),
}
"""What OpenStreetMap has beside extracts, and how to come to an extract."""
OTHER_MARKUP = re.compile(rb"\s*<(?:\?xml|!doctype|!--|[a-z]+[\s>])", re.I)


def problem_of(head: Head) -> str | None:
    """Return the message for a file of such a format; None for any other file."""
    for begins, problem in NEAR_OPENSTREETMAP.items():
        if begins.match(head.text):
            return problem
    path = repr(str(head.path)) if len(str(head.path)) <= 200 else "PATH"
    for name, begins, reader in FOREIGN:
        if begins.match(head.text):
            call = reader.format(path=path)
            return (
                f"is {name}, which groute-py does not read; NetworkX does: in Python "
                f"groute_py.sssp(networkx.{call}, source)"
            )
    if OTHER_MARKUP.match(head.text) and not osm.sniff(head):
        return "is XML or HTML, and neither GraphML nor GEXF; groute-py reads no such graphs"
    return None
