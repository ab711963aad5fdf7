"""Damaged files of every format: one `FormatError` that says where, never a crash."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from support.graphs import graph_of
from support.processes import run_python

from groute_py import FormatError, Graph, read_graph, write_graph
from groute_py.graph.symmetrize import mirrored
from groute_py.io.text import lines

TRIANGLE = graph_of(3, [(0, 1, 5), (1, 2, 70), (2, 0, 11)])
BINARY = [".csr", ".wsg", ".galois", ".npz", ".parquet"]
TEXT = [".gr", ".mtx", ".csv", ".wel", ".graph", ".mat"]
PACKED = [".gr.gz", ".gr.xz", ".gr.bz2", ".gr.zst", ".wsg.gz", ".galois.xz"]


@pytest.mark.parametrize("suffix", BINARY + TEXT + PACKED)
def test_truncated_at_every_byte(tmp_path: Path, suffix: str) -> None:
    """A text may lose its last newline, and an edge list its last lines or digits, unnoticed."""
    path = tmp_path / f"whole{suffix}"
    write_graph(mirrored(TRIANGLE), path)
    whole = path.read_bytes()
    part = tmp_path / f"part{suffix}"
    for size in range(len(whole)):
        part.write_bytes(whole[:size])
        if suffix in TEXT:
            outcome_is_graph_or_error(part)
        else:
            with pytest.raises(FormatError, match=part.name):
                read_graph(part)


@pytest.mark.parametrize("suffix", BINARY + TEXT + PACKED)
def test_any_byte_changed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"whole{suffix}"
    write_graph(mirrored(TRIANGLE), path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 1 + len(whole) // 150):
        for flip in (0xFF, 0x01):
            content = bytearray(whole)
            content[place] ^= flip
            path.write_bytes(bytes(content))
            outcome_is_graph_or_error(path)


def outcome_is_graph_or_error(path: Path) -> None:
    try:
        assert isinstance(read_graph(path), Graph)
    except FormatError as error:
        assert path.name in str(error)  # noqa: PT017


MTX = "%%MatrixMarket matrix coordinate integer general\n"
MISTAKES = {
    # Matrix Market
    "mtx complex": (MTX.replace("integer", "complex") + "1 1 0\n", 1, "values are complex"),
    "mtx array": (MTX.replace("coordinate", "array") + "1 1\n1\n", 1, "in array form"),
    "mtx hermitian": (MTX.replace("general", "hermitian") + "1 1 0\n", 1, "hermitian"),
    "mtx banner": ("%%MatrixMarket matrix\n", 1, "expected `%%MatrixMarket matrix"),
    "mtx not square": (MTX + "2 3 0\n", 2, "square matrix, not 2 x 3"),
    "mtx no size": (MTX + "% only\n", None, "no line `ROWS COLUMNS ENTRIES`"),
    "mtx bad size": (MTX + "3 3\n", 2, "expected `ROWS COLUMNS ENTRIES`"),
    "mtx fewer": (MTX + "3 3 2\n1 2 5\n", None, "promises 2 arcs, but there are only 1"),
    "mtx more": (MTX + "3 3 1\n1 2 5\n\n2 3 5\n", 5, "more arcs than the 1"),
    "mtx id 0": (MTX + "3 3 1\n0 2 5\n", 3, "vertex 0 is outside the range 1..3"),
    "mtx id above": (MTX + "3 3 1\n1 4 5\n", 3, "vertex 4 is outside the range 1..3"),
    "mtx NaN": (MTX + "3 3 1\n1 2 nan\n", 3, "expected a finite number"),
    "mtx infinity": (MTX + "3 3 1\n1 2 inf\n", 3, "expected a finite number"),
    "mtx fields": (MTX + "3 3 1\n1 2\n", 3, "expected `ROW COLUMN VALUE`"),
    "mtx overflow": (MTX + f"3 3 1\n1 2 {2**63}\n", 3, "does not fit in 64-bit integers"),
    "mtx huge": (MTX + f"{10**17} {10**17} 0\n", None, "vertices, but has only"),
    "mtx many entries": (MTX + f"3 3 {10**17}\n", None, "there are only 0"),
    # edge lists
    "list NaN": ("1 2 5\n2 3 nan\n", 2, "expected a finite number as weight, got 'nan'"),
    "list infinity": ("1,2,5\n2,3,-inf\n", 2, "expected a finite number"),
    "list overflow": (f"1 2 5\n2 3 {2**63}\n", 2, "does not fit in 64-bit integers"),
    "list large float": ("1 2 5\n2 3 1e999\n", 2, "does not fit in 64-bit floating"),
    "list fewer fields": ("1 2 5\n2 3\n", 2, "expected `TAIL HEAD WEIGHT`"),
    "list more fields": ("# c\n1 2\n3 4\n2 3 5\n", 4, "expected `TAIL HEAD`"),
    "list empty field": ("1,2,5\n2,,5\n", 2, "expected"),
    "list counts fewer": ("3 3\n1 2 5\n2 3 5\n", None, "promises 3 arcs"),
    "list counts more": ("3 1\n1 2 5\n2 3 5\n", 3, "more arcs than the 1"),
    "list id above count": ("2 1\n1 3 5\n", None, "vertex 3 is outside the range 1..2"),
    "list huge count": (f"{10**17} 1\n1 2 5\n", None, "vertices, but has only"),
    "list huge range": (f"# vertices 0..{10**17}\n1 2 5\n", None, "vertices, but has only"),
    "list NUL": ("1 2 5\n2 \0 7\n", None, "is not a graph file"),
    "prose": ("what is this\nit is prose\n", None, "is not a graph file"),
    # PACE
    "pace fewer": ("p tw 3 2\n1 2\n", None, "promises 2 arcs"),
    "pace more": ("p tw 3 1\n1 2\n2 3\n", 3, "more arcs than the 1"),
    "pace weights": ("p tw 3 1\n1 2 5\n", 2, "expected an edge `U V`, got '1 2 5'"),
    "pace id": ("p edge 3 1\ne 1 4\n", 2, "vertex 4 is outside the range 1..3"),
    # METIS
    "metis header": ("3 2 001 1 7\n2\n1\n\n", 1, "expected `VERTICES EDGES [FORMAT"),
    "metis format": ("3 2 7\n2\n1 3\n2\n", 1, "three digits 0 or 1, got 7"),
    "metis fewer rows": ("% c\n4 1\n2\n1\n", None, "promises 4 vertices, but has lines for only 2"),
    "metis id": ("3 2\n2\n1 4\n2\n", 3, "vertex 4 is outside the range 1..3"),
    "metis count": ("3 3\n2\n1 3\n2\n", None, "promises 3 edges, but the lines have 4 heads"),
    "metis odd": ("3 2 1\n2 5\n1 5 3\n2 7\n", 3, "pairs `HEAD WEIGHT`"),
    "metis one way": ("3 2 1\n2 5\n3 7 3 7\n1 5\n", None, "is not symmetric"),
    "metis two weights": ("3 2 1\n2 5\n1 5 3 8\n2 7\n", None, "is not symmetric"),
    # dense
    "matrix fewer": ("2\n0 1\n1\n", 3, "promises 2 x 2 numbers, but there are only 3"),
    "matrix more": ("2\n0 1\n1 0 5\n", 3, "more than the 2 x 2 numbers"),
    "matrix word": ("2\n0 1\nx 0\n", 3, "expected an integer, got 'x'"),
    "matrix decimal": ("2\n0 1\n1.5 0\n", 3, "expected an integer, got '1.5'"),
    "matrix overflow": (f"2\n0 1\n{2**63} 0\n", 3, "does not fit in 64-bit integers"),
    "matrix huge": (f"{10**17}\n1 2 3 4 5\n", 1, "expected the number of vertices"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(tmp_path: Path, name: str) -> None:
    text, line, says = MISTAKES[name]
    suffix = ".graph" if name.startswith("metis") else ""
    for path, content in (
        (tmp_path / f"bad{suffix}", text.encode()),
        (tmp_path / f"bad{suffix}.gz", gzip.compress(text.encode())),
        (tmp_path / f"bad-crlf{suffix}", text.replace("\n", "\r\n").encode()),
    ):
        path.write_bytes(content)
        with pytest.raises(FormatError) as caught:
            read_graph(path)
        assert says in str(caught.value)
        assert caught.value.line == line
        assert str(path) in str(caught.value)


def words(*numbers: int) -> bytes:
    return np.array(numbers, "<i8").tobytes()


HUGE = {
    "galois vertices": (words(1, 4, 2**55, 0), "bytes of ends, and has only 32 bytes"),
    "galois arcs": (words(1, 4, 1, 2**55, 2**55), "bytes of heads, and has only 40 bytes"),
    "galois weights": (words(1, 3, 0, 0), "has weights of 3 bytes at byte 8"),
    "galois end": (words(1, 4, 1, 1, 1, 0, 0), "goes on behind its end"),
    "galois head": (words(1, 8, 1, 1, 1, 7, 5), "leads to vertex 7, but there are 1"),
    "galois ends": (words(1, 8, 2, 1, 2, 1, 0, 5), "damaged Galois graph: offsets"),
    "gapbs": (gzip.compress(b"\1" + words(2**40, 3, 0)), "within the offsets"),
    "gapbs arcs": (
        gzip.compress(b"\0" + words(2**40, 1, 0, 1)),
        "bytes of neighbors, and has only 29 bytes",
    ),
    "gapbs sizes": (
        gzip.compress(b"\0" + words(2, 1, 0, 2, 5) + b"more"),
        "do not take 4 bytes more from byte 41 on",
    ),
}


@pytest.mark.parametrize("name", HUGE)
def test_binary_files_that_lie(tmp_path: Path, name: str) -> None:
    content, says = HUGE[name]
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_graph(tmp_path / "bad")
    assert says in str(caught.value)


def test_npz_that_is_something_else(tmp_path: Path) -> None:
    np.savez(tmp_path / "result.npz", distances=np.arange(3), source=0)
    with pytest.raises(FormatError, match="no SciPy sparse array: it lacks format"):
        read_graph(tmp_path / "result.npz")
    np.savez(tmp_path / "dia.npz", format=b"dia", shape=(3, 3), data=np.ones(3))
    with pytest.raises(FormatError, match="in dia form"):
        read_graph(tmp_path / "dia.npz")
    np.savez(tmp_path / "odd.npz", format=b"csr", shape=(3, 4), data=np.ones(3))
    with pytest.raises(FormatError, match="not 3 x 4"):
        read_graph(tmp_path / "odd.npz")


def test_parquet_that_is_something_else(tmp_path: Path) -> None:
    arrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    tables = {
        "one column": ({"a": [1]}, "expected columns of tails and heads, got a"),
        "decimals": ({"a": [1.5], "b": [2.5]}, "integers or strings"),
        "nothing": ({"a": [1, None], "b": [2, 3]}, "column a has 1 empty places"),
        "mixed": ({"a": [1], "b": ["x"]}, "tails are int64 and heads"),
        "NaN": ({"a": [1], "b": [2], "weight": [float("nan")]}, "weights must be finite"),
        "text": ({"a": [1], "b": [2], "weight": ["x"]}, "weights must be"),
    }
    for columns, says in tables.values():
        pq.write_table(arrow.table(columns), tmp_path / "t.parquet")
        with pytest.raises(FormatError, match=says):
            read_graph(tmp_path / "t.parquet")


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_TEXT_LINE", 1 << 17)
    (tmp_path / "a").write_bytes(b"1 2 3\n" + b"7" * (1 << 18))
    with pytest.raises(FormatError, match=":2: a line of more than 131,072 bytes"):
        read_graph(tmp_path / "a")


BOMBS = {
    "a.gr.gz": lambda: gzip.compress(b"c" * (1 << 28) + b"\n", 1),
    "b.gr.gz": lambda: gzip.compress(b"p sp 3 1\n" + b"c\n" * (1 << 26), 1),
    "c.gr.xz": lambda: lzma.compress(b"p sp 3 1\n" + bytes(1 << 27), preset=0),
    "d.npz": lambda: _npz_of_zeros(1 << 33),
    "e.galois.gz": lambda: gzip.compress(words(1, 4, 2**40, 0) + bytes(1 << 28), 1),
}


def _npz_of_zeros(size: int) -> bytes:
    """An archive that says that its one array has so many bytes."""
    import io
    import zipfile

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        header = b"\x93NUMPY\1\0v\0" + b"{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }"
        archive.writestr("data.npy", (header % (size // 8)).ljust(127) + b"\n")
    return file.getvalue()


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_take_no_memory(tmp_path: Path, name: str) -> None:
    """The process needs some 200 MB for the compiled loops."""
    (tmp_path / name).write_bytes(BOMBS[name]())
    code = f"""
import resource
import numpy
from groute_py import FormatError, read_graph
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_graph({str(tmp_path / name)!r}, cache=False)
except FormatError as error:
    print(error)
more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert more < 400_000, more
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(name) == 1
