"""Text that ranks read in pieces: the graph of a single reader, or the single reader itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graphs
from support.local_ranks import on_ranks
from test_supply import kinds

from groute_py import FormatError, Graph, generate, read_graph, verify, write_graph
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.graph.facts import facts_of
from groute_py.io import cache
from groute_py.io.cache import Copy
from groute_py.io.formats import native
from groute_py.io.graph_file import GraphFile
from groute_py.io.tables.columns import Columns
from groute_py.io.text import arc_reader, lines
from groute_py.partition.cutting import Cutting
from groute_py.results.result import read_result
from groute_py.source import pieces
from groute_py.source.graph_source import GraphSource, Mapped
from groute_py.source.pieces import ParsedText, read_pieces
from groute_py.source.shared import SharedFile
from groute_py.source.whole import GraphSupply
from groute_py.system.own_files import replacing_copy

RANKS = [1, 2, 3, 4]


def copy_beside(path: Path) -> Path:
    return path.with_name("copies") / "g.csr"


def gathered(path: Path, ranks: int) -> tuple[Graph, Any] | None:
    """The graph that ranks have read together, and its facts; None where they leave it.

    They leave a copy of it in `copy_beside`.
    """

    def work(channel: Any) -> Any:
        pieces = read_pieces(SharedFile(path, copy=copy_beside(path)), channel)
        if pieces is None:
            return None
        facts = pieces.facts(channel)
        rows = pieces.spread(channel, Cutting()).rows
        columns = [
            channel.collect(column) for column in (np.diff(rows.offsets), *vars(rows).values())
        ]
        if channel.rank:
            return None
        degrees, _, heads, weights = map(np.concatenate, columns)
        offsets = np.concatenate([[0], np.cumsum(degrees)])
        numbering = pieces.numbering()
        return Graph(offsets, heads, weights, numbering.first, facts.name, numbering.ids), facts

    result: tuple[Graph, Any] | None = on_ranks(ranks, work)[0]
    return result


def check_same(path: Path, ranks: int) -> None:
    result = gathered(path, ranks)
    assert result is not None
    graph, facts = result
    whole = read_graph(path, cache=False)
    expected = replace(whole, reading=None)  # only the copy says how it was read
    for ours, theirs in zip(list(vars(graph).values()), list(vars(expected).values()), strict=True):
        if isinstance(theirs, np.ndarray):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)
        else:
            assert ours == theirs
    assert facts.mean == pytest.approx(facts_of(expected).mean)
    assert vars(facts) | {"mean": 0} == vars(facts_of(expected)) | {"mean": 0}
    alone = path.with_name("alone.csr")
    Copy(path, alone, native).write(whole)
    assert copy_beside(path).read_bytes() == alone.read_bytes()
    assert list(copy_beside(path).parent.iterdir()) == [copy_beside(path)]


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if files were large."""
    monkeypatch.setattr(pieces, "BLOCK", 7)
    monkeypatch.setattr(pieces, "CHUNK", 12)
    monkeypatch.setattr(arc_reader, "SPAN_BYTES", 64)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("dtype", ["int32", "float64"])
@settings(max_examples=20)
@given(data=st.data())
def test_dimacs(
    tmp_path_factory: pytest.TempPathFactory, dtype: str, ranks: int, data: st.DataObject
) -> None:
    graph = data.draw(graphs(dtype, least=-5))
    path = tmp_path_factory.mktemp("there") / "g.gr"
    write_graph(graph, path)
    if graph.arc_count >= 8:
        check_same(path, ranks)


@pytest.mark.parametrize("ranks", RANKS)
@settings(max_examples=20)
@given(
    arcs=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=20),
    first=st.sampled_from([0, 1, -7, 2**31 - 9, 2**40]),
    heavy=st.sampled_from([3, 2**31, 0.5]),
    at=st.integers(0, 19),
)
def test_edge_lists(
    tmp_path_factory: pytest.TempPathFactory,
    ranks: int,
    arcs: list[tuple[int, int]],
    first: int,
    heavy: float,
    at: int,
) -> None:
    """In any order, with gaps in the ids, and one weight that is of another type."""
    path = tmp_path_factory.mktemp("there") / "g.wel"
    weights = [heavy if k == at else k for k in range(len(arcs))]
    text = (f"{u + first} {v + first} {w}\n" for (u, v), w in zip(arcs, weights, strict=True))
    path.write_text("".join(text))
    check_same(path, ranks)


