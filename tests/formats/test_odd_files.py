"""Files of which a part says how they are to be read, and another part seems to say otherwise."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import arcs_by_id

from groute_py import FormatError, Graph, InputError, read_graph, write_graph
from groute_py.io.compression import codec_of
from groute_py.io.graph_file import GraphFile
from groute_py.launch.slurm import TIME
from groute_py.source.pieces import _lowered
from groute_py.system.settings import settings

TITLES = {
    "id,source,target": [(10, 20, 1), (20, 30, 1)],
    "edge_id,from,to": [(10, 20, 1), (20, 30, 1)],
    "time,source,target": [(10, 20, 1), (20, 30, 2)],
    "km,from,to": [(10, 20, 1), (20, 30, 2)],
    "from,km,to": [(1, 20, 10), (2, 30, 20)],
    "weight,from,to": [(10, 20, 1), (20, 30, 2)],
    "to,from,km": [(10, 1, 20), (20, 2, 30)],
}


@pytest.mark.parametrize("titles", TITLES)
def test_columns_in_another_order(tmp_path: Path, titles: str) -> None:
    """By their places the wrong ones would be ends of arcs."""
    (tmp_path / "g.csv").write_text(f"{titles}\n1,10,20\n2,20,30\n")
    assert arcs_by_id(read_graph(tmp_path / "g.csv")) == TITLES[titles]


@pytest.mark.parametrize("titles", ["source,target,from", "from,to,time", "u,v,i", "a,b,length"])
def test_columns_in_order(tmp_path: Path, titles: str) -> None:
    (tmp_path / "g.csv").write_text(f"{titles}\n1,2,7\n2,3,8\n")
    graph = read_graph(tmp_path / "g.csv")
    assert (graph.arc_count, graph.weights.tolist()) == (2, [7, 8])


@pytest.mark.parametrize("name", [None, "row", "source", "km"])
def test_labels_of_rows_are_no_weights(tmp_path: Path, name: str | None) -> None:
    """But where they are named like a column of arcs."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pandas.DataFrame({"from": [1, 2], "to": [2, 3]}, index=[5, 7]).rename_axis(name)
    if name == "source":
        table = pandas.DataFrame({"target": [2, 3]}, index=[1, 2]).rename_axis(name)
    table.to_parquet(tmp_path / "g.parquet")
    graph = read_graph(tmp_path / "g.parquet")
    assert (graph.vertex_count, graph.first_id) == (3, 1)
    assert graph.weights.tolist() == ([5, 7] if name == "km" else [1, 1])


def test_vertices_beside_that_change(tmp_path: Path) -> None:
    (tmp_path / "x.e").write_text("1 2 5\n")
    for count in (3, 5):
        (tmp_path / "x.v").write_text("".join(f"{v}\n" for v in range(1, count + 1)))
        assert read_graph(tmp_path / "x.e", cache=tmp_path / "kept").vertex_count == count


def test_a_link_with_another_suffix(tmp_path: Path) -> None:
    (tmp_path / "ring.txt").write_text("4 4\n2 4\n1 3\n2 4\n1 3\n")
    (tmp_path / "ring.graph").symlink_to(tmp_path / "ring.txt")
    counts = [
        read_graph(tmp_path / name, cache=tmp_path / "kept").arc_count
        for name in ("ring.txt", "ring.graph") * 2
    ]
    assert counts == [5, 8, 5, 8]


def test_lines_that_end_with_a_carriage_return(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_bytes(b"# of an old machine\r1 2 5\r3 4 5\r")
    with pytest.raises(FormatError, match="carriage return alone"):
        read_graph(tmp_path / "g.txt")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"row": np.array([0, 2**32])}, "an index is outside 0..2"),
        ({"col": np.array([1, -1])}, "an index is outside 0..2"),
        ({"row": np.array([0.5, 1])}, "its indices are float64"),
        ({"ids": np.array([7, 7, 8])}, "two vertices have the same id, 7"),
        ({"first_id": np.uint64(2**64 - 1)}, "first_id must be in .*, not 18446744073709551615"),
    ],
)
def test_sparse_arrays_of_other_programs(tmp_path: Path, changed: Any, says: str) -> None:
    arrays = {"format": b"coo", "shape": [3, 3], "row": [0, 1], "col": [1, 2], "data": [4, 5]}
    np.savez(tmp_path / "right.npz", **arrays)
    assert read_graph(tmp_path / "right.npz").heads.tolist() == [1, 2]
    np.savez(tmp_path / "wrong.npz", **(arrays | changed))
    with pytest.raises(FormatError, match=says):
        read_graph(tmp_path / "wrong.npz")


def test_a_null_character_in_a_name(tmp_path: Path) -> None:
    """NumPy forgets one at the end, and two vertices would have one name."""
    rows = "".join(f"n{v} m{v} 3\n" for v in range(20_000))
    (tmp_path / "g.txt").write_text(rows + "a\0 a 5\n")
    with pytest.raises(FormatError, match="null character"):
        read_graph(tmp_path / "g.txt")


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".tsv", ".wel", ".el"])
@pytest.mark.parametrize("first", [2**40, -(2**40)])
def test_no_arcs_and_large_ids(tmp_path: Path, suffix: str, first: int) -> None:
    path = tmp_path / f"g{suffix}"
    write_graph(Graph.from_arrays([0, 0, 0], [], [], first_id=first), path)
    graph = read_graph(path)
    assert (graph.vertex_count, graph.first_id) == (2, first)


