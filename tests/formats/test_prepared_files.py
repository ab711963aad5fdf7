"""Prepared files: what is written comes back mapped, and damage and lies are noticed."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.graphs import graph_of, graphs

import groute_py
from groute_py import FormatError, Graph, InputError, PreparedGraph, read_graph, write_graph
from groute_py.errors import GraphError
from groute_py.graph.hierarchy.check import check_hierarchy
from groute_py.graph.hierarchy.hierarchy import ARRAYS, Hierarchy
from groute_py.io import array_file
from groute_py.io.formats import prepared
from groute_py.io.graph_file import GraphFile
from groute_py.io.tables.columns import Columns
from groute_py.source.graph_source import GraphSource


def int32(*values: int) -> NDArray[np.int32]:
    return np.array(values, np.int32)


PATH = Hierarchy(
    levels=(0, 1, 2, 3),
    vertices=int32(1, 0, 2),
    offsets=np.array([0, 0, 1, 2]),
    heads=int32(0, 0),
    down=int32(2**31 - 1, 3),
    up=int32(4, 2**31 - 1),
    core_offsets=np.array([0, 0]),
    core_heads=np.zeros(0, np.int32),
    core_weights=np.zeros(0, np.int32),
)
"""Of the arcs 0 → 1 → 2, by hand."""

GRAPH = graph_of(3, [(0, 1, 4), (1, 2, 3)])


def same(one: Hierarchy, other: Hierarchy) -> bool:
    pairs = [(getattr(one, name), getattr(other, name)) for name in ARRAYS]
    alike = all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)
    return alike and one.levels == other.levels and one.is_symmetric == other.is_symmetric


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, dtype: str, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("there") / "g.prepared"
    whole = groute_py.prepare(data.draw(graphs(dtype)), device="cpu")
    assert whole is not None
    write_graph(whole, path)
    back = read_graph(path)
    assert isinstance(back, PreparedGraph)
    assert same(back.hierarchy, whole.hierarchy)
    for name in ("offsets", "heads", "weights"):
        np.testing.assert_array_equal(getattr(back, name), getattr(whole, name))
    size = GraphFile(path).size()
    assert size is not None
    assert (size.vertices, size.arcs) == (whole.vertex_count, whole.arc_count)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_graph(PreparedGraph(GRAPH, PATH), tmp_path / "g.prepared")
    return tmp_path / "g.prepared"


def test_arrays_are_mapped_and_aligned(path: Path) -> None:
    back = read_graph(path)
    assert isinstance(back, PreparedGraph)
    assert same(back.hierarchy, PATH)
    for array in (back.heads, *(getattr(back.hierarchy, name) for name in ARRAYS)):
        assert not array.flags.owndata
        assert not array.flags.writeable
        assert array.ctypes.data % array_file.ALIGNMENT == 0


def test_ids_and_names_are_kept(tmp_path: Path) -> None:
    graph = GRAPH.changed(ids=np.array(["home", "é", "#1"]), name="tünÿ\n")
    write_graph(PreparedGraph(graph, PATH), tmp_path / "g.prepared")
    back = read_graph(tmp_path / "g.prepared")
    assert back.name == "tünÿ\n"
    assert back.numbering.index_of("é") == 1


def test_every_truncation_and_addition_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    for size in range(1, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError, match=r"g\.prepared"):
            read_graph(path)
    path.write_bytes(whole + b"more")
    with pytest.raises(FormatError, match="bytes where"):
        read_graph(path)


def test_every_other_byte_is_noticed(path: Path) -> None:
    """By the digests where nothing else does; blanks behind the last array have none."""
    whole = path.read_bytes()
    end = len(whole) - array_file.ALIGNMENT
    for place in range(0, end, 5):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(FormatError):
            read_graph(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"prepared 1\n", b"prepared 7\n", "another version: b'groute-py prepared 7"),
        (b"groute-py prepared", b"groute-py repaired", "is not a graph file"),
        (b'{"first', b'["first', "is no JSON"),
        (b'"symmetric"', b'"symmetrie"', "lacks fields"),
        (b"NUMPY\x01", b"NUMPY\x09", "unknown .npy version"),
        (b'"first_id": 0', b'"first_id": x', "is no JSON"),
        (b'"name": "graph"', b'"name":  12345 ', "its name is int"),
    ],
)
def test_damaged_headers(path: Path, old: bytes, new: bytes, message: str) -> None:
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(FormatError, match=message):
        read_graph(path)


INT32 = np.iinfo(np.int32).max

LIES: dict[str, tuple[dict[str, Any], str]] = {
    "levels fall": ({"levels": (0, 2, 1, 3)}, "do not rise"),
    "levels end early": ({"levels": (0, 1, 2)}, "do not rise"),
    "levels begin late": ({"levels": (1, 2, 3)}, "do not rise"),
    "one level": ({"levels": (0,)}, "do not rise"),
    "no vertex": ({"vertices": int32(1, 0, 3)}, "none of 3"),
    "negative vertex": ({"vertices": int32(1, -1, 2)}, "none of 3"),
    "vertex twice": ({"vertices": int32(1, 1, 2)}, "vertex 0 is not in"),
    "long vertices": ({"vertices": np.array([1, 0, 2])}, "vertices of the hierarchy: int64"),
    "offsets fall": ({"offsets": np.array([0, 2, 1, 2])}, "decrease"),
    "offsets beyond": ({"offsets": np.array([0, 0, 1, 9])}, "do not go from 0 to 2"),
    "a head beyond": ({"heads": int32(0, 3)}, "leads to vertex 3"),
    "a negative head": ({"heads": int32(0, -1)}, "leads to vertex -1"),
    "within a level": ({"heads": int32(1, 0)}, "does not lead upward"),
    "downward": ({"heads": int32(2, 0)}, "does not lead upward"),
    "arcs of the core": ({"offsets": np.array([0, 1, 1, 2])}, "does not lead upward"),
    "negative down": ({"down": int32(3, -1)}, "negative"),
    "negative up": ({"up": int32(3, -1)}, "negative"),
    "short up": ({"up": int32(3)}, r"shape \(1,\)"),
    "floats": ({"down": np.array([3, 1], np.float32)}, "int32 or int64, not float32"),
    "other up": ({"up": np.array([3, 1])}, "up of the hierarchy: int64"),
    "core offsets": ({"core_offsets": np.array([0])}, "has 1 vertices, but 1 offsets"),
    "core heads": (
        {
            "core_offsets": np.array([0, 1]),
            "core_heads": int32(1),
            "core_weights": int32(5),
        },
        "leads to vertex 1",
    ),
    "core weights": (
        {
            "core_offsets": np.array([0, 1]),
            "core_heads": int32(0),
            "core_weights": int32(-5),
        },
        "negative",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_lies_with_right_digests(tmp_path: Path, name: str) -> None:
    """No search may leave the arrays, whoever has written the file."""
    changes, message = LIES[name]
    lying = replace(PATH, **changes)
    with pytest.raises(GraphError, match=message):
        check_hierarchy(lying)
    path = tmp_path / "g.prepared"
    write_graph(PreparedGraph(GRAPH, lying), path)
    with pytest.raises(FormatError, match=f"damaged prepared graph: .*{message}"):
        read_graph(path)


def test_a_hierarchy_of_another_graph() -> None:
    with pytest.raises(GraphError, match="3 vertices is none of a graph with 4"):
        PreparedGraph(graph_of(4, []), PATH)


def test_a_graph_without_a_hierarchy_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="make it by groute-py prepare"):
        write_graph(GRAPH, tmp_path / "g.prepared")
    with pytest.raises(InputError, match="is not compressed further"):
        write_graph(PreparedGraph(GRAPH, PATH), tmp_path / "g.prepared.gz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".csr", ".gr", ".npz"])
def test_other_formats_get_the_graph_alone(tmp_path: Path, path: Path, suffix: str) -> None:
    write_graph(read_graph(path), tmp_path / f"g{suffix}")
    back = read_graph(tmp_path / f"g{suffix}")
    assert type(back) is Graph
    np.testing.assert_array_equal(back.weights, GRAPH.weights)


CHANGES: dict[str, Callable[[Graph], Graph]] = {
    "units": lambda graph: graph.with_unit_weights(),
    "weights": lambda graph: graph.changed(weights=int32(1, 2)),
    "edges": lambda graph: GraphSource(graph, Columns(undirected=True)).graph(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_other_arrays_have_no_hierarchy(path: Path, name: str) -> None:
    """Else old shortcuts would be taken for paths of the new graph."""
    assert type(CHANGES[name](read_graph(path))) is Graph


def test_the_bytes_of_a_file(path: Path) -> None:
    graph = read_graph(path)
    assert isinstance(graph, PreparedGraph)
    assert prepared.bytes_of(graph) == path.stat().st_size


def test_how_a_table_was_read(tmp_path: Path) -> None:
    """It stays with the graph; other weights have no title."""
    (tmp_path / "town.csv").write_text("from,to,km\nhome,work,5\nwork,pub,2\n")
    town = groute_py.prepare(tmp_path / "town.csv", device="cpu")
    assert town is not None
    assert town.reading is not None
    groute_py.write_graph(town, tmp_path / "town.prepared")
    assert groute_py.read_graph(tmp_path / "town.prepared").reading == town.reading
    other = town.with_weights([1, 2], device="cpu")
    assert other.reading is not None
    assert other.reading.columns == {"tail": "from", "head": "to"}
    assert other.ids is not None
    assert other.ids.tolist() == ["home", "work", "pub"]


class TestMappedAgain:
    """By another process, which finds the file by its path and its content."""

    def file(self, path: Path) -> prepared.PreparedFile:
        graph = read_graph(path)
        assert isinstance(graph, PreparedGraph)
        assert graph.file is not None
        return graph.file

    def test_the_same(self, path: Path, tmp_path: Path) -> None:
        (tmp_path / "link.prepared").symlink_to(path)
        file = self.file(tmp_path / "link.prepared")
        result = prepared.compared_graph(file, prepared.map_again(file, 0, 1))
        assert same(result.hierarchy, PATH)
        assert result.file == file == self.file(path)

    def test_another_content(self, path: Path) -> None:
        file, graph = self.file(path), read_graph(path)
        write_graph(groute_py.prepare(graph.with_unit_weights(), device="cpu"), path)
        with pytest.raises(FormatError, match="is another prepared graph than before"):
            prepared.map_again(file, 0, 1)

    def test_another_content_with_the_same_digest(self, path: Path) -> None:
        """A multiple of the polynomial of CRC-32 is added to both weights."""
        file, content = self.file(path), bytearray(path.read_bytes())
        before, place = zlib.crc32(content), content.index(b"\4\0\0\0\3\0\0\0")
        bits = np.array([int(bit) for bit in f"{0x104C11DB7:b}"])
        for k, byte in enumerate(np.packbits(bits, bitorder="little").tolist()):
            content[place + k] ^= byte
        assert zlib.crc32(content) == before
        path.write_bytes(content)
        with pytest.raises(FormatError, match="is another prepared graph than before"):
            prepared.map_again(file, 0, 1)

    def test_a_damaged_part(self, path: Path) -> None:
        """Its digests are still the ones that were mapped before."""
        file, content = self.file(path), bytearray(path.read_bytes())
        content[content.rindex(b"\4\0\0\0")] ^= 64  # a weight
        path.write_bytes(content)
        with pytest.raises(FormatError, match="does not have its digests"):
            prepared.map_again(file, 0, 1)

    def test_a_graph_made_of_it_has_no_file(self, path: Path) -> None:
        graph = read_graph(path)
        assert isinstance(graph, PreparedGraph)
        assert graph.reversed().file is None
        assert graph.with_weights([1, 2], device="cpu").file is None
