"""Every format: what is written comes back, and the files that other programs write are read."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import arcs_by_id, graph_of

from groute_py import FormatError, Graph, InputError, read_graph, sssp, write_graph
from groute_py.graph.symmetrize import is_symmetric, mirrored

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
WEIGHTS = {"int32": INT32, "int64": INT64, "float64": FINITE}
NAMES = st.text("abcXYZ0189_-é", min_size=1, max_size=5).map(lambda name: "n" + name)


def lists(graph: Graph) -> tuple[list[Any], ...]:
    return graph.offsets.tolist(), graph.heads.tolist(), graph.weights.tolist()


@st.composite
def any_graphs(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(WEIGHTS)) -> Graph:
    """Small graphs, with parallel arcs, self-loops, lonely vertices, and extreme weights."""
    count, kind = draw(st.integers(1, 6)), draw(st.sampled_from(kinds))
    vertex = st.integers(0, count - 1)
    arcs = draw(st.lists(st.tuples(vertex, vertex, WEIGHTS[kind]), max_size=12))
    return graph_of(count, arcs, kind)


class Way:
    """How a format is tried: which weights it holds, and the id that it gives to vertex 0."""

    def __init__(self, *kinds: str, first_id: int | None = None, exact: bool = True) -> None:
        self.kinds = kinds or tuple(WEIGHTS)
        self.first_id = first_id
        self.exact = exact


WAYS = {
    ".csr": Way(),
    ".gr": Way(first_id=1),
    ".mtx": Way(first_id=1),
    ".csv": Way(),
    ".tsv": Way(),
    ".wel": Way(),
    ".e": Way(),
    ".wsg": Way("int32", first_id=0),
    ".galois": Way("int32", "int64", first_id=0),
    ".npz": Way(),
    ".parquet": Way(),
    ".gr.xz": Way(first_id=1),
    ".gr.zst": Way(first_id=1),
    ".csv.bz2": Way(),
    ".mtx.gz": Way(first_id=1),
    ".wsg.zst": Way("int32", first_id=0),
    ".galois.gz": Way("int32", "int64", first_id=0),
}


@pytest.mark.parametrize("suffix", WAYS)
@settings(max_examples=30)
@given(st.data(), st.sampled_from([0, 1, 7]))
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, data: st.DataObject, first: int
) -> None:
    way = WAYS[suffix]
    drawn = data.draw(any_graphs(way.kinds))
    graph = Graph(drawn.offsets, drawn.heads, drawn.weights, first_id=first)
    path = tmp_path_factory.mktemp("there") / f"graph{suffix}"
    write_graph(graph, path)
    again = read_graph(path)
    assert lists(again) == lists(graph)
    assert again.first_id == (first if way.first_id is None else way.first_id)
    # A text cannot tell int64 from int32 where all fit, nor float64 where there is nothing.
    assert again.weights.dtype.kind == graph.weights.dtype.kind or not graph.arc_count


@pytest.mark.parametrize("suffix", [".csr", ".csv", ".tsv", ".wel", ".e", ".npz", ".parquet"])
@settings(max_examples=30)
@given(st.data())
def test_ids_come_back(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, data: st.DataObject
) -> None:
    graph = data.draw(any_graphs())
    ids_like = data.draw(st.sampled_from(["names", "integers"]))
    kind = NAMES if ids_like == "names" else INT64.filter(lambda i: i != 0)
    ids = data.draw(st.lists(kind, min_size=6, max_size=6, unique=True))[: graph.vertex_count]
    named = Graph(graph.offsets, graph.heads, graph.weights, ids=np.array(ids))
    path = tmp_path_factory.mktemp("there") / f"graph{suffix}"
    try:
        write_graph(named, path)
    except InputError as error:
        assert "has no arcs, so an edge list loses it" in str(error)  # noqa: PT017
        return
    again = read_graph(path)
    assert arcs_by_id(again) == arcs_by_id(named)
    indices = np.arange(graph.vertex_count)
    assert sorted(again.numbering.ids_of(indices).tolist()) == sorted(ids)


@settings(max_examples=30)
@given(any_graphs(("int32", "int64")), st.sampled_from([".graph", ".metis.gz"]))
def test_metis_round_trip(
    tmp_path_factory: pytest.TempPathFactory, drawn: Graph, suffix: str
) -> None:
    tails = np.repeat(np.arange(drawn.vertex_count), np.diff(drawn.offsets))
    loose = [a for a in zip(tails, drawn.heads, drawn.weights, strict=True) if a[0] != a[1]]
    graph = mirrored(graph_of(drawn.vertex_count, loose, drawn.weights.dtype.name))
    path = tmp_path_factory.mktemp("there") / f"graph{suffix}"
    write_graph(graph, path)
    assert lists(read_graph(path)) == lists(graph)


@given(any_graphs(), st.booleans())
def test_symmetry(drawn: Graph, mirror: bool) -> None:
    graph = mirrored(drawn) if mirror else drawn
    arcs = arcs_by_id(graph)
    assert is_symmetric(graph) == (arcs == sorted((v, u, w) for u, v, w in arcs))


@settings(max_examples=30)
@given(any_graphs(("int32", "int64")))
def test_matrix_round_trip(tmp_path_factory: pytest.TempPathFactory, graph: Graph) -> None:
    """Of parallel arcs the lightest comes back; a self-loop only if it is negative."""
    path = tmp_path_factory.mktemp("there") / "graph.mat"
    lightest: dict[tuple[int, int], int] = {}
    for tail, head, weight in arcs_by_id(graph):
        if tail != head or weight < 0:
            lightest[tail, head] = min(weight, lightest.get((tail, head), weight))
    if 10**6 in graph.weights or 2**63 - 1 in graph.weights:
        return
    write_graph(graph, path)
    again = read_graph(path)
    assert arcs_by_id(again) == [(*ends, weight) for ends, weight in sorted(lightest.items())]
    assert again.vertex_count == graph.vertex_count


PACKERS = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}
SMALL = [(1, 2, 5), (2, 3, 7), (3, 1, 1)]
"""What all the files below say."""

TEXTS = {
    "SNAP": "# Directed graph\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n3\t1\n",
    "wel": "1 2 5\n2 3 7\n3 1 1\n",
    "csv with titles": "source,target,weight\n1,2,5\n2,3,7\n3,1,1\n",
    "csv with quotes": '"src";"dst";"km"\n"1";"2";5\n"2";"3";7\n"3";"1";1\n',
    "csv without titles": "1, 2, 5\n2, 3, 7\n3, 1, 1\n",
    "bars": "1|2|5\n2|3|7\n3|1|1\n",
    "counts in front": "3 3\n1 2 5\n2 3 7\n3 1 1\n",
    "counts in two lines": "3\n3\n1 2 5\n2 3 7\n3 1 1\n",
    "percent comments": "% sym\n1 2 5\n% more\n2 3 7\n\n3 1 1",
    "pattern": "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n3 1\n",
    "real": "%%MatrixMarket matrix coordinate real general\n% c\n3 3 3\n1 2 5\n2 3 7e0\n3 1 1\n",
    "capitals": "%%matrixmarket MATRIX Coordinate Integer GENERAL\n3 3 3\n1 2 5\n2 3 7\n3 1 1\n",
    "DIMACS": "p sp 3 3\na 1 2 5\na 2 3 7\na 3 1 1\n",
    "matrix": "3\n1000000 5 1000000\n0 0 7\n1 1000000 0\n".replace("\n0 0", "\n1000000 0"),
    "matrix in one line": "3\n0 5 1000000 1000000 0 7 1 1000000 0\n",
}
UNIT = {"SNAP", "pattern"}


def small(name: str) -> list[tuple[int, int, int]]:
    first = 0 if name.startswith("matrix") else 1
    unit = name in UNIT
    return [(u - 1 + first, v - 1 + first, 1 if unit else w) for u, v, w in SMALL]


SITUATIONS = {
    "plain": lambda text: text,
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
    "BOM": lambda text: b"\xef\xbb\xbf" + text,
    "no last newline": lambda text: text.rstrip(b"\n"),
    "blank lines": lambda text: text + b"\n\n",
    "trailing blanks": lambda text: text.replace(b"\n", b" \t\n"),
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": lambda text: pytest.importorskip("backports.zstd").compress(text),
    "two gzip members": lambda text: gzip.compress(text[:9]) + gzip.compress(text[9:]) + bytes(9),
}


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_others(tmp_path: Path, name: str, situation: str) -> None:
    """The table: formats × situations."""
    path = tmp_path / "graph"
    path.write_bytes(SITUATIONS[situation](TEXTS[name].encode()))
    assert arcs_by_id(read_graph(path)) == small(name)


METIS = {
    "plain": ("3 2\n2\n1 3\n2\n", [(1, 2, 1), (2, 1, 1), (2, 3, 1), (3, 2, 1)]),
    "weights": ("% c\n3 2 1\n2 5\n1 5 3 7\n2 7\n", [(1, 2, 5), (2, 1, 5), (2, 3, 7), (3, 2, 7)]),
    "vertex weights": (
        "3 2 111 2\n9 8 8 2 5\n9 8 8 1 5 3 7\n9 8 8 2 7\n",
        [(1, 2, 5), (2, 1, 5), (2, 3, 7), (3, 2, 7)],
    ),
    "lonely vertices": ("3 1\n3\n\n1\n", [(1, 3, 1), (3, 1, 1)]),
}


@pytest.mark.parametrize("name", METIS)
@pytest.mark.parametrize("suffix", [".graph", ""])
def test_metis(tmp_path: Path, name: str, suffix: str) -> None:
    text, arcs = METIS[name]
    (tmp_path / f"g{suffix}").write_text(text)
    assert arcs_by_id(read_graph(tmp_path / f"g{suffix}")) == arcs


@pytest.mark.parametrize(
    ("symmetry", "back"), [("general", None), ("symmetric", 1), ("skew-symmetric", -1)]
)
@pytest.mark.parametrize("field", ["integer", "real", "double"])
def test_symmetries(tmp_path: Path, symmetry: str, back: int | None, field: str) -> None:
    banner = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n"
    (tmp_path / "m").write_text(banner + "3 3 2\n2 1 5\n3 3 7\n")
    result = [(2, 1, 5), (3, 3, 7)] + ([] if back is None else [(1, 2, 5 * back)])
    assert arcs_by_id(read_graph(tmp_path / "m")) == sorted(result)


@pytest.mark.parametrize("suffix", [".graph", ""])
def test_metis_with_an_indented_comment(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"g{suffix}").write_text(" % a path\n4 3\n2\n1 3\n2 4\n3\n")
    graph = read_graph(tmp_path / f"g{suffix}")
    assert (graph.vertex_count, graph.arc_count) == (4, 6)


@pytest.mark.parametrize(("kind", "letter"), [("tw", ""), ("edge", "e "), ("col", "e ")])
def test_pace(tmp_path: Path, kind: str, letter: str) -> None:
    (tmp_path / "g.gr").write_text(f"c x\np {kind} 4 2\n{letter}1 2\n{letter}2 3\n")
    graph = read_graph(tmp_path / "g.gr")
    assert arcs_by_id(graph) == [(1, 2, 1), (2, 1, 1), (2, 3, 1), (3, 2, 1)]
    assert graph.vertex_count == 4


def test_ids_that_do_not_count_upwards(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("10 -3 5\n-3 99999999999 7\n")
    graph = read_graph(tmp_path / "a")
    assert graph.ids is not None
    assert graph.ids.tolist() == [-3, 10, 99999999999]
    assert arcs_by_id(graph) == [(-3, 99999999999, 7), (10, -3, 5)]


def test_a_name_after_many_numbers(tmp_path: Path) -> None:
    lines = [f"{i} {i + 1} 1\n" for i in range(500)]
    (tmp_path / "a").write_text("".join(lines) + "500 18446744073709551615 2\n")
    graph = read_graph(tmp_path / "a")
    assert graph.vertex_count == 502
    assert graph.numbering.index_of("18446744073709551615") == 501
    for more in ("", "18446744073709551615 7 1\n"):
        (tmp_path / "a").write_text("".join(lines) + more + "1O 5 2\n")
        with pytest.raises(FormatError, match=r"expected an integer id .* got '1O'") as caught:
            read_graph(tmp_path / "a")
        assert caught.value.line == 501 + bool(more)
    (tmp_path / "a").write_text("# ids are names\n" + "".join(lines) + "500 home 2\n")
    assert ("500", "home", 2) in arcs_by_id(read_graph(tmp_path / "a"))


def test_a_bad_vertex_of_ldbc(tmp_path: Path) -> None:
    (tmp_path / "g.e").write_text("1 3 0.5\n")
    (tmp_path / "g.v").write_text("1\n3\nhome\n")
    with pytest.raises(FormatError, match=r"g\.v:3: expected a vertex, got 'home'"):
        read_graph(tmp_path / "g.e")


def test_vertices_of_ldbc(tmp_path: Path) -> None:
    (tmp_path / "g.e").write_text("1 3 0.5\n")
    (tmp_path / "g.v.gz").write_bytes(gzip.compress(b"1\n2\n3\n4\n"))
    graph = read_graph(tmp_path / "g.e")
    assert (graph.vertex_count, graph.first_id, graph.ids) == (4, 1, None)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["int64", "float32"])
def test_scipy(tmp_path: Path, form: str, kind: str) -> None:
    matrix = sparse.random_array((9, 9), density=0.3, rng=np.random.default_rng(1), dtype=kind)
    sparse.save_npz(tmp_path / "m.npz", matrix.asformat(form))
    graph = read_graph(tmp_path / "m.npz")
    ours = sparse.csr_array((graph.weights, graph.heads, graph.offsets), shape=(9, 9))
    assert (ours != matrix).nnz == 0
    write_graph(graph, tmp_path / "again.npz")
    assert (sparse.load_npz(tmp_path / "again.npz") != matrix).nnz == 0


def test_galois_by_hand(tmp_path: Path) -> None:
    ends, heads, weights = np.array([1, 2, 3], "<u8"), np.array([1, 2, 0]), np.array([5, 7, 1])
    for version, pad in ((1, bytes(4)), (2, b"")):
        header = np.array([version, 4, 3, 3], "<u8").tobytes() + ends.tobytes()
        body = heads.astype("<u4" if version == 1 else "<u8").tobytes() + pad
        (tmp_path / "g.gr").write_bytes(header + body + weights.astype("<i4").tobytes())
        assert arcs_by_id(read_graph(tmp_path / "g.gr")) == [(0, 1, 5), (1, 2, 7), (2, 0, 1)]


def test_gapbs_by_hand(tmp_path: Path) -> None:
    """An undirected graph of one edge, without weights and with."""
    start = b"\0" + np.array([2, 2, 0, 1, 2], "<i8").tobytes()
    (tmp_path / "g.sg").write_bytes(start + np.array([1, 0], "<i4").tobytes())
    assert arcs_by_id(read_graph(tmp_path / "g.sg")) == [(0, 1, 1), (1, 0, 1)]
    (tmp_path / "g.wsg").write_bytes(start + np.array([1, 9, 0, 9], "<i4").tobytes())
    assert arcs_by_id(read_graph(tmp_path / "g.wsg")) == [(0, 1, 9), (1, 0, 9)]


def test_parquet_of_pandas(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"w": [0.5, 2.0], "dst": ["b", "c"], "src": ["a", "b"]})
    pq.write_table(table, tmp_path / "edges.parquet")
    assert arcs_by_id(read_graph(tmp_path / "edges.parquet")) == [("a", "b", 0.5), ("b", "c", 2.0)]


def test_undirected(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1 2 5\n2 2 7\n")
    graph = read_graph(tmp_path / "a", undirected=True)
    assert arcs_by_id(graph) == [(1, 2, 5), (2, 1, 5), (2, 2, 7)]


@pytest.mark.parametrize(
    ("suffix", "problem"),
    [
        (".graph", "undirected graphs; give --undirected"),
        (".sg", "an .sg file has no weights; write .wsg"),
        (".el", "an .el file has no weights; write .wel"),
        (".csr.gz", "is not compressed further"),
        (".parquet.zst", "is not compressed further"),
    ],
)
def test_what_a_format_cannot_hold(tmp_path: Path, suffix: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        write_graph(graph_of(3, [(0, 1, 5), (1, 2, 7)]), tmp_path / f"g{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".graph", ".wsg", ".galois", ".mat"])
def test_decimals_where_they_cannot_be(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match=r"integers|integer weights|int32"):
        write_graph(graph_of(2, [(0, 1, 0.5)], "float64"), tmp_path / f"g{suffix}")


def test_a_missing_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groute_py import SetupError
    from groute_py.io import optional_libraries

    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(optional_libraries, "import_module", absent)
    with pytest.raises(SetupError, match=r"pip install pyarrow, or groute-py\[formats\]"):
        write_graph(graph_of(2, [(0, 1, 5)]), tmp_path / "g.parquet")


def test_gzip_without_isal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.io import compression

    plain = [c._replace(start=compression._Gunzip) for c in compression.CODECS[:1]]
    monkeypatch.setattr(compression, "CODECS", tuple(plain))
    text = b"".join(b"%d %d 1\n" % (i, i + 1) for i in range(300_000))
    (tmp_path / "g").write_bytes(gzip.compress(text) + gzip.compress(b"300000 0 9\n"))
    graph = read_graph(tmp_path / "g")
    assert (graph.vertex_count, graph.arc_count) == (300_001, 300_001)


def test_weights_that_gapbs_cannot_hold_give_no_warning(tmp_path: Path) -> None:
    graph = graph_of(2, [(0, 1, 1e300)], "float64")
    with pytest.raises(InputError, match="GAPBS weights are int32"):
        write_graph(graph, tmp_path / "g.wsg")


@pytest.mark.parametrize("name", ["g.el", "g.txt", "g.wel"])
def test_a_single_vertex_by_suffix(tmp_path: Path, name: str) -> None:
    """Counts and an arc in an edge list, a matrix too long elsewhere."""
    (tmp_path / name).write_text("1\n1\n1 1 5\n")
    assert arcs_by_id(read_graph(tmp_path / name)) == [(1, 1, 5)]


def test_a_sparse_vector_is_no_graph() -> None:
    with pytest.raises(InputError, match=r"must have two dimensions, not \(3,\)"):
        sssp(sparse.coo_array(np.array([1, 2, 3])), 0)
