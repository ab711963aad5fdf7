"""Archives, other encodings, and formats of graphs that others read."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import pytest

import groute_py
from groute_py import FormatError, Graph, read_graph, write_graph

TEXT = b"from,to,km\nK\xc3\xb6ln,Bonn,5\nBonn,Ulm,6\n"
ARCS = [("Bonn", "Ulm", 6), ("Köln", "Bonn", 5)]


def zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def tarred(content: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo("town/g.csv")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


def test_arrays_of_numpy_are_no_archive(tmp_path: Path) -> None:
    graph = Graph.from_arrays([0, 1, 1], [1], [5])
    write_graph(graph, tmp_path / "g.npz")
    (tmp_path / "other").write_bytes((tmp_path / "g.npz").read_bytes())
    assert read_graph(tmp_path / "g.npz").weights.tolist() == [5]
    with pytest.raises(FormatError):
        read_graph(tmp_path / "other.npz")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (zipped({"[Content_Types].xml": b"", "xl/workbook.xml": b""}), "is an Excel workbook"),
        (zipped({"town/g.csv": TEXT}), "is a zip archive.*; unpack it"),
        (zipped({"nodes.csv": TEXT, "weights.npy": b""}), "is a zip archive.*; unpack it"),
        (tarred(TEXT), "is a tar archive.*; unpack it"),
        (gzip.compress(tarred(TEXT)), "is a tar archive.*; unpack it"),
        (TEXT.decode().encode("utf-16"), "is UTF-16 or UTF-32.*; convert it: iconv"),
        (TEXT.decode().encode("utf-32"), "is UTF-16 or UTF-32.*; convert it: iconv"),
    ],
)
def test_what_is_not_read(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "g").write_bytes(content)
    with pytest.raises(FormatError, match=says):
        read_graph(tmp_path / "g")


NETWORK = nx.DiGraph([("a", "b", {"weight": 5}), ("b", "c", {"weight": 6})])
FOREIGN: dict[str, Any] = {
    "GraphML": lambda path: nx.write_graphml_xml(NETWORK, path),
    "GEXF": lambda path: nx.write_gexf(NETWORK, path),
    "GML": lambda path: nx.write_gml(NETWORK, path),
    "Pajek": lambda path: nx.write_pajek(NETWORK, path),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("suffix", ["", ".csv", ".gz"])
def test_what_networkx_reads(tmp_path: Path, name: str, suffix: str) -> None:
    """The call that the message names reads the file."""
    path = tmp_path / f"g{suffix}"
    FOREIGN[name](str(path))
    with pytest.raises(FormatError, match=f"is {name}, which groute-py does not read") as caught:
        read_graph(path)
    call = str(caught.value).partition("groute_py.sssp(networkx.")[2].rpartition(", source)")[0]
    reader, _, rest = call.partition("(")
    assert rest == f"{str(path)!r})"
    network = getattr(nx, reader)(str(path))
    assert sorted(network.nodes) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("digraph { a -> b; }", "DOT"),
        ("graph{a--b}", "DOT"),
        ('// made by hand\nstrict digraph "my graph" {\n a -> b\n}\n', "DOT"),
        ("/* a */ digraph g\n{ a -> b [weight=5]; }", "DOT"),
        ("graph [ node [ id 1 ] ]", "GML"),
        ('Creator "x"\nVersion 1\ngraph\n[\n]\n', "GML"),
        ('<?xml version="1.0"?>\n<!-- x -->\n<graphml xmlns="y"></graphml>', "GraphML"),
        ('\ufeff<?xml version="1.0"?><gexf version="1.3"></gexf>', "GEXF"),
        ("% x\n*Vertices 2\n1 a\n2 b\n*Arcs\n1 2 5\n", "Pajek"),
        ('{"directed": true, "nodes": [], "links": []}', "JSON"),
        ('{"type": "FeatureCollection", "crs": {"type": "name"}, "features": []}', "GeoJSON"),
        ('{"version": 0.6, "elements": [{"type": "node"}]}', "JSON of Overpass"),
        ('<?xml version="1.0"?>\n<!DOCTYPE network SYSTEM "x.dtd">\n<network name="a">',
         "a network of MATSim"),
        ('<?xml version="1.0"?>\n<!-- by netconvert -->\n<net version="1">', "a network of SUMO"),
        ("SQLite format 3\0 ", "GeoPackage"),
        ("\0\0'\n\0\0\0\0", "a shapefile"),
        ("<html><body>404</body></html>", "XML or HTML"),
        ('<?xml version="1.0"?><svg></svg>', "XML or HTML"),
    ],
)  # fmt: skip
def test_foreign_formats_by_name(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "g").write_text(text)
    with pytest.raises(FormatError, match=f"is {name}"):
        read_graph(tmp_path / "g")


def test_links_of_matsim(tmp_path: Path) -> None:
    """The call that the message names reads the file."""
    path = tmp_path / "network.xml"
    path.write_text(
        '<?xml version="1.0"?>\n<network><nodes><node id="a" x="1" y="2"/></nodes><links>'
        '<link id="1" from="a" to="b" length="5.5" freespeed="9" capacity="9" permlanes="1" '
        'oneway="1" modes="car"/><link id="2" from="b" to="c" length="6" freespeed="9" '
        'capacity="9" permlanes="1" oneway="1" modes="car"/></links></network>'
    )
    with pytest.raises(FormatError, match=r"groute_py\.sssp") as caught:
        read_graph(path)
    call = "groute_py.sssp" + str(caught.value).partition("groute_py.sssp")[2]
    result = eval(call, {"groute_py": groute_py, "pandas": pd, "source": "a"})
    assert result.distances.tolist() == [0, 5.5, 11.5]


@pytest.mark.parametrize(
    "text", ["graph paper 5\npaper graph 6\n", "digraph,graph,5\ngraph,a,6\n", "strict a 5\n"]
)
def test_names_like_those_formats(tmp_path: Path, text: str) -> None:
    (tmp_path / "g").write_text(text)
    assert read_graph(tmp_path / "g").arc_count == len(text.splitlines())
