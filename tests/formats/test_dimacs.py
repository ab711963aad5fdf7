"""DIMACS text: every way of writing it that occurs, every mistake with its line, and back."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groute_py.errors import FormatError
from groute_py.graph.csr import Graph
from groute_py.io import compression
from groute_py.io.file_head import Head
from groute_py.io.formats import dimacs
from groute_py.io.text import arc_reader, lines

SMALL = b"c hello\np sp 3 3\na 3 1 7\na 1 2 803\na 1 3 -5\n"


@pytest.fixture
def read(tmp_path):
    def reader(text, name="small.gr"):
        (tmp_path / name).write_bytes(text)
        return read_dimacs(tmp_path / name)

    return reader


def read_dimacs(path, progress=None):
    return dimacs.read(Head(path), progress)


def lists(graph):
    return graph.offsets.tolist(), graph.heads.tolist(), graph.weights.tolist()


def test_small(read):
    graph = read(SMALL)
    assert lists(graph) == ([0, 2, 2, 3], [1, 2, 0], [803, -5, 7])
    assert graph.weights.dtype == np.int32
    assert (graph.first_id, graph.name) == (1, "small")


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace(b"\n", b"\r\n"),
        SMALL.replace(b" ", b"\t"),
        SMALL.replace(b" ", b" \t  "),
        SMALL.replace(b"\n", b"  \n\n\t\n"),
        SMALL.replace(b"\n", b"\n  "),
        SMALL.replace(b"\n", b"\nc\nc a 1 2 3\n"),
        SMALL.rstrip(b"\n"),
        SMALL.replace(b"803", b"+000803"),
        gzip.compress(SMALL),
        gzip.compress(SMALL[:20]) + gzip.compress(SMALL[20:]) + bytes(100),
    ],
)
def test_ways_to_write_the_same(read, text):
    assert lists(read(text)) == lists(read(SMALL))


def test_chunks_that_cut_lines(read, monkeypatch):
    expected = lists(read(SMALL))
    for size in range(1, len(SMALL) + 2):
        monkeypatch.setattr(compression, "CHUNK", size)
        assert lists(read(SMALL)) == expected
        assert lists(read(gzip.compress(SMALL))) == expected


@pytest.mark.parametrize(
    ("weights", "kind"),
    [
        ([2**31 - 1, -(2**31)], "int32"),
        ([1, 2**31], "int64"),
        ([1, -(2**31) - 1], "int64"),
        ([2**63 - 1, -(2**63)], "int64"),
        ([10**18, 10**17], "int64"),
        ([1.5, 3], "float64"),
        ([2**40, 2.0], "float64"),
        ([1, 0.1, 1e-300, 1e300, 5e-324, 123456789.123456789, -0.25], "float64"),
    ],
)
def test_weight_types(read, weights, kind):
    lines = "".join(f"a 1 1 {weight!r}\n" for weight in weights)
    graph = read(f"p sp 1 {len(weights)}\n{lines}".encode())
    assert graph.weights.dtype == kind
    assert graph.weights.tolist() == weights


@pytest.mark.parametrize("text", ["1.5", ".5", "5.", "2e3", "2E+3", "-1.25e-2", "+0.0", "1e22"])
def test_decimals(read, text):
    assert read(f"p sp 1 1\na 1 1 {text}\n".encode()).weights.tolist() == [float(text)]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "is empty"),
        ("c only\n", None, "no `p sp VERTICES ARCS` line"),
        ("a 1 2 3\np sp 3 1\n", 1, "an arc before the `p sp"),
        ("p sp 3 0\np sp 3 0\n", 2, "a second p line"),
        ("p sp x 0\n", 1, "two counts, got 'x'"),
        ("p sp 3 -1\n", 1, "two counts, got '-1'"),
        ("p sp 3\n", 1, "expected `p sp VERTICES ARCS`, got 'p sp 3'"),
        ("p tw 3 1\n1 2\n", 1, "expected `p sp"),
        ("p sp 3 2\na 1 2 3\n", None, "promises 2 arcs, but there are only 1"),
        ("p sp 3 1\n\na 1 2 3\na 1 2 3\n", 4, "more arcs than the 1"),
        ("p sp 3 1\na 0 2 3\n", 2, r"vertex 0 is outside the range 1\.\.3"),
        ("p sp 3 1\na 1 4 3\n", 2, r"vertex 4 is outside the range 1\.\.3"),
        ("p sp 3 1\na -1 2 3\n", 2, r"expected a vertex id in 1\.\.3, got '-1'"),
        ("p sp 3 1\na 99999999999999999999 2 3\n", 2, "expected a vertex id"),
        ("p sp 3 1\na 1 2\n", 2, "expected `a TAIL HEAD WEIGHT`, got 'a 1 2'"),
        ("p sp 3 1\na 1 2-5\n", 2, "expected `a TAIL HEAD WEIGHT`, got 'a 1 2-5'"),
        ("p sp 3 2\na 1 2 .5\na 1 2.5\n", 3, "expected `a TAIL HEAD WEIGHT`, got 'a 1 2.5'"),
        ("p sp 3 1\na\n", 2, "expected `a TAIL HEAD WEIGHT`"),
        ("p sp 3 1\na 1 2 3 4\n", 2, "expected `a TAIL HEAD WEIGHT`"),
        ("p sp 3 1\na 1 2 x\n", 2, "expected a finite number as weight, got 'x'"),
        ("p sp 3 1\na 1 2 nan\n", 2, "expected a finite number"),
        ("p sp 3 1\na 1 2 -inf\n", 2, "expected a finite number"),
        ("p sp 3 1\na 1 2 1_0\n", 2, "expected a finite number"),
        ("p sp 3 1\na 1 2 1.5.2\n", 2, "expected a finite number"),
        ("p sp 3 2\na 1 2 1.5\na 1 2 1e\n", 3, "expected a finite number"),
        ("p sp 3 2\na 1 2 1.5\na 1 2 1e2e3\n", 3, "expected a finite number"),
        ("p sp 3 2\na 1 2 1.5\na 1 2 .\n", 3, "expected a finite number"),
        ("p sp 3 2\na 1 2 1.5\na 1 2 -\n", 3, "expected a finite number"),
        ("p sp 3 1\na 1 2 9223372036854775808\n", 2, "does not fit in 64-bit integers"),
        ("p sp 3 1\na 1 2 1e999\n", 2, "does not fit in 64-bit floating point"),
        ("p sp 3 1\ne 1 2 3\n", 2, "unknown line type 'e'; expected"),
        ("p sp 3 1\nc x\n\nab 1 2 3\n", 4, "unknown line type 'ab'"),
        ("p sp 3 1\n1 2 3\n", 2, "unknown line type '1'"),
        ("p sp 3 999999999999\n", None, "promises 999,999,999,999 arcs, but there are only 0"),
        ("p sp 999999999999999999 0\n", None, "vertices, but has only 26 bytes"),
        ("p sp 9999999999999999999 0\n", 1, "with two counts"),
    ],
)
def test_mistakes(read, text, line, message):
    with pytest.raises(FormatError, match=message) as caught:
        read(text.encode())
    assert caught.value.line == line
    assert "small.gr" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (gzip.compress(SMALL)[:-9], "truncated: the gzip data ends"),
        (gzip.compress(SMALL)[:15], "truncated: the gzip data ends"),
        (gzip.compress(SMALL)[:12] + b"xxxx" + gzip.compress(SMALL)[16:], "damaged gzip data"),
        (gzip.compress(SMALL)[:-8] + bytes(8), "damaged gzip data"),
        (gzip.compress(SMALL) + b"rubbish", "behind the end of the gzip data"),
    ],
)
def test_damaged_gzip(read, text, message):
    with pytest.raises(FormatError, match=message):
        read(text, "small.gr.gz")


def test_a_file_that_can_be_opened_but_not_read():
    with pytest.raises(FormatError, match="self/mem: cannot be read: Input/output error"):
        read_dimacs(Path("/proc/self/mem"))


def test_a_line_without_end(read, monkeypatch):
    monkeypatch.setattr(compression, "CHUNK", 10)
    monkeypatch.setattr(lines, "LONGEST_TEXT_LINE", 100)
    with pytest.raises(FormatError, match="a line of more than 100 bytes"):
        read(b"c" * 200)


FINITE = st.floats(allow_nan=False, allow_infinity=False)
INT64 = st.integers(-(2**63), 2**63 - 1)
ARCS = st.one_of(*(st.lists(st.tuples(st.integers(0, 4), w), max_size=20) for w in (FINITE, INT64)))


@given(ARCS, st.sampled_from([".gr", ".gr.gz"]))
def test_what_is_written_is_read(tmp_path_factory, arcs, suffix):
    path = tmp_path_factory.mktemp("there") / f"graph{suffix}"
    heads, weights = [a[0] for a in arcs], [a[1] for a in arcs]
    offsets = [0, 0, len(arcs) // 2, len(arcs), len(arcs), len(arcs)]
    graph = Graph.from_arrays(offsets, heads, np.array(weights, type(weights[0] if arcs else 0)))
    dimacs.write(graph, path)
    assert lists(read_dimacs(path)) == lists(graph)
    assert list(path.parent.iterdir()) == [path]


def scan_nothing(text, start, *others):
    """Leave every line to the caller."""
    return start, 0, 0


def outcome(path):
    try:
        graph = read_dimacs(path)
    except FormatError as error:
        return str(error)
    return *lists(graph), graph.weights.dtype


IDS = ["0", "1", "3", "4", "+2", "-1"]
WORDS = ["a", "c", "p", "sp", "x", "nan", ".", "e", "-", "1e", "1e5.5"]
DECIMALS = ["1.5", "-2e3", ".5", "5.", "1e22", "1e23", "0.1234567890123456789", "7e-22", "1e999"]
WHOLES = ["99999999999", "999999999999999999", "9223372036854775807", "-9223372036854775809"]
TOKEN = st.sampled_from(IDS + WORDS + DECIMALS + WHOLES)
ARC = st.tuples(st.sampled_from(["1", "2", "3"]), st.sampled_from(["1", "3"]), TOKEN)
LINE = st.one_of(
    ARC.map(lambda fields: " ".join(("a", *fields))),
    ARC.map(lambda fields: "a " + fields[0] + " " + fields[1] + fields[2]),
    st.lists(TOKEN, max_size=5).map(" ".join),
    st.text("a123. \t\r\v-ec", max_size=12),
)


@given(st.lists(ARC.map(lambda fields: " ".join(("a", *fields))), max_size=8), st.lists(LINE))
def test_the_fast_and_the_careful_way_agree(tmp_path_factory, lines, more):
    path = tmp_path_factory.mktemp("there") / "any.gr"
    path.write_bytes("\n".join([f"p sp 3 {len(lines)}", *lines, *more]).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arc_reader, "scan_arcs", scan_nothing)
        careful = outcome(path)
    assert outcome(path) == careful


def test_unsigned_weights_and_many_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(compression, "CHUNK", 1000)
    weights = np.arange(500, dtype=np.uint32) + np.uint32(2**32 - 500)
    graph = Graph.from_arrays(np.arange(501), np.arange(500)[::-1], weights)
    dimacs.write(graph, tmp_path / "x.gr")
    assert lists(read_dimacs(tmp_path / "x.gr")) == lists(graph)


def test_new_york(data_folder):
    seen = []
    path = data_folder / "dimacs9" / "USA-road-d.NY.gr.gz"
    graph = read_dimacs(path, lambda done, total: seen.append((done, total)))
    assert (graph.vertex_count, graph.arc_count) == (264_346, 733_846)
    assert (graph.weights.min(), graph.weights.max()) == (1, 36_946)
    assert graph.weights.dtype == np.int32
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)
    assert seen == sorted(seen)


def test_rome(data_folder):
    graph = read_dimacs(data_folder / "dimacs9" / "rome99.gr")
    assert (graph.vertex_count, graph.arc_count) == (3_353, 8_870)


LINES = [
    "c a",
    "",
    "a 1 2 3",
    " a 3\t1 -4 ",
    "a 2 2 1.5",
    "a 1 3 99999999999",
    "a 1 9 1",
    "x",
    "c" * 40,
]


@given(st.lists(st.sampled_from(LINES), max_size=12), st.integers(1, 90), st.booleans())
def test_spans_of_a_file_are_the_whole_file(tmp_path_factory, some, span, ended):
    """A plain file is read in spans, a compressed one from its beginning to its end."""
    arcs = sum(line.lstrip().startswith("a") for line in some)
    text = "\n".join(["\ufeffc", f"p sp 3 {arcs}", *some]) + "\n" * ended
    folder = tmp_path_factory.mktemp("there")
    (folder / "g.gr").write_bytes(text.encode())
    (folder / "g.gr.gz").write_bytes(gzip.compress(text.encode(), 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arc_reader, "SPAN_BYTES", span)
        result = [_outcome(folder / name) for name in ("g.gr", "g.gr.gz")]
    assert result[0] == result[1]


@pytest.mark.parametrize("end", [b"\n", b"\na 1 2 3\n", b""])
@pytest.mark.parametrize("span", [1, 20, 64])
def test_the_line_that_is_too_long(read, monkeypatch, span, end):
    monkeypatch.setattr(arc_reader, "SPAN_BYTES", span)
    monkeypatch.setattr(lines, "LONGEST_TEXT_LINE", 100)
    with pytest.raises(FormatError, match=":3: a line of more than 100 bytes"):
        read(b"p sp 3 2\na 1 2 3\n" + b"c" * 101 + end)
    assert read(b"p sp 3 1\na 1 2 3\n" + b"c" * 100 + b"\n").arc_count == 1


@pytest.mark.parametrize("span", [1, 20, 64])
def test_a_wrong_line_before_the_one_that_is_too_long(read, monkeypatch, span):
    monkeypatch.setattr(arc_reader, "SPAN_BYTES", span)
    monkeypatch.setattr(lines, "LONGEST_TEXT_LINE", 100)
    with pytest.raises(FormatError, match=":2: vertex 9 is outside"):
        read(b"p sp 3 2\na 1 9 3\n" + b"c" * 101 + b"\n")


# Only lines behind the first block are scanned while more of a compressed file is read.
FIRST_BLOCK = b"p sp 3 2\na 1 2 3\n" + b"c\n" * (compression.CHUNK // 2)
LINE = 3 + compression.CHUNK // 2


def test_a_wrong_line_before_the_one_that_is_too_long_in_a_compressed_file(read, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_TEXT_LINE", 1000)
    wrong, long = b"a 1 9 3\n", b"c" * (2 * compression.CHUNK)
    with pytest.raises(FormatError, match=f":{LINE}: vertex 9 is outside"):
        read(gzip.compress(FIRST_BLOCK + wrong + long), "small.gr.gz")
    with pytest.raises(FormatError, match=f":{LINE}: a line of more than 1,000 bytes"):
        read(gzip.compress(FIRST_BLOCK + long), "small.gr.gz")


def test_a_wrong_line_before_the_damage_of_a_compressed_file(read):
    packed = gzip.compress(FIRST_BLOCK + b"a 1 9 3\n" + b"c\n" * compression.CHUNK)
    with pytest.raises(FormatError, match=f":{LINE}: vertex 9 is outside"):
        read(packed[:-4], "small.gr.gz")


def _outcome(path):
    try:
        return lists(read_dimacs(path))
    except FormatError as error:
        return error.line, str(error).partition(": ")[2]
