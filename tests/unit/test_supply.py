"""From a native file to every rank's rows: what is seen, checked, read and held by whom."""

from __future__ import annotations

import os
import threading
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, scipy_distances
from support.local_ranks import on_ranks

from groute_py import FormatError, Graph, Result, generate, read_graph, verify, write_graph
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.graph.facts import facts_of
from groute_py.io.cache_folder import note_use
from groute_py.io.formats import graph_arrays, native
from groute_py.io.formats.graph_arrays import Contents
from groute_py.io.tables.columns import Columns
from groute_py.partition.cutting import Cutting
from groute_py.source import shared
from groute_py.source.graph_source import GraphSource, Mapped, map_together
from groute_py.source.shared import SharedFile
from groute_py.source.whole import GraphSupply

RANKS = [1, 2, 3, 4]


def solve(path: Path, source: int, ranks: int, **options: Any) -> Result:
    """Solve on threads as ranks that map a file; rank 0's result."""

    def work(channel: Any) -> Result | None:
        if options.get("order", "auto") == "none":
            channel.scatter = None  # nothing is sent
        supply = Mapped(SharedFile(path, native=True), native.map_file(path))
        return SourceSolver(supply, channel, Options(device="cpu", **options)).sssp(source)

    result = on_ranks(ranks, work)[0]
    assert result is not None
    return result


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("dtype", ["int32", "float64"])
@settings(max_examples=8)
@given(data=st.data())
def test_the_answer_of_mapped_rows(
    tmp_path_factory: pytest.TempPathFactory, dtype: str, ranks: int, data: st.DataObject
) -> None:
    graph = data.draw(graphs(dtype))
    path = tmp_path_factory.mktemp("there") / "g.csr"
    write_graph(graph, path)
    result = solve(path, 0, ranks, order="none")
    np.testing.assert_allclose(result.distances, scipy_distances(graph, 0), rtol=1e-12)
    verify(graph, result)


@pytest.mark.parametrize("ranks", RANKS)
@settings(max_examples=8)
@given(graph=graphs(least=-3))
def test_facts(tmp_path_factory: pytest.TempPathFactory, ranks: int, graph: Graph) -> None:
    path = tmp_path_factory.mktemp("there") / "g.csr"
    write_graph(graph, path)
    for result in on_ranks(
        ranks, Mapped(SharedFile(path, native=True), native.map_file(path)).facts
    ):
        assert result.mean == pytest.approx(facts_of(graph).mean)
        assert vars(result) | {"mean": 0} == vars(facts_of(graph)) | {"mean": 0}


DAMAGE = [
    (np.array([2, 3, 4], np.int64), np.array([4, 3, 4], np.int64), "decrease at row 1"),
    (np.array([1, 2, 2, 7], np.int32)[:3], np.array([1, 2, 5], np.int32), "arc 2 leads to vertex"),
    (np.array([0.5, np.pi]), np.array([0.5, np.nan]), "arc 3 has weight nan"),
    (np.array([0.5, np.pi]), np.array([0.5]), "bytes where"),
]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(("old", "new", "message"), DAMAGE)
def test_damage_is_noticed_by_all(
    ranks: int, old: Any, new: Any, message: str, tmp_path: Path
) -> None:
    """By whichever rank checks the place, and in the words that one rank alone would use."""
    path = tmp_path / "g.csr"
    write_graph(
        graph_of(4, [(0, 1, 4.0), (0, 2, 9.0), (1, 2, 0.5), (2, 3, np.pi)], "float64"), path
    )
    text = path.read_bytes()
    assert text.count(old.tobytes()) == 1
    path.write_bytes(text.replace(old.tobytes(), new.tobytes()))
    with pytest.raises(FormatError, match=message) as alone:
        read_graph(path)

    def work(channel: Any) -> str:
        with pytest.raises(FormatError) as error:
            SourceSolver(GraphSource(path).supply(channel), channel, Options(device="cpu"))
        assert error.value.on_all_ranks
        return str(error.value)

    assert set(on_ranks(ranks, work)) == {str(alone.value)}


