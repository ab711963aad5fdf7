"""A GPU on which little memory is free: the right answer, or one error on all ranks.

In emulation memory is counted to the byte, and ends where a GPU's would.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from support.graphs import random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.skips import EMULATED, needs_gpu
from support.solving import solve

from groute_py import Graph, InputError, Result, generate, verify
from groute_py.comm.base import SoloChannel
from groute_py.device.cuda.graph.ghosts import Ghosts
from groute_py.device.cuda.runtime import memory_plan
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.source.whole import GraphSupply

pytestmark = needs_gpu

LARGE = {
    "delta-stepping": "road:1500x1500",
    "bellman-ford": "road:900x900",
    "bfs": "road:1500x1500",
    "frontier-dijkstra": "road:1500x1500",
    "frontier-dijkstra-in-out": "random:500000,4000000",
    "reduction-dijkstra": "random:100000,2000000",
    "csr-bellman-ford": "random:300000,6000000",
    "ell-bellman-ford": "road:900x900",
    "dense-bellman-ford": "random:6000,300000",
}
"""A graph for each method that is too large for a GPU with little memory, and soon solved."""

SMALL, SMALLER = "random:1200,6000", "random:150,900"
"""In their place in emulation, where rounds of wide blocks take long."""

ROOMS = [0.1, 0.5, 0.8, 1.0, 1.3, 1.8, 2.5, 4.0, 8.0]
"""How much is free, in units of what near–far relaxation takes."""


@contextmanager
def nearly_full(wanted: int) -> Iterator[None]:
    """No more than so many bytes are free."""
    import cupy as cp

    gc.collect()  # else what an earlier test held is free during the next solve
    cp.get_default_memory_pool().free_all_blocks()
    free = int(cp.cuda.Device(0).mem_info[0])
    taken = cp.cuda.runtime.malloc(free - wanted)
    try:
        yield
    finally:
        cp.cuda.runtime.free(taken)


@cache
def prepared(spec: str, *, hops: bool) -> tuple[Graph, int, Any]:
    """A graph, a source, and the distances from it."""
    graph = generate(spec)
    if hops:
        graph = graph.with_unit_weights()
    source = int(np.argmax(np.diff(graph.offsets)))
    return graph, source, scipy_distances(graph, source)


def wanted(graph: Graph, method: str, room: float) -> int:
    """So many times what the share takes, and a matrix beside it."""
    own, kind = graph.vertex_count, np.dtype(np.int32)
    need = memory_plan.gpu_bytes(own, 0, graph.arc_count, 1, kind) + memory_plan.SPARE_BYTES
    matrix = 4 * own * own if method.startswith("dense") else 0
    return int(room * (need + matrix))


def solved_or_refused(*arguments: Any, **options: Any) -> Result | InputError:
    try:
        return solve(*arguments, **options)
    except InputError as error:
        return error


@pytest.fixture
def small_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """In emulation: nothing is spared, and lists are as short as their graphs."""
    if EMULATED:
        from groute_py.device.cuda.runtime import sort as sorting

        monkeypatch.setattr(sorting, "FEW_BYTES", 0)
        monkeypatch.setattr(memory_plan, "SPARE_BYTES", 1 << 13)
        monkeypatch.setattr(memory_plan, "LEAST_CAPACITY", 64)


@pytest.mark.usefixtures("small_lists")
@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("method", list(LARGE))
def test_right_or_refused(method: str, ranks: int, room: float) -> None:
    if ranks > 1 and method not in ("delta-stepping", "csr-bellman-ford"):
        pytest.skip("as the other methods that one rank solves by")
    near_far = method in ("delta-stepping", "bellman-ford")
    spec = LARGE[method] if not EMULATED else SMALL if near_far else SMALLER
    hops = method == "bfs"
    options = {"algorithm": method, "hops": hops, "device": "cuda"}
    graph, source, expected = prepared(spec, hops=hops)
    # what kernels take for themselves is there already
    solve(generate("random:9,30"), 0, ranks, **options)
    with nearly_full(ranks * wanted(graph, method, room)):
        result = solved_or_refused(graph, source, ranks, **options)
    if isinstance(result, InputError):
        assert result.on_all_ranks
        assert "does not fit on" in str(result) or "takes at least" in str(result)
        assert "use " in str(result)
        assert room < ROOMS[-1]
        return
    assert room > ROOMS[0]
    np.testing.assert_array_equal(result.distances, expected)
    verify(graph, result)


@pytest.mark.usefixtures("small_lists")
def test_lists_grow_with_what_is_free() -> None:
    """From a sixteenth of their length to all of it, with the same answers."""
    spec = SMALL if EMULATED else LARGE["frontier-dijkstra-in-out"]
    graph, source, expected = prepared(spec, hops=False)
    solve(generate("road:9x9"), 0, device="cuda")
    said = []
    for room in np.linspace(0.4, 1.6, 13):
        with nearly_full(wanted(graph, "", room)):
            result = solved_or_refused(graph, source, device="cuda")
        if isinstance(result, InputError):
            said.append("refused")
            continue
        np.testing.assert_array_equal(result.distances, expected)
        verify(graph, result)
        short = "short of memory" in result.statistics["devices"][0]
        said.append("short" if short else "full")
    assert set(said) == {"refused", "short", "full"}
    assert said == sorted(said, key=["refused", "short", "full"].index)


def test_an_answer_that_has_no_room_to_stay() -> None:
    """It is refused; a download needs no room."""
    graph, source, expected = prepared(SMALL if EMULATED else "road:1500x1500", hops=False)
    options = Options(device="cuda", download=False)
    little = 1 << (12 if EMULATED else 24)
    with SourceSolver(GraphSupply(graph), SoloChannel(), options) as solver:
        assert solver.sssp(source) is not None
        with (
            nearly_full(little),
            pytest.raises(InputError, match="leave out download=False"),
        ):
            solver.sssp(source)
        result = solver.sssp(source)
    assert result is not None
    np.testing.assert_array_equal(result.distances, expected)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_messages_without_room_on_the_device(
    ranks: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They go through the host, and come in pieces."""
    from groute_py.device.cuda.sssp import outbox

    monkeypatch.setattr(outbox, "MERGED_AT_ONCE", 3)
    monkeypatch.setattr(outbox.Outbox, "_room_here", lambda *_: None)
    graph = random_graph(300, 1500, seed, greatest=9)
    result = solve(graph, seed, ranks, patience=1, device="cuda")
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, seed))
    verify(graph, result)


