"""The certificate of a fresh answer: with a device's help it refuses with the same words."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command import Run, as_json
from support.graphs import graph_of, graphs, scipy_distances
from support.local_ranks import on_ranks
from support.skips import needs_gpu

import groute_py.results.verification as module
from groute_py import UNREACHED, Graph, Result, VerificationError, sssp, verify, write_graph
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.results.statement import Statement
from groute_py.results.verification import certify
from groute_py.source.whole import GraphSupply

ARCS = [(v, v + 1, 3) for v in range(9)] + [(v + 1, v, 2) for v in range(9)]
ARCS += [(0, 5, 16), (9, 10, 0), (10, 11, 0), (11, 10, 0), (12, 0, 1)]
GRAPH = graph_of(13, ARCS)
"""A road from 0 to 9, then a cycle that weighs nothing; no arc leads to 12."""

DISTANCES = [*range(0, 28, 3), 27, 27, UNREACHED]
PARENTS = [-1, *range(11), -1]

FAULTS: dict[str, tuple[dict[int, int], dict[int, int], str]] = {
    "too small": (
        {v: 3 * min(v, 9) - 1 for v in range(7, 12)},
        {},
        "vertex 7 (distance 20) is not led to",
    ),
    "too large": ({7: 22}, {}, "vertex 7 has distance 22, but vertex 6 has 18"),
    "unreached": ({12: 5}, {}, "vertex 12 (distance 5) is not led to"),
    "reachable": ({9: UNREACHED}, {9: -1}, f"vertex 9 has distance {UNREACHED}, but vertex 8"),
    "beyond": ({}, {}, "vertex 8 (distance 24) is reached beyond the cutoff 23"),
    "another": ({}, {5: 0}, "vertex 5 (distance 15) has a predecessor without a tight arc"),
    "no arc": ({}, {8: 1}, "vertex 8 (distance 24) has a predecessor without a tight arc"),
    "cycle": ({}, {10: 11}, "vertex 10 (distance 27) has predecessors that do not lead"),
    "none": ({}, {3: -1}, "vertex 3 (distance 9) lacks one"),
    "of the source": ({}, {0: 1}, "vertex 0 (distance 0) should have no predecessor"),
    "of an unreached": ({}, {12: 0}, f"vertex 12 (distance {UNREACHED}) should have no"),
    "beyond 32 bits": ({}, {7: 2**32 + 6}, "vertex 7 (distance 21) lacks one"),
    "source": ({0: 1}, {}, "the source vertex 0 has distance 1"),
    "negative": ({4: -1}, {}, "vertex 5 has distance 15, but vertex 4 has -1"),
}
"""Other distances and predecessors of some vertices, and what is said of them."""


def planted(name: str) -> Result:
    distances, parents = np.array(DISTANCES), np.array(PARENTS)
    for array, changes in zip((distances, parents), FAULTS[name][:2], strict=True):
        array[list(changes)] = list(changes.values())
    return Result(0, distances, parents)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_faults_on_devices_of_ranks(device: str, ranks: int) -> None:
    """Each fault is in what a rank brings from its device."""
    options = Options(device=device, order="none")

    def work(channel: Any) -> list[str]:
        whole = GraphSupply(GRAPH if channel.rank == 0 else None)
        with SourceSolver(whole, channel, options) as solver:
            result = solver.sssp(0)
            if result is not None:
                certify(GRAPH, result, proves=solver.device.proves)
            return [refusal(solver, name) for name in FAULTS]

    def refusal(solver: SourceSolver, name: str) -> str:
        loaded: Any = solver._graph
        own = slice(loaded.cut.share.first, loaded.cut.share.first + loaded.cut.share.own_count)
        wrong, kind = planted(name), loaded.distance_type
        narrow = np.where(wrong.distances == UNREACHED, np.iinfo(kind).max, wrong.distances)
        loaded.device.distances = lambda: narrow[own].astype(kind)
        loaded.device.public_distances = lambda: wrong.distances[own]
        loaded.device.predecessors = lambda: wrong.predecessors[own]
        result = solver.sssp(0)
        if result is None:
            return ""
        cutoff = 23 if name == "beyond" else None
        with pytest.raises(VerificationError) as alone:
            verify(GRAPH, result, cutoff=cutoff)
        with pytest.raises(VerificationError) as helped:
            certify(GRAPH, result, cutoff=cutoff, proves=solver.device.proves)
        assert str(helped.value) == str(alone.value)
        return str(helped.value)

    said = on_ranks(ranks, work)[0]
    for name, text in zip(FAULTS, said, strict=True):
        assert FAULTS[name][2] in text, name


def test_the_command_checks_what_it_gives_out(
    device: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    write_graph(GRAPH, tmp_path / "graph.csr")
    words = ["sssp", tmp_path / "graph.csr", "--verify", "--device", device, "--json"]
    assert "verify" in as_json(run(*words))["seconds"]
    wrong = planted("too small")
    answer = wrong.distances, wrong.predecessors
    monkeypatch.setattr("groute_py.engine.solver.collect", lambda *_, **__: answer)
    with pytest.raises(VerificationError) as refused:
        run(*words)
    assert FAULTS["too small"][2] in str(refused.value)


@pytest.fixture(scope="module")
def proves() -> Any:
    """What a GPU proves, which looks at a few arcs at once."""
    from groute_py.device.cuda import certificate
    from groute_py.device.cuda.runtime.gpu import GpuContext

    gpu = GpuContext(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certificate, "ARCS_AT_ONCE", 5)
        yield lambda statement: certificate.proves(gpu, statement)


def refused(*_: Any) -> bool:
    raise AssertionError("it was to be proved before")


def only(proves: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the GPU does not prove is an error."""
    monkeypatch.setattr(module, "_is_proved", refused)
    return proves