MORE = {
    "two columns": "".join(f"{v} {7 * v % 40}\n" for v in range(40)),
    "no last newline": "".join(f"{v},{7 * v % 40},1\n" for v in range(40)) + "1,2,3",
    "DOS": "\r\n".join(f"{v};{7 * v % 40};1" for v in range(40)) + "\r\n",
    "comments": "# SNAP\n" + "".join(f"{v}\t{v * v % 40}\n# {v}\n\n" for v in range(40)),
    "titles": "source,target,weight\n" + "".join(f"{v},{7 * v % 40},1\n" for v in range(40)),
    "mark": "\ufeff" + "".join(f"{v},{7 * v % 40},1\n" for v in range(40)),
    "counts": "45 40\n" + "".join(f"{v} {7 * v % 40} 5\n" for v in range(40)),
    "range": "# vertices -3..80\n" + "".join(f"{v} {7 * v % 40} 5\n" for v in range(40)),
    "odd numbers": "".join(f"+{v} 00{7 * v % 40} 1e{v}\n" for v in range(40)),
    "rows apart": "c hello\np sp 90 40\n" + "".join(f"a {90 - v} 3 {v}\n" for v in range(40)),
}


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("what", MORE)
def test_usual_text(what: str, ranks: int, tmp_path: Path) -> None:
    path = tmp_path / ("g.gr" if "p sp" in MORE[what] else "g.txt")
    path.write_bytes(MORE[what].encode())
    check_same(path, ranks)


