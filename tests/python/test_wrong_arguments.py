"""Arguments of the wrong kind from Python: one clear error, on every rank, and nobody waits."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.local_ranks import LocalChannel, on_ranks
from support.opening import opened_on

import groute_py
import groute_py.centrality
from groute_py import GrouteError, InputError, RunError, SetupError, csgraph, read_result
from groute_py.comm.agree import collective, on_root
from groute_py.interop.networkx import graph_from_networkx
from groute_py.interop.tables import graph_from_table
from groute_py.jobs.rows import apsp_job

CALLS: dict[str, tuple[str, str]] = {
    "cutoff": ("sssp(G, 0, cutoff='5')", "cutoff must be a number, not '5'"),
    "great cutoff": ("sssp(G, 0, cutoff=10**400)", "cutoff is out of range"),
    "no cutoff": ("sssp(G, 0, cutoff=True)", "cutoff must be a number, not True"),
    "time limit": ("sssp(G, 0, time_limit_s='5')", "time limit must be a number, not '5'"),
    "delta": ("sssp(G, 0, delta=[2])", r"delta must be a number, not \[2\]"),
    "algorithm": ("sssp(G, 0, algorithm=['bfs'])", r"algorithm \['bfs'\] is unknown; choose"),
    "order": ("sssp(G, 0, order=3)", "order 3 is unknown; choose one of auto"),
    "mode": ("sssp(G, 0, mode={})", "mode {} is unknown; choose one of auto"),
    "partition": ("sssp(G, 0, partition=None)", "partition None is unknown; choose one of arcs"),
    "device": ("bfs(G, 0, device=b'cpu')", "device b'cpu' is unknown; choose one of auto"),
    "rows": ("apsp(G, algorithm=1)", "algorithm 1 is unknown; choose one of auto, floyd"),
    "memory": ("apsp(G, memory_limit='x')", "memory limit must be a number, not 'x'"),
    "part of a byte": ("apsp(G, memory_limit=0.5)", "memory limit must be an integer, not 0.5"),
    "several": (
        "sssp(G, 0, cutoff=np.array([3, 4]))",
        "cutoff must be a number, not array",
    ),
    "complex delta": ("sssp(G, 0, delta=1j)", "delta must be a number, not 1j"),
    "NumPy's": ("sssp(G, 0, cutoff=np.complex128(3 + 4j))", r"cutoff must be .*, not \(3\+4j\)"),
    "NumPy's text": ("sssp(G, 0, delta=np.str_('3'))", "delta must be a number, not '3'"),
    "text in an array": ("sssp(G, 0, cutoff=np.array('3'))", "cutoff must be a number, not '3'"),
    "NumPy's truth": ("sssp(G, 0, cutoff=np.True_)", "cutoff must be a number, not True"),
    "NaN": ("sssp(G, 0, cutoff=float('nan'))", "cutoff must be a number, not NaN"),
    "part of a vertex": (
        "sssp(G, 1.0)",
        "source 1.0 is no integer, but the graph's ids are$",
    ),
    "True as a vertex": ("sssp(G, True)", "source True is no integer, but"),
    "NumPy's True": ("sssp(G, np.True_)", "source (np.True_|True) is no integer"),
    "an id": ("sssp(G, 'Rome')", "source 'Rome' is no integer, but the graph's ids are"),
    "ids": ("sssp(G, 0, targets=['Rome'])", "target 'Rome' is no integer"),
    "a list": ("sssp(G, [0, 1])", r"source \[0, 1\] .* for several sources take apsp"),
    "truths": ("bfs(G, 0, targets=[True, False])", "target True is no integer"),
    "truths as sources": ("apsp(G, sources=[True])", "source True is no integer"),
    "no dimensions": ("sssp(G, 0, targets=np.array(1))", "^targets .*: a sequence of ids is"),
    "one target": ("sssp(G, 0, targets=2)", "^targets 2: a sequence of ids is expected"),
    "text of targets": ("bfs(G, 0, targets='12')", "targets '12': a sequence of ids"),
    "truth": ("groute_py.open(G, hops='no')", "hops must be True or False, not 'no'"),
    "truth of paths": ("groute_py.route(G, [(0, 1)], paths='no')", "paths must be True or False"),
    "truth of loops": ("groute_py.route(G, [(0, 1)], k=2, loops='no')", "loops must be True or"),
    "truth of a direction": ("groute_py.nearest(G, [0], to_facility=2)", "to_facility must be"),
    "truth of hops": ("groute_py.verify(G, bfs(G, 0), hops='no')", "hops must be True or False"),
    "truth of edges": ("groute_py.read_graph('x.gr', undirected='no')", "undirected must be True"),
    "truth of separators": ("groute_py.prepare(G, separators='no')", "separators must be True"),
    "truth of a table": ("groute_py.graph_from_table({}, directed='no')", "directed must be True"),
    "truth of ids": ("groute_py.graph_from_table({}, renumber='no')", "renumber must be True or"),
    "truth of a picture": ("groute_py.plot(G, 'x.png', tree='no')", "tree must be True or False"),
    "truth of a network": (
        "groute_py.snap(G, [(1, 1)], np.ones((2, 2)), planar=True, connected='no')",
        "connected must be True or False",
    ),
    "truth of a share": (
        "groute_py.centrality.closeness(G, normalized='no')",
        "normalized must be True or False",
    ),
    "truth of ends": (
        "groute_py.centrality.betweenness(G, endpoints='no')",
        "endpoints must be True or False",
    ),
    "truth of weights": (
        "groute_py.centrality.mean(G, weighted='no')",
        "weighted must be True or False",
    ),
    "half a truth": ("sssp(G, 0, prepare=1)", "prepare must be True or False, not 1"),
    "truth of rows": ("apsp(G, predecessors=[])", r"predecessors must be True or False, not \[\]"),
    "sources": ("apsp(G, sources=[[1], [2, 3]])", "not an array of numbers: .*inhomogeneous"),
    "great source": (
        "apsp(G, sources=np.array([1, 2**63], 'u8'))",
        "source 9223372036854775808 is not a vertex of graph",
    ),
    "great facility": (
        "groute_py.nearest(G, np.array([2**64 - 1], 'u8'))",
        "facility 18446744073709551615 is not a vertex of graph",
    ),
    "no sources": ("apsp(G, sources=[])", r"at least one vertex, not of shape \(0,\)"),
    "no pairs": (
        "groute_py.route(G, np.empty((0, 2), int))",
        r"a source and a target each, shape \(k, 2\) with k from 1, not \(0, 2\)",
    ),
    "no vertices": (
        "groute_py.route(groute_py.Graph.from_arrays([0], [], []), [(1, 2)])",
        "source 1 is not a vertex of graph; vertices are none",
    ),
    "words": ("apsp(G, sources='ab')", "source 'ab' is no integer"),
    "offsets": ("sssp(([0, 1, [2]], [1], [1]), 0)", "not an array of numbers: .*inhomogeneous"),
    "null": ("sssp('a\\0b', 0)", "is no name of a file: there is a null character in it"),
    "null in coordinates": (
        "sssp(G, 0, coordinates='a\\0b.co')",
        "'a.x00b.co' is no name of",
    ),
    "null in turns": ("sssp(G, 0, turns='a\\0b.csv')", "turns 'a.x00b.csv' is no name of a file"),
    "null in an output": (
        "groute_py.matrix(G, [0], [0], output='a\\0b.npy')",
        "output 'a.x00b.npy' is no name of a file: there is a null character in it",
    ),
    "coordinates": ("sssp(G, 0, coordinates=3)", "coordinates must be a path, not 3"),
    "long name": ("sssp('a' * 300 + '.gr', 0)", "cannot be read: File name too long"),
}


def test_a_library_that_no_extra_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)  # cannot be imported
    result = groute_py.bfs(groute_py.Graph.from_arrays([0, 1, 1], [1], [1]), 0, device="cpu")
    with pytest.raises(SetupError, match=r"which is not installed: pip install polars$"):
        result.to_frame(library="polars")


@pytest.mark.parametrize("name", CALLS)
def test_on_one_rank(name: str) -> None:
    call, says = CALLS[name]
    names = {name: getattr(groute_py, name) for name in ("sssp", "bfs", "apsp")}
    graph = groute_py.Graph.from_arrays([0, 1, 1], [1], [1])
    with pytest.raises(InputError, match=says):
        eval(call, {**names, "G": graph, "np": np, "groute_py": groute_py})


OTHER_CALLS = {
    "path to text": ("R.path_to('x')", "vertex 'x' is no integer, but the graph's ids are"),
    "path to a float": ("R.path_to(1.0)", "vertex 1.0 is no integer"),
    "path to none": ("R.path_to(None)", "vertex None is no integer"),
    "path to True": ("R.path_to(True)", "vertex True is no integer"),
    "arc from True": ("G.arc(True, 0)", "vertex True is no integer, but the graph's ids are"),
    "row to text": ("S.path(0, 'x')", "target 'x' is no integer"),
    "row from a float": ("S.path(0.0, 1)", "source 0.0 is no integer"),
    "list": ("graph_from_table([1, 2])", "a list is no edge table; give a pandas"),
    "nothing": (
        "graph_from_table(None)",
        "a NoneType is no edge table; give a pandas",
    ),
    "no network": ("graph_from_networkx(3)", "a NetworkX graph is expected, not int"),
    "no communicator": ("sssp(G, 0, comm=3)", "comm must be a communicator of mpi4py or None"),
    "no result": ("verify(G, None)", "result must be a Result, as sssp returns it, not NoneType"),
    "several rows": ("verify(G, S)", "result must be a Result, .*, not SourceRows"),
    "no graph": ("verify('x.gr', R)", "graph must be a Graph, as read_graph returns it, not str"),
    "no spec": ("generate(3)", "spec must be a text such as 'road:1000x1000', not int"),
    "no seed": ("generate('road:3x3', seed='x')", "seed must be an integer, not str"),
    "no path": ("read_graph(3)", "path must be a path, not 3"),
    "bytes": ("read_graph(b'x')", "path must be a path, not b'x'"),
    "no path to write": ("write_graph(G, None)", "path must be a path, not None"),
    "nothing to write": ("write_graph(None, 'x.csr')", "graph must be a Graph, not NoneType"),
    "no path to save": ("R.save(3)", "path must be a path, not 3"),
    "null to save": (r"R.save('a\0b.npz')", "path 'a.x00b.npz' is no name of a file"),
    "null to load": (r"read_result('a\0b.npz')", "path 'a.x00b.npz' is no name of a file"),
    "null in a cache": (r"read_graph(FILE, cache='a\0b')", "cache 'a.x00b' is no name of a file"),
    "null to write": (r"write_graph(G, 'a\0b.csr')", "path 'a.x00b.csr' is no name of a file"),
    "null to plot": (r"plot(R, 'a\0b.png')", "output 'a.x00b.png' is no name of a file"),
    "null of plot": (r"plot('a\0b', 'x.png')", "graph 'a.x00b' is no name of a file"),
    "null in areas": (
        r"isochrone(G, [0], [1], device='cpu').save('a\0b.csv')",
        "path 'a.x00b.csv' is no name of a file",
    ),
    "null in routes": (
        r"route(G, [(0, 1)], device='cpu').save('a\0b.csv')",
        "path 'a.x00b.csv' is no name of a file",
    ),
    "null in facilities": (
        r"nearest(G, [0], device='cpu').save('a\0b.csv')",
        "path 'a.x00b.csv' is no name of a file",
    ),
    "no place": ("R.to_frame(3)", "coordinates must be a path, not 3"),
    "csgraph, a float": ("csgraph.dijkstra(A, indices=1.0)", "indices must be integers, not 1.0"),
    "csgraph, floats": ("csgraph.johnson(A, indices=[0.5])", r"indices must be .*, not \[0.5\]"),
    "csgraph, text": ("csgraph.bellman_ford(A, indices='1')", "indices must be integers, not '1'"),
    "csgraph, ragged": ("csgraph.dijkstra(A, indices=[[0], [1, 2]])", "indices is not an array of"),
    "csgraph, huge": ("csgraph.dijkstra(A, indices=2**70)", "indices must be integers, not 1180"),
    "csgraph, path": ("csgraph.shortest_path(A, indices=1.0)", "indices must be integers"),
    "csgraph, limit": ("csgraph.dijkstra(A, limit='x')", "limit must be a number, not 'x'"),
    "csgraph, rows": ("csgraph.dijkstra([[1], [2, 3]])", "csgraph is not an array of numbers"),
    "csgraph, start": ("csgraph.breadth_first_order(A, 1.0)", "i_start must be an integer, .*1.0"),
    "csgraph, starts": ("csgraph.breadth_first_order(A, [0, 1])", "i_start must be an integer"),
}


@pytest.mark.parametrize("name", OTHER_CALLS)
def test_of_other_functions(tmp_path: Path, name: str) -> None:
    call, says = OTHER_CALLS[name]
    graph = groute_py.Graph.from_arrays([0, 1, 1], [1], [1])
    groute_py.write_graph(graph, tmp_path / "g.gr")
    names = {name: getattr(groute_py, name) for name in groute_py.__all__} | {
        "G": graph,
        "R": groute_py.sssp(graph, 0, device="cpu"),
        "S": groute_py.apsp(graph, predecessors=True, device="cpu"),
        "A": np.array([[0, 1.0], [0, 0]]),
        "FILE": tmp_path / "g.gr",
        "csgraph": csgraph,
        "read_result": read_result,
        "graph_from_table": graph_from_table,
        "graph_from_networkx": graph_from_networkx,
    }
    with pytest.raises(InputError, match=says):
        eval(call, names)


SCRIPT = """
import json, sys
import numpy as np
from mpi4py import MPI
import groute_py
import groute_py.centrality
from groute_py import apsp, bfs, sssp
G = groute_py.Graph.from_arrays([0, 1, 1], [1], [1])
rank = MPI.COMM_WORLD.rank
kinds = []
for calls in json.loads(sys.argv[1]):
    try:
        eval(calls[min(rank, len(calls) - 1)])
        kinds.append("nothing")
    except Exception as error:
        kinds.append(type(error).__name__)