def test_a_promise_of_all_numbers(tmp_path: Path) -> None:
    text = "# vertices -900000000000000000..900000000000000000\n1 2 3\n"
    (tmp_path / "g.txt").write_text(text)
    with pytest.raises(FormatError, match="promises 1,800,000,000,000,000,001 vertices"):
        read_graph(tmp_path / "g.txt")


def test_a_rank_without_arcs_is_shifted_by_nothing() -> None:
    assert _lowered(np.zeros(0, np.int32), 10**12).tolist() == []
    assert _lowered(np.array([5, 9], np.int32), 5).tolist() == [0, 4]


def test_a_number_of_5000_digits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python refuses to make an integer of it."""
    digits = "9" * 5000
    (tmp_path / "g.txt").write_text(f"{digits}\n1 2 3\n")
    with pytest.raises(FormatError):
        read_graph(tmp_path / "g.txt")
    assert TIME.fullmatch(digits) is None
    monkeypatch.setenv("GROUTE_PY_HOSTS", digits)
    settings.cache_clear()
    with pytest.raises(InputError, match="expected a number from 1"):
        settings()


def test_a_metis_header_below_zero(tmp_path: Path) -> None:
    (tmp_path / "g.graph").write_text("-3 2\n2\n1\n")
    assert GraphFile(tmp_path / "g.graph").size() is None


@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress, bz2.compress])
def test_zeros_between_members(tmp_path: Path, packed: Any) -> None:
    parts = packed(b"1 2 5\n"), packed(b"2 3 6\n")
    (tmp_path / "g").write_bytes(parts[0] + bytes(8) + parts[1] + bytes(4))
    assert read_graph(tmp_path / "g").weights.tolist() == [5, 6]


def test_a_frame_to_be_skipped_comes_first(tmp_path: Path) -> None:
    write_graph(Graph.from_arrays([0, 1, 1], [1], [5]), tmp_path / "g.txt.zst")
    frame = (tmp_path / "g.txt.zst").read_bytes()
    (tmp_path / "h").write_bytes(b"\x5a\x2a\x4d\x18" + bytes([3, 0, 0, 0]) + b"abc" + frame)
    assert read_graph(tmp_path / "h").weights.tolist() == [5]


def test_names_that_begin_like_bzip2(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("from,to\nBZh,foo\nfoo,bar\n")
    assert read_graph(tmp_path / "g.csv").arc_count == 2
    (tmp_path / "h.csv").write_text("BZh,foo\nfoo,bar\n")
    assert codec_of((tmp_path / "h.csv").read_bytes()) is None
    for content in (b"", os.urandom(100)):
        assert codec_of(bz2.compress(content)) is not None


@pytest.mark.parametrize(("above", "line"), [("", 1), (" ", 1), ("\n", 2), ("% none\n", 1)])
def test_a_matrix_without_its_banner_is_no_edge_list(tmp_path: Path, above: str, line: int) -> None:
    (tmp_path / "m.mtx").write_text(above + "3 3 2\n1 2 10\n2 3 5\n")
    with pytest.raises(FormatError, match=rf"m\.mtx:{line}: expected `%%MatrixMarket matrix"):
        read_graph(tmp_path / "m.mtx")


@pytest.mark.parametrize("above", ["", "\n", " \n ", "%"])
def test_a_banner_that_is_out_of_place(tmp_path: Path, above: str) -> None:
    banner = "%MatrixMarket matrix coordinate integer symmetric\n"
    (tmp_path / "m.mtx").write_text(above + banner + "3 3 2\n2 1 10\n3 2 5\n")
    arcs = [(1, 2, 10), (2, 1, 10), (2, 3, 5), (3, 2, 5)]
    assert arcs_by_id(read_graph(tmp_path / "m.mtx")) == arcs


MANY = 20_000
LONG_WINDED = {
    "digits": b"9" * MANY + b"x",
    "a weight": b"1 2 " + b"9" * MANY + b"x\n",
    "words": b"a" + b"_b" * MANY + b"!,b\n1,2\n",
    "blanks": b"a" + b" " * MANY + b"!,b\n1,2\n",
    "a title of nouns": b"from,to," + b"osmid" * MANY + b"x\n1,2,3\n",
    "nouns for an end": b"osmid" * 30 + b"x,b,c,d\n1,2,3,4\n",
    "brackets": b"from,to," + b"(" * MANY + b",km\n1,2,3,4\n",
    "separators": b"a," + b"_" * MANY + b"back,c\nx,y,z\n",
    "comments of DOT": b"/**/" * MANY + b"x",
    "comments of GML": b"# a\n" * MANY + b"x [",
    "comments of Pajek": b"% a\n" * MANY + b"x",
    "markup": b"<a> " * MANY + b"x",
    "quotes": b'"a"' * MANY + b",b\n1,2\n",
}


@pytest.mark.parametrize("name", LONG_WINDED)
def test_patterns_take_no_longer_than_they_must(tmp_path: Path, name: str) -> None:
    """A pattern that can fit in many ways would try them all where it fits in none."""
    (tmp_path / "g.csv").write_bytes(LONG_WINDED[name])
    start = time.process_time()
    with suppress(FormatError):
        read_graph(tmp_path / "g.csv", cache=False)
    assert time.process_time() - start < 20