def test_an_order_is_made_on_rank_0(tmp_path: Path) -> None:
    road = generate("road:40x40")
    place = np.random.default_rng(3).permutation(road.vertex_count)
    tails = place[np.repeat(np.arange(road.vertex_count), np.diff(road.offsets))]
    arcs = zip(tails.tolist(), place[road.heads].tolist(), road.weights.tolist(), strict=True)
    scrambled = graph_of(road.vertex_count, list(arcs))
    write_graph(scrambled, tmp_path / "scrambled.csr")
    write_graph(generate("road:60x300"), tmp_path / "road.csr")
    for order, name in (("auto", "bfs"), ("rcm", "rcm"), ("none", "none")):
        result = solve(tmp_path / "scrambled.csr", 5, 3, order=order)
        assert result.statistics["order"] == name
        verify(scrambled, result)
    assert solve(tmp_path / "road.csr", 5, 2).statistics["order"] == "none"  # is good already


def test_ids_are_kept(tmp_path: Path) -> None:
    graph = graph_of(3, [(0, 2, 4)])
    named = Graph(graph.offsets, graph.heads, graph.weights, ids=np.array(["a", "b", "c"]))
    write_graph(named, tmp_path / "g.csr")
    result = solve(tmp_path / "g.csr", 0, 2)
    assert result.numbering.ids_of(np.array([0, 2])).tolist() == ["a", "c"]


def kinds(graph: Any, ranks: int = 2, *, whole: bool = False, **choices: Any) -> set[type]:
    """What the ranks are supplied by."""

    def work(channel: Any) -> type:
        return type(GraphSource(graph, **choices).supply(channel, whole=whole))

    return set(on_ranks(ranks, work))


def test_a_copy_is_compared_with_its_digests_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of it by each rank, and not again where rank 0 needs the whole graph."""
    compared: list[tuple[int, ...]] = []
    are_right = graph_arrays.are_right

    def noted(digests: Any, digested: Any, *part: int) -> bool:
        compared.append(part)
        return are_right(digests, digested, *part)

    def work(channel: Any) -> Graph:
        return GraphSource(path, cache=tmp_path / "kept").supply(channel).graph()

    path = tmp_path / "g.gr"
    write_graph(generate("road:9x9"), path)
    read_graph(path, cache=tmp_path / "kept")
    monkeypatch.setattr(graph_arrays, "are_right", noted)
    assert on_ranks(2, work)[0].arc_count == generate("road:9x9").arc_count
    assert sorted(compared) == [(0, 2), (1, 2)]


def test_each_host_compares_the_whole_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of a host's own that is damaged in the last part, which another host has right."""
    hosts = ["a", "a", "b", "b"]
    monkeypatch.setattr(shared, "hosts_of", lambda _channel: hosts)
    graph, path = generate("road:9x9"), tmp_path / "g.gr"
    write_graph(graph, path)
    read_graph(path, cache=tmp_path / "b")
    (right,) = (tmp_path / "b").iterdir()
    wrong = tmp_path / "a.csr"
    content, last = bytearray(right.read_bytes()), graph.weights[-1:].tobytes()
    at = content.rindex(graph.weights[-9:].tobytes()) + 8 * len(last)
    content[at] ^= 1
    wrong.write_bytes(content)
    copies = {"a": wrong, "b": right}

    def work(channel: Any) -> Mapped | None:
        copy = SharedFile(copies[hosts[channel.rank]], native=True, is_copy=True)
        return map_together(copy, channel)

    assert on_ranks(4, work) == [None] * 4
    copies["a"] = right
    assert None not in on_ranks(4, work)


def test_which_files_are_mapped(tmp_path: Path) -> None:
    graph = generate("road:9x9")
    write_graph(graph, tmp_path / "g.csr")
    write_graph(graph, tmp_path / "g.gr")
    assert kinds(tmp_path / "g.csr") == kinds(str(tmp_path / "g.csr")) == {Mapped}
    assert kinds(tmp_path / "g.csr", ranks=1) == {GraphSupply}
    assert kinds(tmp_path / "g.csr", columns=Columns(undirected=True)) == {GraphSupply}
    assert kinds(graph) == kinds("road:9x9") == kinds(tmp_path / "g.gr") == {GraphSupply}
    kept = tmp_path / "kept"
    assert kinds(tmp_path / "g.gr", cache=kept) == {GraphSupply}
    assert kinds(tmp_path / "g.gr", cache=kept) == {Mapped}
    (tmp_path / "g.gr").write_text("p sp 2 1\na 1 2 3\n")
    assert kinds(tmp_path / "g.gr", cache=kept) == {GraphSupply}