TYPES = ["int32", "uint32", "int64", "float32", "float64"]


@st.composite
def changed(draw: st.DrawFn, name: str) -> tuple[Graph, Result, int | None]:
    """A graph whose weights may be 0, an answer of which one number may be wrong, and a cutoff."""
    graph = draw(graphs(name, greatest=4))
    result = sssp(graph, 0, device="cpu")
    distances, parents = result.distances.copy(), result.predecessors.copy()
    vertex = draw(st.integers(0, graph.vertex_count - 1))
    if draw(st.booleans()):
        distances[vertex] = draw(st.one_of(st.integers(-2, 20), st.just(UNREACHED)))
    if draw(st.booleans()):
        parents[vertex] = draw(st.integers(-1, graph.vertex_count))
    tree = parents if draw(st.booleans()) else None
    return graph, Result(0, distances, tree), draw(st.sampled_from([None, 3]))


def said(check: Callable[[], None]) -> str:
    """Of what is wrong; "" of a right answer."""
    try:
        check()
    except VerificationError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=100)
@given(data=st.data())
def test_the_short_check_accepts_nothing_wrong(name: str, data: st.DataObject) -> None:
    graph, result, cutoff = data.draw(changed(name))
    wanted = said(lambda: module._check(graph, result, cutoff))
    assert said(lambda: certify(graph, result, cutoff=cutoff)) == wanted


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=40)
@given(data=st.data())
def test_the_short_check_suffices(name: str, data: st.DataObject) -> None:
    """Where weights are not 0."""
    graph = data.draw(graphs(name, least=1))
    cutoff = data.draw(st.sampled_from([None, 7, 12.5]))
    answer = sssp(graph, 0, cutoff=cutoff, device="cpu")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_check", refused)
        for result in (answer, Result(0, answer.distances)):
            certify(graph, result, cutoff=cutoff)


NO = UNREACHED

CONDITIONS: dict[str, tuple[list[tuple[int, int, int]], list[int], list[int] | None, bool]] = {
    "right": ([(0, 1, 5), (1, 2, 2)], [0, 5, 7], [-1, 0, 1], True),
    "right within 9": ([(0, 1, 5), (1, 2, 5)], [0, 5, NO], [-1, 0, -1], True),
    "sum beyond 64 bits": ([(0, 1, 5), (1, 2, NO - 4)], [0, 5, NO], None, True),
    "shorter": ([(0, 1, 5), (0, 2, 1), (2, 1, 1)], [0, 5, 1], [-1, 0, 0], False),
    "shorter by less than 0": ([(0, 1, 5), (0, 2, 4), (2, 1, -3)], [0, 5, 4], None, False),
    "reachable": ([(0, 1, 5), (1, 2, 1)], [0, 5, NO], None, False),
    "led to by itself": ([(0, 1, 5), (2, 2, 0)], [0, 5, 7], [-1, 0, 2], False),
    "led to by each other": ([(1, 2, 0), (2, 1, 0)], [0, 7, 7], None, False),
    "not led to": ([(0, 1, 5)], [0, 4, NO], None, False),
    "other predecessor": ([(0, 1, 2), (0, 2, 1)], [0, 2, 1], [-1, 2, 0], False),
    "beyond 9": ([(0, 1, 10)], [0, 10, NO], None, False),
    "source": ([], [3, NO, NO], None, False),
    "no source": ([], [NO, NO, NO], None, False),
    "predecessor of the source": ([(0, 1, 5), (1, 0, 1)], [0, 5, NO], [1, 0, -1], False),
    "predecessor of an unreached": ([(2, 0, 1), (0, 1, 5)], [0, 5, NO], [-1, 0, 0], False),
}
"""Arcs, distances, predecessors, and whether they are right up to 9. Wrong ones break one rule."""


def statement_of(name: str) -> Statement:
    arcs, distances, parents, _ = CONDITIONS[name]
    tree = None if parents is None else np.array(parents)
    result = Result(0, np.array(distances), tree)
    return module._statement(graph_of(3, arcs, "int64"), result, 9, hops=False)