everybody = MPI.COMM_WORLD.gather(kinds)
if everybody:
    print(json.dumps(everybody))
"""


@pytest.mark.mpi
@pytest.mark.one_mpi
def test_on_two_ranks(script: Any) -> None:
    calls = [[call] for call, _ in CALLS.values()]
    done = script(SCRIPT, 2, json.dumps(calls))
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)
    assert first == second
    assert set(first) == {"InputError", "GraphError", "FormatError"}


@pytest.mark.mpi
@pytest.mark.one_mpi
def test_on_one_of_two_ranks(script: Any) -> None:
    """Whatever is wrong with the call of rank 1, or other than with that of rank 0."""
    wrong = [
        "sssp(G, 0, time_limit_s='x')",
        "sssp(G, 0, cutoff=np.array([3, 4]))",
        "sssp(G, 'x')",
        "sssp(G, 0, targets=['x'])",
        "sssp(G, 1)",
        "sssp(G, 0, targets=[1])",
        "sssp(G, 0, predecessors=False)",
        "bfs(G, 0)",
        "apsp(G)",
        "apsp(G, algorithm='x')",
    ]
    done = script(SCRIPT, 2, json.dumps([["sssp(G, 0)", call] for call in wrong]))
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)
    assert first == second == ["InputError"] * len(wrong)


def test_ranks_ask_for_the_same_rows() -> None:
    graph = groute_py.generate("road:9x9")

    def work(channel: LocalChannel) -> str:
        opened = opened_on(channel, graph, device="cpu", memory_limit=1 << (20 + channel.rank))
        with pytest.raises(InputError) as raised:
            opened.answer(apsp_job(None))
        return str(raised.value)

    said = "rank 1 was called with memory_limit 2097152, rank 0 with 1048576; every rank must call"
    assert all(text.startswith(said) for text in on_ranks(2, work))


def in_a_block(channel: LocalChannel, action: Callable[[], int]) -> int:
    with collective(channel):
        return action()


@pytest.mark.parametrize("together", [on_root, in_a_block])
def test_an_error_that_is_none_of_ours(
    together: Callable[[LocalChannel, Callable[[], int]], int],
) -> None:
    """It is raised as it is where it happened, and as one of ours elsewhere."""

    def work(channel: LocalChannel) -> BaseException:
        def fail() -> int:
            return 1 // channel.rank if together is in_a_block or channel.rank == 0 else 5

        with pytest.raises((ZeroDivisionError, GrouteError)) as raised:
            together(channel, fail)
        return raised.value

    first, *others = on_ranks(3, work)
    assert type(first) is ZeroDivisionError
    for error in others:
        assert type(error) is RunError
        assert error.on_all_ranks
        assert str(error).startswith("rank 0 failed: ZeroDivisionError: ")


def test_numbers_of_every_kind() -> None:
    graph = groute_py.Graph.from_arrays([0, 1, 2, 2], [1, 2], [1, 5])
    for cutoff in (3, 3.5, np.int8(3), np.float32(3), np.float64("inf"), np.array(4.0)):
        result = groute_py.sssp(graph, 0, cutoff=cutoff, device="cpu")
        assert result is not None
        assert result.reached.sum() == (2 if np.isfinite(float(cutoff)) else 3)