def test_a_copy_that_others_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Using a copy sets its time, perhaps while another job looks at it."""
    path, kept = tmp_path / "g.gr", tmp_path / "kept"
    write_graph(generate("road:9x9"), path)
    read_graph(path, cache=kept)
    (copy,) = kept.iterdir()
    is_seen = SharedFile.is_seen

    def used(file: SharedFile) -> bool:
        note_use(copy)
        return is_seen(file)

    monkeypatch.setattr(SharedFile, "is_seen", used)
    assert kinds(path, ranks=3, cache=kept) == {Mapped}


def test_a_rank_that_sees_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_graph(generate("road:9x9"), tmp_path / "g.csr")
    answers = iter([True, True, False])
    monkeypatch.setattr(SharedFile, "is_seen", lambda self: next(answers))
    assert kinds(tmp_path / "g.csr", ranks=3) == {GraphSupply}


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_file_that_is_replaced_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_refused: bool
) -> None:
    """As the ranks map it: rank 0 reads what is there then, and no rank has another graph."""
    path, map_file, lock = tmp_path / "g.csr", native.map_file, threading.Lock()
    all_see_it = threading.Barrier(3, timeout=60)
    before = generate("road:9x9")
    write_graph(before, path)
    left, calls = ["one rank"], count()

    def late(name: Path) -> Contents:
        if next(calls) < 3:  # later rank 0 reads the file alone
            all_see_it.wait()
        with lock:
            if left and is_refused:
                left.clear()
                raise PermissionError(13, "Permission denied", str(name))
            contents = map_file(name)
            if left:
                left.clear()
                write_graph(before.with_weights(before.weights * 7), name)
                os.utime(name, (1, 1))
            return contents

    monkeypatch.setattr(native, "map_file", late)

    def work(channel: Any) -> tuple[type, int]:
        supply = GraphSource(path).supply(channel)
        rows = supply.spread(channel, Cutting()).rows
        return type(supply), sum(channel.gather(int(rows.weights.sum())))

    times = 1 if is_refused else 7
    assert on_ranks(3, work) == [(GraphSupply, times * before.weights.sum())] * 3


def test_a_file_that_changes_or_goes(tmp_path: Path) -> None:
    path = tmp_path / "g.csr"
    write_graph(generate("road:9x9"), path)
    file = SharedFile(path, native=True)
    assert file.is_seen()
    write_graph(generate("road:9x10"), path)
    assert not file.is_seen()
    path.unlink()
    assert not file.is_seen()


MEMORY = """
import sys
from pathlib import Path
from groute_py.partition.cutting import Cutting
from groute_py.source.graph_source import GraphSource
from groute_py.comm.connect import connect

def bytes_of(field):
    status = Path("/proc/self/status").read_text()
    return int(status.split(field + ":")[1].split()[0]) * 1024

channel, path = connect(), sys.argv[1]
GraphSource("road:9x9").supply(channel).spread(channel, Cutting())  # what is imported is there
Path("/proc/self/clear_refs").write_text("5")  # the highest mark is set back
before = bytes_of("VmRSS")
supply = GraphSource(path).supply(channel)
supply.facts(channel)
rows = supply.spread(channel, Cutting()).rows
share = rows.offsets.nbytes + rows.heads.nbytes + rows.weights.nbytes
peaks = channel.gather((bytes_of("VmHWM") - before, share))
if channel.rank == 0:
    file = Path(path).stat().st_size
    for peak, share in peaks[1:]:
        assert share < 0.4 * file, (share, file)
        assert peak < 2.5 * share, (peak, share, file)
"""


@pytest.mark.mpi
@pytest.mark.one_mpi
def test_a_rank_holds_its_share_only(tmp_path: Path, script: Any) -> None:
    write_graph(generate("road:1500x1500"), tmp_path / "g.csr")
    done = script(MEMORY, 3, tmp_path / "g.csr")
    assert done.returncode == 0, done.stderr
