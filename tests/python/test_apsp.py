"""All pairs and many sources: every method on every device and number of ranks."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.opening import job_on
from support.row_checks import check_rows

import groute_py
from groute_py import Graph, InputError, NegativeCycleError, SourceRows
from groute_py.device.summary import Wanted
from groute_py.engine.options import Options
from groute_py.graph.facts import facts_of
from groute_py.graph.ids import Numbering
from groute_py.many import choose as many_choose
from groute_py.many.choose import choose
from groute_py.many.delivery import collect
from groute_py.many.estimates import GpuRates
from groute_py.many.reduce import reduce
from groute_py.many.sources import sources_of
from groute_py.system import memory_limits


@settings(max_examples=25)
@given(graph=graphs())
def test_all_pairs(device: str, method: str, graph: Graph) -> None:
    check_rows(graph, groute_py.apsp(graph, algorithm=method, device=device, predecessors=True))


@settings(max_examples=20)
@given(graph=graphs(least=-3, greatest=12))
def test_negative_weights(device: str, method: str, graph: Graph) -> None:
    try:
        rows = groute_py.apsp(graph, algorithm=method, device=device, predecessors=True)
    except NegativeCycleError as error:
        cycle = error
    else:
        check_rows(graph, rows)
        return
    weight = 0
    for tail, head in zip(cycle.cycle, cycle.cycle[1:], strict=False):
        row = slice(graph.offsets[tail], graph.offsets[tail + 1])
        weight += int(graph.weights[row][graph.heads[row] == head].min())
    assert weight == cycle.weight < 0


@settings(max_examples=20)
@given(graph=graphs(dtype="float64"))
def test_floats(device: str, method: str, graph: Graph) -> None:
    if method == "sweep":
        with pytest.raises(InputError, match="sums of float weights"):
            groute_py.apsp(graph, algorithm=method, device=device)
        return
    trees = method != "floyd"
    check_rows(graph, groute_py.apsp(graph, algorithm=method, device=device, predecessors=trees))


@pytest.mark.parametrize("count", [1, 127, 128, 129, 300])
def test_around_the_tile(device: str, count: int) -> None:
    graph = random_graph(count, 4 * count, seed=count, greatest=30)
    check_rows(graph, groute_py.apsp(graph, algorithm="floyd", device=device, predecessors=True))


def test_a_dense_graph_with_long_rows(device: str, method: str) -> None:
    graph = random_graph(300, 90_000, seed=1, greatest=1000)
    check_rows(graph, groute_py.apsp(graph, algorithm=method, device=device, predecessors=True))


def padded(count: int, arcs: list[tuple[int, int, int]], dtype: str = "int32") -> Graph:
    """With so many self-loops that the graph is a dense one to whoever counts arcs."""
    return graph_of(count, arcs + [(v, v, 3) for v in range(count) for _ in range(50)], dtype)


@settings(max_examples=40)
@given(graph=graphs(greatest=2))
def test_trees_of_small_matrices_without_arcs(device: str, graph: Graph) -> None:
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    arcs = zip(tails.tolist(), graph.heads.tolist(), graph.weights.tolist(), strict=True)
    dense = padded(graph.vertex_count, list(arcs))
    check_rows(dense, groute_py.apsp(dense, algorithm="floyd", device=device, predecessors=True))


@pytest.mark.parametrize("factor", [1, 2**40])
@pytest.mark.parametrize("kind", ["a path of zeros", "edges of zero", "few weights", "many"])
def test_trees_of_matrices_without_arcs(device: str, kind: str, factor: int) -> None:
    """Weights of zero close cycles that a wrong choice of middle vertices falls into."""
    random, count = np.random.default_rng(7), 300
    if kind == "a path of zeros":
        order = random.permutation(count).tolist()
        pairs = [(u, v, 0) for u, v in pairwise(order)]
    elif kind == "edges of zero":
        pairs = random.integers(0, (count, count, 3), (2 * count, 3)).tolist()
        pairs = [(u, v, w // 2) for u, v, w in pairs]
    else:
        greatest, arcs = (2, 4 * count) if kind == "few weights" else (255, count**2 // 3)
        pairs = random.integers(0, (count, count, greatest), (arcs, 3)).tolist()
    back = [(v, u, w) for u, v, w in pairs] if "zero" in kind else []
    arcs = [(u, v, w * factor) for u, v, w in pairs + back]
    dense = padded(count, arcs, "int32" if factor == 1 else "int64")
    check_rows(dense, groute_py.apsp(dense, algorithm="floyd", device=device, predecessors=True))


def test_no_arcs(device: str, method: str) -> None:
    graph = graph_of(3, [])
    check_rows(graph, groute_py.apsp(graph, algorithm=method, device=device, predecessors=True))


def test_a_cycle_of_weight_zero(device: str, method: str) -> None:
    graph = graph_of(5, [(0, 1, 2), (1, 2, 0), (2, 3, 0), (3, 1, 0), (3, 4, 1), (4, 4, 0)])
    rows = groute_py.apsp(graph, algorithm=method, device=device, predecessors=True)
    check_rows(graph, rows)
    assert rows is not None
    assert rows.path(0, 4) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_on_ranks(device: str, ranks: int) -> None:
    graph = random_graph(150, 500, seed=ranks, greatest=9)
    wanted = np.array([7, 7, 149, 0, 20, 3, 1])

    def work(channel: Any) -> SourceRows | None:
        return collect(channel, job_on(channel, graph, wanted, device=device, predecessors=True))

    rows, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    check_rows(graph, rows)
    assert rows is not None
    assert rows.sources.tolist() == wanted.tolist()


@pytest.mark.parametrize("ranks", [1, 3])
def test_reductions(ranks: int) -> None:
    graph = random_graph(60, 150, seed=5, greatest=9)

    def work(channel: Any) -> Any:
        job = job_on(channel, graph, device="cpu")
        return reduce(channel, job, Wanted(histogram=True))

    (result, _), *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    every = np.array([scipy_distances(graph, source) for source in range(60)])
    there = every != groute_py.UNREACHED
    known = np.where(there, every, 0)
    assert result.reached.tolist() == there.sum(axis=1).tolist()
    assert result.sums.tolist() == known.sum(axis=1).tolist()
    assert result.greatest.tolist() == known.max(axis=1).tolist()
    assert known[range(60), result.farthest].tolist() == result.greatest.tolist()
    counts = [(0, 0, int((every == 0).sum()))]
    for exponent in range(1, 12):
        low, high = 2 ** (exponent - 1), 2**exponent
        if here := int((there & (every >= low) & (every < high)).sum()):
            counts.append((low, high, here))
    assert result.histogram == counts


def test_a_histogram_of_negative_distances() -> None:
    chain = Graph.from_arrays([0, 1, 2, 3, 3], [1, 2, 3], [-3, -4, 100])

    def work(channel: Any) -> Any:
        job = job_on(channel, chain, device="cpu")
        return reduce(channel, job, Wanted(histogram=True))

    result, _ = on_ranks(1, work)[0]
    # -3, -7 and 93 from the first vertex, -4 and 96 from the second, 100 from the third
    assert result.histogram == [(-8, -4, 2), (-4, -2, 1), (0, 0, 4), (64, 128, 3)]


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_batch_whose_solves_all_fail_ends(ranks: int) -> None:
    heavy = Graph.from_arrays(np.arange(9), np.arange(1, 9) % 8, np.full(8, 9 * 10**18))

    def work(channel: Any) -> None:
        job = job_on(channel, heavy, algorithm="batch", device="cpu")
        with pytest.raises(groute_py.RunError, match="does not fit"):
            collect(channel, job)

    on_ranks(ranks, work)


def test_paths_of_rows() -> None:
    rows = groute_py.apsp(graph_of(3, [(0, 1, 1)]), predecessors=True, device="cpu")
    assert rows is not None
    assert (rows.path(0, 1), rows.path(0, 2)) == ([0, 1], [])
    one = groute_py.apsp(graph_of(3, [(0, 1, 1)]), sources=[0], predecessors=True, device="cpu")
    assert one is not None
    with pytest.raises(InputError, match="vertex 2 is none of the sources"):
        one.path(2, 0)
    with pytest.raises(InputError, match="not a vertex"):
        rows.path(0, 3)
    without = groute_py.apsp(graph_of(3, [(0, 1, 1)]), device="cpu")
    assert without is not None
    with pytest.raises(InputError, match="need predecessors"):
        without.path(0, 1)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"sources": [3]}, "source 3 is not a vertex"),
        ({"sources": [-1]}, "source -1 is not a vertex"),
        ({"sources": []}, "at least one vertex"),
        ({"sources": [0.5]}, "is no integer"),
        ({"algorithm": "bellman-ford"}, "floyd, heap, batch"),
        ({"device": "tpu"}, "auto, cpu, cuda"),
        ({"memory_limit": 0}, "must be positive"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        groute_py.apsp(graph_of(3, [(0, 1, 1)]), **({"device": "cpu"} | arguments))


def test_predecessors_of_floyd_need_integers(device: str) -> None:
    graph = graph_of(2, [(0, 1, 0.5)], "float64")
    with pytest.raises(InputError, match="rounded"):
        groute_py.apsp(graph, algorithm="floyd", device=device, predecessors=True)


def test_rows_that_fit_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 1000)
    with pytest.raises(InputError, match=r"100 rows of 100 vertices take 80,000 bytes, and 1,000"):
        groute_py.apsp(random_graph(100, 300, seed=1, greatest=3), device="cpu")


def test_memory_that_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: Any) -> None:
        raise MemoryError("Out of memory allocating 8 bytes")

    monkeypatch.setattr("groute_py.many.floyd.close", none_left)
    with pytest.raises(InputError, match=r"floyd on .* does not fit .* allocating 8 bytes"):
        groute_py.apsp(graph_of(3, [(0, 1, 1)]), algorithm="floyd", device="cpu")


def test_a_matrix_beyond_the_limit(device: str) -> None:
    graph = random_graph(300, 900, seed=1, greatest=3)
    with pytest.raises(InputError, match=r"the matrix takes [\d,]+ bytes, and [\d,]+ are free"):
        groute_py.apsp(graph, algorithm="floyd", device=device, memory_limit=100_000)


@pytest.mark.parametrize(("count", "arcs"), [(700, 2000), (1500, 6000), (1500, 200_000)])
def test_a_matrix_in_strips(device: str, count: int, arcs: int) -> None:
    """A GPU that has not room for the matrix; the CPU is no other here."""
    limit = 12 << 20 if device == "cuda" else None
    graph = random_graph(count, arcs, seed=count, greatest=1000)
    rows = groute_py.apsp(
        graph,
        sources=np.random.default_rng(1).permutation(count)[:50],
        algorithm="floyd",
        device=device,
        predecessors=True,
        memory_limit=limit,
    )
    check_rows(graph, rows)
    assert rows is not None
    assert limit is None or "strips of the matrix stay" in rows.statistics["device"]


def test_the_choice_says_why() -> None:
    sparse = choose(
        Options(device="cpu", predecessors=False), facts_of(random_graph(2000, 6000, 1, 9)), 2000, 1
    )
    dense = choose(
        Options(device="cpu", predecessors=False), facts_of(random_graph(100, 60_000, 1, 9)), 100, 1
    )
    assert sparse.algorithm != "floyd" == dense.algorithm
    assert "floyd" in sparse.reason
    assert "heap" in sparse.reason


def test_small_work_stays_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_choose, "gpu_problem", lambda: None)
    monkeypatch.setattr(many_choose, "gpu_bytes", lambda limit: 10**9)
    monkeypatch.setattr(many_choose, "own_figures", lambda *_: GpuRates(132, 10**9))
    small, large = (facts_of(random_graph(n, 4 * n, 1, 9)) for n in (50, 20_000))
    assert choose(Options(predecessors=False), small, 50).device == "cpu"
    assert choose(Options(predecessors=False), large, 20_000).device == "cuda"
    assert choose(Options(predecessors=False), small, 50, ranks=2).device == "cuda"


@given(data=st.data())
def test_sources_by_name(data: st.DataObject) -> None:
    graph = random_graph(30, 60, seed=1, greatest=3)
    wanted = data.draw(st.lists(st.integers(0, 29), min_size=1))
    text = ",".join(map(str, wanted))
    assert sources_of(text, graph.numbering, "it").tolist() == wanted
    drawn = sources_of(f"random:{len(set(wanted))}", graph.numbering, "it")
    assert len(set(drawn.tolist())) == len(set(wanted))


def test_sources_by_names_with_commas(tmp_path: Path) -> None:
    names = Numbering(3, 0, np.array(["Bern, CH", "Ulm", "Ulm, DE"]))
    (tmp_path / "wanted").write_bytes(b"Ulm, DE\r\n\nBern, CH")
    assert sources_of(f"@{tmp_path / 'wanted'}", names, "it").tolist() == [2, 0]
    (tmp_path / "wanted").write_bytes(b"Ulm\nBonn\n")
    with pytest.raises(InputError, match="Bonn"):
        sources_of(f"@{tmp_path / 'wanted'}", names, "it")
    (tmp_path / "wanted").write_bytes(b"\xff\n")
    with pytest.raises(InputError, match="UTF-8"):
        sources_of(f"@{tmp_path / 'wanted'}", names, "it")
    (tmp_path / "wanted").write_bytes(b"\n")
    with pytest.raises(InputError, match="names no source"):
        sources_of(f"@{tmp_path / 'wanted'}", names, "it")
