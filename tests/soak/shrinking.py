"""Make a failing case small: fewer sources, arcs and vertices, as long as it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from soak.case import Case
from soak.reference import Arc

SECONDS = 60.0
"""How long a case is shrunk."""

Fails = Callable[[Case], bool]


def shrunk(case: Case, fails: Fails, seconds: float = SECONDS) -> Case:
    """A small case that fails: no single arc can be left out, nor its ends be made one.

    Arcs are left out by halves, then quarters, … (delta debugging, Zeller and Hildebrandt 2002).
    """
    end = time.monotonic() + seconds

    def still(smaller: Case) -> bool:
        return time.monotonic() < end and fails(smaller)

    is_whole = case.method == "floyd_warshall"  # it solves from every vertex
    one = ([] if is_whole else [replace(case, sources=[source]) for source in case.sources])[::-1]
    case = next((smaller for smaller in one if still(smaller)), case)
    before = None
    while before != (size := (case.count, len(case.arcs))):
        before, case = size, _merged(_without_arcs(case, still), still)
        idle = _with(case, range(len(case.arcs)), _in_use(case))
        case = idle if not is_whole and still(idle) else case
    return case


def _without_arcs(case: Case, still: Fails) -> Case:
    arcs, size = list(range(len(case.arcs))), max(len(case.arcs) // 2, 1)
    while size and arcs:
        start = 0
        while start < len(arcs):
            rest = arcs[:start] + arcs[start + size :]
            if still(_with(case, rest)):
                arcs = rest
            else:
                start += size
        size //= 2
    return _with(case, arcs)


def _merged(case: Case, still: Fails) -> Case:
    """The case with the head of an arc put on its tail, for each arc where that still fails."""
    for tail, head, _ in case.arcs:
        joined = list(range(case.count))
        joined[head] = tail
        if tail != head and still(smaller := _with(case, range(len(case.arcs)), ends=joined)):
            case = smaller
    return case


def _in_use(case: Case) -> list[int]:
    ends = {end for arc in case.arcs for end in arc[:2]}
    return sorted(ends | {*case.sources} | {*case.targets})


def _with(
    case: Case,
    some: Sequence[int],
    vertices: Sequence[int] | None = None,
    ends: Sequence[int] | None = None,
) -> Case:
    """The case with some arcs, with some vertices, and with other ends of its arcs."""
    place = {v: n for n, v in enumerate(vertices or range(case.count))}
    at = [place.get(end, 0) for end in ends or range(case.count)]
    arcs = {a: Arc(at[case.arcs[a].tail], at[case.arcs[a].head], case.arcs[a].weight) for a in some}
    order = sorted(arcs, key=lambda a: arcs[a].tail)
    exact = [case.weights.exact[a] for a in order]
    changes: dict[str, Any] = {
        "count": len(place),
        "arcs": [arcs[a] for a in order],
        "weights": case.weights._replace(array=case.weights.array[order], exact=exact),
        "sources": [at[source] for source in case.sources],
        "targets": [at[target] for target in case.targets],
    }
    return replace(case, **changes)


def shown(case: Case) -> str:
    """Lines of Python that make the graph, under the line that says how to solve it."""
    graph = case.graph()
    arrays = f"{graph.offsets.tolist()}, {graph.heads.tolist()}, weights"
    weights = f"np.array({graph.weights.tolist()}, {case.dtype!r})"
    return f"{case}\nweights = {weights}\ngraph = groute_py.Graph.from_arrays({arrays})"