ARCS = "".join(f"a {v} {v % 7 + 1} 5\n" for v in range(1, 41))
UNUSUAL = {
    "names": "".join(f"{v} {v % 7} 1\n" for v in range(40)) + "home 3 1\n",
    "ids far apart": "".join(f"{v} {v % 7} 1\n" for v in range(40)) + "9000000 3 1\n",
    "too few fields": "".join(f"{v} {v % 7} 1\n" for v in range(40)) + "5 3\n1 2 3\n",
    "bad weight": "".join(f"{v} {v % 7} 1\n" for v in range(40)) + "5 3 x\n1 2 3\n",
    "outside the range": "# vertices 0..30\n" + "".join(f"{v} {v % 7} 1\n" for v in range(40)),
    "fewer arcs": "p sp 40 41\n" + ARCS,
    "more arcs": "p sp 40 39\n" + ARCS,
    "bad id": "p sp 39 40\n" + ARCS,
    "second header": "p sp 40 40\n" + ARCS + "p sp 40 40\n",
    "unknown letter": "p sp 40 40\n" + ARCS + "x 1 2 3\n" + ARCS,
    "no header": ARCS,
    "absurd": "p sp 99999999999 40\n" + ARCS,
    "long line": "p sp 40 40\n" + ARCS + "c" * 2000 + "\n",
    "no arcs": "p sp 40 0\n",
}


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("what", UNUSUAL)
def test_unusual_text_is_left_to_rank_0(
    what: str, ranks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LONGEST_TEXT_LINE", 1000)
    path = tmp_path / ("g.gr" if "a 1" in UNUSUAL[what] or "p sp" in UNUSUAL[what] else "g.txt")
    path.write_text(UNUSUAL[what])
    assert gathered(path, ranks) is None


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as large."""
    monkeypatch.setattr(cache, "LARGE_PLAIN", 1000)
    write_graph(generate("road:30x30"), tmp_path / "g.gr")
    return tmp_path / "g.gr"


def test_which_files_are_read_in_pieces(large: Path) -> None:
    assert kinds(large, cache=False) == kinds(str(large), ranks=3, cache=False) == {ParsedText}
    assert kinds(large, ranks=1, cache=False) == {GraphSupply}
    assert kinds(large, cache=large.parent / "kept") == {ParsedText}
    assert kinds(large, cache=False, whole=True) == {GraphSupply}
    assert kinds(large, cache=False, columns=Columns(undirected=True)) == {GraphSupply}
    write_graph(generate("road:30x30"), large.parent / "g.gr.gz")
    write_graph(generate("road:30x30"), large.parent / "g.mtx")
    write_graph(generate("road:5x5"), large.parent / "small.gr")
    for name in ("g.gr.gz", "g.mtx", "small.gr"):
        assert kinds(large.parent / name, cache=False) == {GraphSupply}


@pytest.mark.parametrize("where", ["folder", "draft", "rank 2"])
def test_no_copy_where_it_cannot_be_written(
    where: str, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = copy_beside(large)
    if where == "folder":
        wanted.parent.touch()
    elif where == "draft":
        monkeypatch.setattr(
            pieces, "replacing_copy", lambda path, source: replacing_copy(path / "not", source)
        )
    else:
        write = pieces._write
        monkeypatch.setattr(
            pieces,
            "_write",
            lambda draft, layout, arrays: (
                "digests" not in arrays
                and arrays["heads"][0] < 1000
                and write(draft, layout, arrays)
            ),
        )
    result = gathered(large, 3)
    assert result is not None
    assert not wanted.exists()
    assert where == "folder" or list(wanted.parent.iterdir()) == []


def test_the_next_run_maps_the_copy(large: Path) -> None:
    kept = large.parent / "kept"

    def work(channel: Any) -> Any:
        kinds = []
        for _ in range(2):
            supply = GraphSource(large, cache=kept).supply(channel)
            kinds.append(type(supply))
            result = SourceSolver(supply, channel, Options(device="cpu")).sssp(5)
        return kinds, result

    answer = on_ranks(3, work)
    assert all(kinds == [ParsedText, Mapped] for kinds, _ in answer)
    verify(read_graph(large, cache=False), answer[0][1])


def test_a_mistake_is_named_by_file_and_line(large: Path) -> None:
    with large.open("ab") as file:
        file.write(b"a 1 2 x\n")
    with pytest.raises(FormatError) as alone:
        read_graph(large, cache=False)
    assert f"{large}:" in str(alone.value)

    def work(channel: Any) -> str:
        with pytest.raises(FormatError) as error:
            GraphSource(large, cache=False).supply(channel)
        assert error.value.on_all_ranks
        return str(error.value)

    assert set(on_ranks(3, work)) == {str(alone.value)}


@pytest.mark.parametrize("order", ["auto", "bfs"])
@pytest.mark.parametrize("ranks", RANKS)
def test_solved_from_pieces(large: Path, ranks: int, order: str) -> None:
    graph = read_graph(large, cache=False)

    def work(channel: Any) -> Any:
        pieces = read_pieces(SharedFile(large), channel)
        assert pieces is not None
        options = Options(device="cpu", order=order)
        return SourceSolver(pieces, channel, options).sssp(5)

    result = on_ranks(ranks, work)[0]
    verify(graph, result)
    assert result.statistics["order"] == ("bfs" if order == "bfs" else "none")
    assert result.statistics["useless_relaxations"] >= 0


def test_a_file_that_changes_between_the_pieces(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody takes anything of it; rank 0 reads it alone then, and sees that as well."""
    read_piece = GraphFile.read_piece

    def read(graph_file: GraphFile, span: range, progress: Any) -> Any:
        piece = read_piece(graph_file, span, progress)
        if span.start > 0:
            with open(graph_file.path, "ab") as file:
                file.write(b"a 1 2 3\n")
        return piece

    monkeypatch.setattr(GraphFile, "read_piece", read)

    def work(channel: Any) -> bool:
        return read_pieces(SharedFile(large), channel) is None

    assert on_ranks(2, work) == [True, True]


MEMORY = """
import sys
from pathlib import Path
from groute_py.io.tables.columns import Columns
from groute_py.partition.cutting import Cutting
from groute_py.source.graph_source import GraphSource
from groute_py.comm.connect import connect
from groute_py.engine.options import Options
from groute_py.io import cache

cache.LARGE_PLAIN = 1000

def bytes_of(field):
    status = Path("/proc/self/status").read_text()
    return int(status.split(field + ":")[1].split()[0]) * 1024

def spread(path):
    supply = GraphSource(path, cache=False).supply(channel)
    facts, rows = supply.facts(channel), supply.spread(channel, Cutting()).rows
    return facts, rows, type(supply).__name__

channel, (small, large) = connect(), sys.argv[1:]
assert spread(small)[2] == "ParsedText"  # what is compiled is there
Path("/proc/self/clear_refs").write_text("5")  # the highest mark is set back
before = bytes_of("VmRSS")
facts, rows, kind = spread(large)
assert kind == "ParsedText"
assert sum(channel.gather(len(rows.heads))) == facts.arc_count
whole = 8 * facts.vertex_count + 8 * facts.arc_count
peaks = channel.gather(bytes_of("VmHWM") - before)
if channel.rank == 0:
    assert max(peaks[1:]) < 0.9 * whole, (peaks, whole)
"""


@pytest.mark.mpi
@pytest.mark.one_mpi
def test_no_rank_but_0_comes_near_the_whole_graph(tmp_path: Path, script: Any) -> None:
    for name, spec in (("small", "road:30x30"), ("large", "road:2000x2000")):
        write_graph(generate(spec), tmp_path / f"{name}.gr")
    done = script(MEMORY, 4, tmp_path / "small.gr", tmp_path / "large.gr")
    assert done.returncode == 0, done.stderr


@pytest.mark.mpi
def test_under_mpirun(tmp_path: Path, groute: Any) -> None:
    """A file that is large, with its arcs backwards."""
    graph = generate("random:200000,2000000")
    write_graph(graph, tmp_path / "forwards.gr")
    text = (tmp_path / "forwards.gr").read_bytes().splitlines(keepends=True)
    assert sum(map(len, text)) > cache.LARGE_PLAIN
    (tmp_path / "g.gr").write_bytes(text[0] + b"".join(text[:0:-1]))
    words = ("--no-cache", "--device", "cpu", "-s", 3)
    done = groute("sssp", tmp_path / "g.gr", *words, "-o", tmp_path / "out.npz", ranks=3)
    assert done.returncode == 0, done.stderr
    verify(graph, read_result(tmp_path / "out.npz"))
