"""The comparison with exact arithmetic sees planted faults, and draws the same cases each time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from itertools import count
from typing import Any

import numpy as np
import pytest
from soak import __main__ as program
from soak import checks
from soak.case import Case, drawn
from soak.checks import WrongAnswerError, outcome
from soak.ending import ended
from soak.reference import Arc, distances_from, has_negative_cycle
from soak.shrinking import shown, shrunk
from soak.solving import Row, solved
from support.graphs import scipy_distances

from groute_py import UNREACHED, NegativeCycleError, RunError


@cache
def plain_case() -> int:
    """The number of a case with vertices that are reached and some that are not."""
    return first(lambda case: is_plain(case) and 3 < reached(case) < case.count).number


def first(holds: Callable[[Case], object]) -> Case:
    """The first case for which this holds and the answer has some vertices."""
    cases = (drawn(number, "cpu") for number in count())
    return next(case for case in cases if case.count > 5 and holds(case))


def is_plain(case: Case) -> bool:
    """Distances of integers to all that is reached, with a tree."""
    return (
        case.entry == "sssp"
        and case.kind == "small"
        and case.dtype.startswith("int")
        and case.predecessors
        and not case.targets
        and "cutoff" not in case.options
        and reached(case) > 3
    )


def reached(case: Case) -> int:
    exact = distances_from(case.sources[0], case.count, case.arcs)
    return 0 if exact is None else sum(d is not None for d in exact)


def off_by_one(row: Row) -> None:
    row.distances[far(row)] += 1


def lost_vertex(row: Row) -> None:
    row.distances[far(row)] = UNREACHED


def invented_vertex(row: Row) -> None:
    row.distances[row.distances == UNREACHED] = 5


def moved_source(row: Row) -> None:
    row.distances[row.source] = 1


def lost_predecessor(row: Row) -> None:
    parents(row)[far(row)] = -1


def foreign_predecessor(row: Row) -> None:
    parents(row)[far(row)] = far(row)


def predecessor_of_source(row: Row) -> None:
    parents(row)[row.source] = far(row)


def far(row: Row) -> int:
    known = np.where(row.distances == UNREACHED, -1, row.distances)
    return int(np.argmax(known))


def parents(row: Row) -> Any:
    assert row.predecessors is not None
    return row.predecessors


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (off_by_one, "right is"),
        (lost_vertex, "is at None"),
        (invented_vertex, "right is None"),
        (moved_source, "right is 0"),
        (lost_predecessor, "is none"),
        (foreign_predecessor, "no tight arc"),
        (predecessor_of_source, "has a predecessor"),
        (lambda row: row.statistics.update(ranks=9), "9 ranks"),
        (lambda row: row.statistics.update(useless_relaxations=10**9), "counts"),
    ],
)
def test_a_planted_fault_is_seen(
    spoil: Callable[[Row], None], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = drawn(plain_case(), "cpu")

    def wrong(case: Case) -> list[Row]:
        rows = [row._replace(distances=row.distances.copy()) for row in solved(case)]
        rows = [row._replace(predecessors=parents(row).copy()) for row in rows]
        spoil(rows[0])
        return rows

    assert outcome(case) == "right"
    monkeypatch.setattr(checks, "solved", wrong)
    with pytest.raises(WrongAnswerError, match=says):
        outcome(case)


def test_predecessors_that_close_a_cycle_of_weight_zero_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = first(lambda case: case.kind == "zero" and case.entry == "sssp" and case.predecessors)
    arcs = [Arc(0, 1, 0), Arc(1, 2, 0), Arc(2, 1, 0)]
    row = Row(0, np.zeros(3, np.int64), np.array([-1, 2, 1]), None)
    case.count, case.arcs, case.sources, case.targets, case.options = 3, arcs, [0], [], {}
    case.dtype = "int32"
    monkeypatch.setattr(checks, "solved", lambda case: [row])
    with pytest.raises(WrongAnswerError, match="close a cycle"):
        outcome(case)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (NegativeCycleError([0, 1, 0], -1), "no source reaches a negative cycle"),
        (RunError("a distance does not fit in int64"), "every distance fits"),
        (RunError("a rank was lost"), "a rank was lost"),
    ],
)
def test_an_error_that_has_no_place_is_seen(
    error: Exception, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(case: Case) -> list[Row]:
        raise error

    monkeypatch.setattr(checks, "solved", fails)
    with pytest.raises(WrongAnswerError, match=says):
        outcome(drawn(plain_case(), "cpu"))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda error: setattr(error, "weight", error.weight - 1), "is given"),
        (lambda error: setattr(error, "cycle", error.cycle[:-1]), "no cycle"),
        (lambda error: setattr(error, "cycle", [-1, *error.cycle[1:-1], -1]), "no arcs"),
    ],
)
def test_a_cycle_that_is_none_is_seen(
    spoil: Callable[[Any], None], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = first(lambda c: c.kind == "sinking" and c.entry == "sssp" and reached(c) == 0)
    assert outcome(case) == "negative cycle"

    def wrong(case: Case) -> list[Row]:
        with pytest.raises(NegativeCycleError) as caught:
            solved(case)
        spoil(caught.value)
        raise caught.value

    monkeypatch.setattr(checks, "solved", wrong)
    with pytest.raises(WrongAnswerError, match=says):
        outcome(case)


def test_a_missed_negative_cycle_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    case = first(lambda c: c.kind == "sinking" and c.entry == "sssp" and reached(c) == 0)
    monkeypatch.setattr(checks, "solved", lambda case: [])
    with pytest.raises(WrongAnswerError, match="is not reported"):
        outcome(case)


def test_the_reference_is_right() -> None:
    compared = 0
    for number in range(60):
        case = drawn(number, "cpu")
        if case.kind in ("small", "negative", "unit") and case.dtype.startswith("int"):
            exact = distances_from(case.sources[0], case.count, case.arcs)
            assert exact is not None
            result = [UNREACHED if d is None else d for d in exact]
            assert result == scipy_distances(case.graph(), case.sources[0]).tolist()
            compared += 1
    assert compared > 5


def test_the_reference_sees_negative_cycles() -> None:
    arcs = [Arc(0, 1, 5), Arc(2, 3, -3), Arc(3, 2, 2)]
    assert has_negative_cycle(4, arcs)
    assert distances_from(0, 4, arcs) == [0, 5, None, None]
    assert distances_from(2, 4, arcs) is None
    assert not has_negative_cycle(4, [*arcs[:2], Arc(3, 2, 3)])
    assert distances_from(2, 4, [*arcs[:2], Arc(3, 2, 3)]) == [None, None, 0, -3]


def test_a_number_draws_one_case() -> None:
    assert [str(drawn(n, "cpu")) for n in range(50)] == [str(drawn(n, "cpu")) for n in range(50)]
    assert len({str(drawn(n, "cpu")) for n in range(50)}) == 50


def test_a_failing_case_prints_what_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(case: Case) -> str:
        raise WrongAnswerError("one off")

    monkeypatch.setattr("soak.ending.outcome", fails)
    failed = ended(5, "cpu")
    assert "one off" in failed.failure
    monkeypatch.setattr(program, "soak", lambda options: [failed])
    monkeypatch.setattr("sys.argv", ["soak", "--solves", "1"])
    with pytest.raises(SystemExit, match="1"):
        program.main()
    out = capsys.readouterr().out
    assert "FAILED: python -m soak --case 5 --device cpu" in out
    assert "outcome: FAILED" in out
    assert "on cpu" in failed.failure.partition("The same error:")[2]


def test_a_failing_case_shrinks_to_what_fails() -> None:
    case = first(lambda case: is_plain(case) and case.count > 50 and reached(case) > 20)
    heavy = max(arc.weight for arc in case.arcs)

    def fails(smaller: Case) -> bool:
        exact = distances_from(smaller.sources[0], smaller.count, smaller.arcs)
        through = {arc.head for arc in smaller.arcs if arc.weight == heavy}
        return any(exact is not None and exact[head] is not None for head in through)

    small = shrunk(case, fails)
    assert fails(small)
    assert small.count <= 3
    assert [arc.weight for arc in small.arcs if arc.weight == heavy] == [heavy]
    assert len(small.arcs) <= 2
    assert small.weights.array.tolist() == [arc.weight for arc in small.arcs]
    assert outcome(small) == "right"
    assert "Graph.from_arrays([0, " in shown(small)


def test_a_process_that_dies_names_its_cases() -> None:
    future: Future[Any] = Future()
    future.set_exception(BrokenProcessPool())
    with pytest.raises(SystemExit, match="cases 8 to 15"):
        program._results(future, range(8, 16))


@pytest.mark.slow
def test_some_solves_on_every_device(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--solves", "20", "--jobs", "1", "--seed", "3", "--device", device]
    cases = list(program.soak(program.arguments(words)))
    assert not [case.failure for case in cases if case.failure]
    assert sum(case.solves for case in cases) >= 20
