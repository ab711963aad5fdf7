"""Is the answer right? Distances, reached vertices, tree, statistics; errors where they belong."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from groute_py import UNREACHED, InputError, NegativeCycleError, RunError
from soak.case import Case
from soak.reference import Arc, distances_from, has_negative_cycle
from soak.solving import Row, solved

Exact = int | Fraction


class WrongAnswerError(AssertionError):
    """The message says what is wrong."""


def require(holds: object, what: str) -> None:
    """Raise `WrongAnswerError` unless it holds."""
    if not holds:
        raise WrongAnswerError(what)


def outcome(case: Case) -> str:
    """Solve a case and check the answer; returns how it ended, in a word or two.

    Raises:
        WrongAnswerError: the answer is wrong, or an error came that should not, or none did.
        GrouteError: an error that has no place there.
    """
    arcs = case.arcs
    if case.entry == "bfs":
        arcs = [Arc(arc.tail, arc.head, case.weights.scale) for arc in arcs]
    right = [distances_from(source, case.count, arcs) for source in case.sources]
    sinks = _sinks(case, right)
    try:
        rows = solved(case)
    except NegativeCycleError as error:
        require(sinks, f"no source reaches a negative cycle: {error}")
        _check_cycle(case, error)
        return "negative cycle"
    except InputError as error:
        require(case.method == "ell-bellman-ford" and "slots an arc" in str(error), f"{error}")
        return "too skewed for ELL"
    except RunError as error:
        if case.kind == "closing" and case.has_negative and "round" in str(error):
            return "refused for rounding"
        require("does not fit" in str(error), f"{error}")
        require(_overflows(case, right), f"every distance fits, but: {error}")
        return "does not fit"
    require(not sinks, "a negative cycle is not reported")
    require(
        not _overflows(case, right) or _ends_early(case),
        "a distance beyond 64 bits is not reported",
    )
    for row, exact in zip(rows, right, strict=True):
        assert exact is not None
        _check_row(case, arcs, row, exact)
    return "right"


def _sinks(case: Case, right: list[list[int | None] | None]) -> bool:
    """Whether a negative cycle has to be reported; these two look for it in the whole graph."""
    if case.entry == "csgraph" and case.method in ("johnson", "floyd_warshall"):
        return has_negative_cycle(case.count, case.arcs)
    return any(row is None for row in right)


def _overflows(case: Case, right: list[list[int | None] | None]) -> bool:
    if case.weights.array.dtype.kind == "f":
        return False
    return any(d is not None and d >= UNREACHED for row in right for d in row or ())


def _ends_early(case: Case) -> bool:
    return bool(case.targets) or "cutoff" in case.options


def _check_cycle(case: Case, error: NegativeCycleError) -> None:
    """The cycle is there, its weight is negative, and that is the weight that is given."""
    lightest: dict[tuple[int, int], int] = {}
    for arc in case.arcs:
        ends = arc.tail, arc.head
        lightest[ends] = min(arc.weight, lightest.get(ends, arc.weight))
    require(len(error.cycle) > 1 and error.cycle[0] == error.cycle[-1], f"no cycle: {error.cycle}")
    require(all(ends in lightest for ends in pairwise(error.cycle)), f"no arcs: {error.cycle}")
    weight = sum(lightest[ends] for ends in pairwise(error.cycle))
    require(weight < 0, f"the cycle weighs {weight}: {error.cycle}")
    given = Fraction(error.weight) * case.weights.scale
    require(given == weight, f"the cycle weighs {weight}, but {given} is given")


def _check_row(case: Case, arcs: list[Arc], row: Row, exact: list[int | None]) -> None:
    floats = case.dtype.startswith("float") or case.entry == "csgraph"
    kind = "f" if floats and case.entry != "bfs" else "i"
    require(row.distances.dtype.kind == kind, f"distances are {row.distances.dtype}")
    require(row.distances.shape == (case.count,), f"distances have shape {row.distances.shape}")
    slack, bound = _tolerance(case, row, exact), _bound(case, exact)
    result = _found(case, row)
    for vertex, (here, right) in enumerate(zip(result, exact, strict=True)):
        near = right is not None and (bound is None or right <= bound)
        doubtful = bound is not None and right is not None and _gap(right, bound) <= slack
        require(
            (here is not None) == near or (slack and doubtful),
            f"vertex {vertex} from {row.source}: is at {here}, right is {right}, bound {bound}",
        )
        if here is not None and right is not None:
            require(
                _gap(here, right) <= slack,
                f"vertex {vertex} from {row.source}: is at {here}, right is {right}",
            )
    require(result[row.source] == 0, f"the source is at {result[row.source]}")
    require((row.predecessors is not None) == case.predecessors, "predecessors as asked for")
    if row.predecessors is not None:
        _check_tree(arcs, row, result, slack)
    if row.statistics is not None:
        _check_statistics(case, row)


def _found(case: Case, row: Row) -> list[Exact | None]:
    """Distances in the units of the exact weights; None where no path leads."""
    scale = 1 if case.entry == "bfs" else case.weights.scale
    unit = case.weights.scale if case.entry == "bfs" else 1
    if row.distances.dtype.kind == "f":
        return [Fraction(d) * scale if np.isfinite(d) else None for d in row.distances.tolist()]
    return [d * scale * unit if d != UNREACHED else None for d in row.distances.tolist()]


def _gap(one: Exact, two: Exact) -> Fraction:
    return abs(Fraction(one) - two)


def _tolerance(case: Case, row: Row, exact: list[int | None]) -> Exact:
    """What roundings of sums can come to: one for each arc of a path, of the largest sum on it."""
    beyond_floats = case.entry == "csgraph" and case.kind == "heavy"
    if case.entry == "bfs" or not (case.weights.rounded or beyond_floats):
        return 0
    largest = max(map(abs, case.weights.exact), default=0)
    reached = [abs(distance) for distance in exact if distance is not None]
    sums = case.count * largest if case.has_negative else max(reached)
    types = [row.distances.dtype, *([case.weights.array.dtype] if case.weights.meant else [])]
    precision = max(float(np.finfo(dtype).eps) for dtype in types)
    return 2 * case.count * sums * Fraction(precision)


def _bound(case: Case, exact: list[int | None]) -> Exact | None:
    """The greatest distance that counts; None where all do."""
    bounds: list[Exact] = []
    scale = case.weights.scale
    if (cutoff := case.options.get("cutoff")) is not None:
        bounds.append(Fraction(cutoff) * scale)
    ends = [exact[target] for target in case.targets]
    if ends and not case.has_negative:
        known = [end for end in ends if end is not None and (not bounds or end <= bounds[0])]
        if len(known) == len(ends):
            bounds.append(max(known))
    return min(bounds, default=None)


def _check_tree(arcs: list[Arc], row: Row, result: list[Exact | None], slack: Exact) -> None:
    """Each predecessor has a tight arc, and all lead to the source."""
    assert row.predecessors is not None
    parents = row.predecessors.tolist()
    tight = {(row.source, row.source)}
    for tail, head, weight in arcs:
        before, here = result[tail], result[head]
        if before is not None and here is not None and _gap(before + weight, here) <= slack:
            tight.add((tail, head))
    for vertex, parent in enumerate(parents):
        if vertex == row.source or result[vertex] is None:
            require(parent == -1, f"vertex {vertex} from {row.source} has a predecessor, {parent}")
        else:
            where = f"vertex {vertex} from {row.source}, predecessor {parent}"
            require(0 <= parent < len(parents), f"{where}: is none")
            require((parent, vertex) in tight, f"{where}: no tight arc")
    _check_rooted(parents, row.source)


def _check_rooted(parents: list[int], source: int) -> None:
    rooted = {source}
    for vertex, parent in enumerate(parents):
        path = []
        while parent != -1 and vertex not in rooted:
            path.append(vertex)
            require(len(path) <= len(parents), f"the predecessors of {path[0]} close a cycle")
            vertex, parent = parent, parents[parent]
        require(vertex in rooted or not path, f"predecessors end at {vertex}, not at {source}")
        rooted.update(path)


def _check_statistics(case: Case, row: Row) -> None:
    assert row.statistics is not None
    statistics = row.statistics
    require(statistics["ranks"] == case.ranks, f"{statistics['ranks']} ranks")
    if case.method != "auto":
        require(statistics["algorithm"] == case.method, f"solved by {statistics['algorithm']}")
    counts = [statistics[name] for name in ("relaxations", "useless_relaxations", "rounds")]
    require(min(counts) >= 0 and counts[0] >= counts[1], f"counts {counts}")
    require(all(s >= 0 for s in statistics["seconds"].values()), "seconds are not negative")
    sent = statistics["bytes_sent"]
    shape = len(sent) == case.ranks and all(len(to) == case.ranks for to in sent)
    require(shape and min(map(min, sent)) >= 0, f"bytes sent {sent}")