def test_vertices_are_looked_at_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.cuda.methods import bfs
    from groute_py.device.cuda.runtime.short_memory import pieces

    graph = generate("road:20x20")
    full = solve(graph, 5, device="cpu", algorithm="bfs", hops=True)
    monkeypatch.setattr(bfs, "pieces", partial(pieces, length=7))
    for targets in ([], [3, 17, 88, 20, 4, 9, 60, 31, 45]):
        result = solve(graph, 5, targets=targets, algorithm="bfs", hops=True, device="cuda")
        near = full.distances <= result.distances[targets].max() if targets else full.reached
        np.testing.assert_array_equal(result.distances[near], full.distances[near])
        assert not result.reached[~near].any()
        assert result.statistics["useless_relaxations"] >= 0
        if not targets:
            verify(graph.with_unit_weights(), result)


@pytest.mark.parametrize("method", ["bfs", "csr-bellman-ford", "frontier-dijkstra"])
def test_more_arcs_than_can_be_turned_around(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.cuda.graph import in_edges

    graph = generate("road:20x20")
    options = {"algorithm": method, "hops": method == "bfs", "device": "cuda"}
    solve(graph, 5, **options)  # what is loaded beforehand has more arcs than the graph
    monkeypatch.setattr(in_edges, "MOST_ARCS", graph.arc_count - 1)
    with pytest.raises(InputError, match=r"cannot take [\d,]+ arcs on one GPU.*delta-stepping"):
        solve(graph, 5, **options)


@pytest.mark.parametrize("full", [[0], [2], [0, 1, 2], [1, 2]])
def test_inboxes_without_room(full: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """All ranks are told, none waits, and what others have got is given back."""
    import cupy as cp

    from groute_py.comm.team import Team
    from groute_py.device.cuda.peer import link

    kept: list[int] = []
    take, free = cp.cuda.runtime.malloc, cp.cuda.runtime.free

    def work(channel: Any) -> Any:
        entries = 1 << 12 if channel.rank not in full else 1 << 50
        return link.linked(Team(channel, 0, 1), Ghosts(channel.rank, [0] * 3), None, 8, entries)

    def malloc(nbytes: int) -> int:
        kept.append(take(nbytes))
        return kept[-1]

    def give(address: int) -> None:
        kept.remove(address)
        free(address)

    monkeypatch.setattr(link.runtime, "malloc", malloc)
    monkeypatch.setattr(link.runtime, "free", give)
    assert on_ranks(3, work) == [link.FULL] * 3
    assert kept == []


@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32", "int64", "float64"])
@pytest.mark.parametrize("step", [1, 2])
def test_a_sort_takes_what_was_asked_for_and_no_more(dtype: str, step: int) -> None:
    """Else CuPy's sort might find no memory on its way, and say nothing."""
    import cupy as cp

    from groute_py.device.cuda.runtime.sort import ascending, sort_bytes

    values = np.random.default_rng(1).integers(0, 1000, 1 << (10 if EMULATED else 23))
    keys = cp.asarray(values.astype(dtype))[::step]
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    held = int(pool.total_bytes())
    order = ascending(keys)
    assert pool.total_bytes() - held <= sort_bytes(len(keys), keys.itemsize) + 512
    np.testing.assert_array_equal(order.get(), np.argsort(values[::step], kind="stable"))