@pytest.mark.parametrize("name", CONDITIONS)
def test_each_rule(name: str) -> None:
    assert module._is_proved(statement_of(name)) == CONDITIONS[name][-1]


UNUSUAL = {
    "too few": np.array([-1, 0]),
    "none": np.zeros(0, np.int64),
    "broken": np.array([-1, 0.5, 1]),
    "unsigned": np.array([-1, 0, 1]).astype(np.uint64),
    "narrow": np.array([-1, 0, 1], np.int32),
}
"""Predecessors of another shape or type, of which only the last are right."""


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_predecessors_take_the_long_way(name: str) -> None:
    assert not module._is_proved(statement_of("right")._replace(predecessors=UNUSUAL[name]))


def test_weights_are_not_rounded() -> None:
    arcs = GRAPH.offsets, GRAPH.heads
    answer = 0, np.array(DISTANCES), np.array(PARENTS), 99
    assert Statement(*arcs, GRAPH.weights, *answer).is_usual
    assert not Statement(*arcs, GRAPH.weights + 0.5, *answer).is_usual
    assert not Statement(*arcs, GRAPH.weights, 0, np.array(DISTANCES, float), None, 9).is_usual


def test_threads_share_the_arcs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each looks at some rows; what one of them finds counts."""
    monkeypatch.setattr(module, "SHARED_FROM", 1)
    monkeypatch.setattr(module, "thread_count", lambda: 5)
    for name in FAULTS:
        cutoff = 23 if name == "beyond" else None
        with pytest.raises(VerificationError, match=re.escape(FAULTS[name][2])):
            certify(GRAPH, planted(name), cutoff=cutoff)


@pytest.mark.parametrize("name", TYPES)
class TestProofs:
    pytestmark = needs_gpu

    @settings(max_examples=40)
    @given(data=st.data())
    def test_right_answers(self, proves: Any, name: str, data: st.DataObject) -> None:
        """Weights are not 0, so the GPU can say yes."""
        graph = data.draw(graphs(name, least=1))
        cutoff = data.draw(st.sampled_from([None, 7, 12.5]))
        answer = sssp(graph, 0, cutoff=cutoff, device="cpu")
        alone = Result(0, answer.distances)
        with pytest.MonkeyPatch.context() as patch:
            only(proves, patch)
            for result in (answer, alone):
                certify(graph, result, cutoff=cutoff, proves=proves)

    @settings(max_examples=60)
    @given(data=st.data())
    def test_any_change_is_refused_alike(self, proves: Any, name: str, data: st.DataObject) -> None:
        graph, result, cutoff = data.draw(changed(name))
        assert said(lambda: certify(graph, result, cutoff=cutoff, proves=proves)) == said(
            lambda: module._check(graph, result, cutoff)
        )

    def test_hops(self, proves: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = Graph(GRAPH.offsets, GRAPH.heads, GRAPH.weights.astype(name))
        unit = graph.with_unit_weights()
        certify(graph, sssp(unit, 0, device="cpu"), hops=True, proves=only(proves, monkeypatch))


class TestDoubts:
    pytestmark = needs_gpu

    @pytest.mark.parametrize("name", CONDITIONS)
    def test_each_rule(self, proves: Any, name: str) -> None:
        assert proves(statement_of(name)) == CONDITIONS[name][-1]

    def test_negative_weights(self, proves: Any) -> None:
        """They may shorten distances of which none is larger than that of the tail."""
        graph = graph_of(3, [(0, 1, 5), (0, 2, 4), (2, 1, -3)])
        certify(graph, sssp(graph, 0, device="cpu"), proves=proves)
        with pytest.raises(VerificationError, match="vertex 1 has distance 5, but vertex 2 has 4"):
            certify(graph, Result(0, np.array([0, 5, 4]), np.array([-1, 0, 0])), proves=proves)

    def test_what_is_no_number(self, proves: Any) -> None:
        graph = graph_of(2, [(0, 1, 0.5)], "float64")
        for value in (np.nan, -np.inf):
            wrong = Result(0, np.array([0.0, value]))
            assert not proves(module._statement(graph, wrong, np.inf, hops=False))

    @pytest.mark.parametrize("name", UNUSUAL)
    def test_unusual_predecessors(self, proves: Any, name: str) -> None:
        assert not proves(statement_of("right")._replace(predecessors=UNUSUAL[name]))

    def test_rows_that_slices_cut(self, proves: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """A hub between vertices without arcs."""
        graph = graph_of(60, [(20, v, 1 + v % 3) for v in range(60)] + [(0, 20, 2)])
        result = scipy_distances(graph, 0)
        certify(graph, Result(0, result), proves=only(proves, monkeypatch))

    def test_no_memory(self, proves: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """Then the host looks."""
        from groute_py.device.cuda import certificate

        def full(*_: Any) -> None:
            raise MemoryError

        monkeypatch.setattr(certificate, "to_device", full)
        certify(GRAPH, Result(0, np.array(DISTANCES), np.array(PARENTS)), proves=proves)
