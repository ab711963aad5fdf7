"""The optimality certificate of a shortest-path answer.

Distances are right if and only if the source has 0, no arc shortens any distance, and a path of
tight arcs (u→v with distance[u] + weight = distance[v]) leads from the source to every reached
vertex (Ahuja, Magnanti and Orlin, "Network Flows", section 5.2). With negative float weights an arc
may shorten a distance by at most the tolerance of `groute_py.results.tolerance`. The check
shares no code with the solvers but `extend`. One pass over the arcs, by several threads if these
are many, accepts an answer whose tight arcs from smaller distances suffice. After a solve on a GPU
that does this pass. They do not suffice for wrong answers, and with weights that are negative,
zero, or so small that a float sum does not change: then further passes and a search follow, in host
memory.

An answer with turns has no distances of the other places of the expansion, in which it was solved.
So these are found by a serial method first, and certified; then the answer is compared with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import (
    InputError,
    VerificationError,
    check_cutoff,
    check_kind,
    check_truth,
    plain,
    quoted,
)
from groute_py.graph.csr import Graph
from groute_py.graph.objectives import for_objective
from groute_py.graph.scale import Scale
from groute_py.graph.tails import all_tails
from groute_py.graph.turns.expanded import ExpandedGraph, expanded
from groute_py.io.turn_files import turns_in
from groute_py.kernels.cpu import certificate
from groute_py.results.distances import UNREACHED
from groute_py.results.reference import Variants, reference_distances, serial_distances, variants
from groute_py.results.result import Result
from groute_py.results.statement import Statement
from groute_py.results.tolerance import path_slack
from groute_py.system.threads import thread_count

Prover = Callable[[Statement], bool]
"""Function that says whether an answer is right; False says nothing."""

Shown = Callable[[Any], str]  # function that shows a vertex in the file's numbering
SHARED_FROM = 1 << 18  # arcs from which several threads look at them


def verify(
    graph: Graph,
    result: Result,
    *,
    cutoff: float | None = None,
    hops: bool = False,
    turns: Any = None,
    objective: str = "shortest",
) -> None:
    """Check a result against its graph by the optimality conditions.

    The source has distance 0, no arc shortens a distance, and tight arcs lead from the source to
    every reached vertex (Ahuja, Magnanti and Orlin, "Network Flows", section 5.2).

    Args:
        graph: the graph that was solved.
        result: its distances, and its predecessors if it has them, are checked.
        cutoff: the cutoff of the solve, in units of weight, if there was one. A solve that ended
            with its targets has its bound in ``statistics``, which counts in any case.
        hops: the result is one of `groute_py.bfs`: every arc counts 1.
        turns: the costs of turns that the result was computed with, as for `groute_py.sssp`.
        objective: that of the result, likewise; least distances of the weights to which it leads
            are found by a serial method, certified, and compared.

    Raises:
        VerificationError: a distance or predecessor is wrong; the message names the first such
            vertex and the reason.
        InputError: the result and the graph differ in the number of vertices or in their ids, or
            the cutoff is not a number.
    """
    cutoff = plain(cutoff)
    if cutoff is not None:
        check_cutoff(cutoff, objective)
    check_truth("hops", hops)
    check_kind("graph", graph, Graph, "a Graph, as read_graph returns it")
    check_kind("result", result, Result, "a Result, as sssp returns it")
    if turns is not None:
        graph = expanded(graph, turns_in(turns, graph.numbering))
    if objective != "shortest":
        graph = for_objective(graph, objective)
    if cutoff is not None and graph.scale is not None:
        cutoff = graph.scale.bound(cutoff)
    bounds = [b for b in (cutoff, result.statistics.get("bound")) if b is not None]
    cutoff = min(bounds, default=None)
    graph = graph.reversed() if result.reverse else graph.to_host()
    if isinstance(graph, ExpandedGraph):
        _check_belonging(graph.layout.vertex_count, graph, result)
        if hops or result.predecessors is not None:
            raise InputError("answers with turns have no hops and no predecessors")
        _verify_with_turns(graph, result, _bound(cutoff, result.distances.dtype))
        return
    certify(graph, result, cutoff=cutoff, hops=hops)


def certify(
    graph: Graph,
    result: Result,
    *,
    cutoff: float | None = None,
    hops: bool = False,
    proves: Prover = lambda _statement: False,
) -> None:
    """Verify like `verify` a graph in host memory, whose arcs lead as the distances count.

    A device is asked first by ``proves``. What it does not prove is looked at here, so that each
    wrong answer is refused with the same words.
    """
    _check_belonging(graph.vertex_count, graph, result)
    if graph.scale is not None:
        _verify_values(graph, graph.scale, result, cutoff)
        return
    bound = _bound(cutoff, result.distances.dtype)
    if proves(_statement(graph, result, bound, hops=hops)):
        return
    if hops:
        graph = graph.with_unit_weights()
    if not _is_proved(_statement(graph, result, bound, hops=False)):
        _check(graph, result, cutoff)


def _is_proved(statement: Statement) -> bool:
    """Return whether an answer is right; False says nothing, as for negative weights.

    No arc may shorten a distance. Each reached vertex but the source needs a tight arc from a
    smaller distance, with predecessors from its predecessor: back along these distances fall, and
    only the source ends that.
    """
    if not statement.is_usual:
        return False
    offsets, heads, weights, source, distances, predecessors, bound = statement
    arcs = offsets.view(np.uint64), heads.view(f"u{heads.itemsize}"), weights
    parents = np.zeros(0, np.uint64) if predecessors is None else predecessors.view(np.uint64)
    nothing = np.inf if distances.dtype.kind == "f" else UNREACHED
    led = np.zeros(len(distances), np.bool_)
    answer = distances, parents, nothing, bound

    def looked(look: Callable[..., bool], *words: Any) -> bool:
        return all(_over_rows(offsets, lambda rows: look(tuple(map(np.uint64, rows)), *words)))

    return looked(certificate.find_led, arcs, answer, led) and looked(
        certificate.are_led, answer, np.uint64(source), led
    )


def _check(graph: Graph, result: Result, cutoff: float | None) -> None:
    """Check like `certify`, with the weights as they are."""
    distances, source = result.distances, result.source
    # sums are made in the type of float distances, as solvers make them
    own_type = distances.dtype.kind in "fu"  # as of ranks
    weights = graph.weights.astype(distances.dtype, copy=False) if own_type else graph.weights
    arcs, of_graph = (graph.offsets, graph.heads, weights), variants(graph)
    shown = _ids(graph)
    nothing = np.inf if distances.dtype.kind == "f" else UNREACHED
    number = distances <= nothing  # which NaN is not
    lowest = -np.inf if distances.dtype.kind == "f" else -UNREACHED - 1
    _refuse(~number | (distances == lowest), distances, shown, "has what is no distance")
    if distances[source] != 0:
        raise VerificationError(f"the source {shown(source)} has distance {distances[source]}")
    bound = _bound(cutoff, distances.dtype)
    beyond = result.reached & (distances > bound)
    _refuse(beyond, distances, shown, f"is reached beyond the cutoff {cutoff}")
    _check_no_improvement(graph, arcs, result, bound)
    led = _led(arcs, result, of_graph)
    _refuse(result.reached & ~led, distances, shown, "is not led to by any path of that length")
    if result.predecessors is not None:
        _check_tree(arcs, result, shown, of_graph)


def _statement(graph: Graph, result: Result, bound: Any, *, hops: bool) -> Statement:
    """Make the statement that a result is right for a graph."""
    distances = result.distances
    weights: Any = np.broadcast_to(np.int32(1), graph.arc_count) if hops else graph.weights
    if distances.dtype.kind == "f":  # sums are made in the type of float distances
        weights = weights.astype(distances.dtype, copy=False)
    arrays = graph.offsets, graph.heads, weights
    return Statement(*arrays, result.source, distances, result.predecessors, bound)


def _check_belonging(count: int, graph: Graph, result: Result) -> None:
    """Raise `InputError` for a result that is of another graph."""
    if result.distances.shape != (count,) or not 0 <= result.source < count:
        raise InputError(
            f"the result has {len(result.distances)} distances from source {result.source}, but "
            f"{quoted(graph.name)} has {count} vertices: they do not belong together"
        )
    own, ids = graph.numbering.ids, result.ids
    if ids is not None and own is not None and ids is not own and not np.array_equal(own, ids):
        raise InputError(
            f"the result's vertices have other ids than those of {quoted(graph.name)}: "
            "they do not belong together"
        )


def _verify_with_turns(graph: ExpandedGraph, result: Result, bound: Any) -> None:
    """Compare distances up to a bound with those of the expansion."""
    solved, layout, kind = graph.solved, graph.layout, result.distances.dtype
    if kind.kind == "f":
        solved = solved.changed(weights=solved.weights.astype(kind, copy=False))
    (begin,) = layout.begins(np.array([result.source])).tolist()
    right = serial_distances(solved, begin)
    certify(solved, Result(begin, right))
    oracle = layout.at_ends(right)
    oracle = np.where(oracle <= bound, oracle, np.inf if kind.kind == "f" else UNREACHED)
    same = result.distances == oracle
    if kind.kind == "f" and len(solved.weights) and solved.weights.min() < 0:
        arcs = (solved.offsets, solved.heads, solved.weights)
        steps, absolute = np.full(len(right), -1, np.int64), np.zeros(len(right))
        certificate.lengths_along(arcs, right, begin, steps, absolute)
        slack = layout.at_ends(path_slack(2 * np.maximum(steps, 0), 2 * absolute, kind))
        with np.errstate(invalid="ignore"):
            same |= np.abs(result.distances - oracle) <= slack
    if not same.all():
        vertex = int(np.argmin(same))
        name, value = _ids(graph)(vertex), result.distances[vertex]
        raise VerificationError(f"{name} has distance {value}; with these turns {oracle[vertex]}")


def _verify_values(graph: Graph, scale: Scale, result: Result, cutoff: float | None) -> None:
    """Compare the values of an objective with those of certified distances."""
    right = reference_distances(graph, result.source)
    kind = right.dtype
    nothing = np.inf if kind.kind == "f" else UNREACHED
    if cutoff is not None:
        right[right > kind.type(_bound(cutoff, kind))] = nothing
    _check(graph, replace(result, distances=right), cutoff)
    public = right if kind.kind == "f" else right.view(np.int64)
    oracle, sums = scale.values(public), scale.all_sums(public)
    same = result.distances == oracle
    if scale.slack:
        same |= np.isclose(result.distances, oracle, rtol=scale.slack, atol=0)
    for name, values in sums.items():
        same &= result.carried.get(name, values) == values
    if not same.all():
        vertex = int(np.argmin(same))
        name, value = _ids(graph)(vertex), result.distances[vertex]
        raise VerificationError(f"{name} has value {value}; the best one is {oracle[vertex]}")


def _bound(cutoff: float | None, kind: np.dtype[Any]) -> Any:
    """The greatest distance of a type that counts, which is compared without rounding."""
    if kind.kind != "f":
        return UNREACHED if cutoff is None or cutoff >= UNREACHED else math.floor(cutoff)
    if cutoff is None or cutoff > float(np.finfo(kind).max):
        return kind.type(np.inf)
    nearest = kind.type(cutoff)
    return nearest if nearest.item() <= cutoff else np.nextafter(nearest, -kind.type(np.inf))


def _ids(graph: Graph) -> Shown:
    numbering = graph.numbering
    return lambda vertex: f"vertex {numbering.id_of(int(vertex))}"


def _check_no_improvement(
    graph: Graph, arcs: tuple[Any, ...], result: Result, bound: float
) -> None:
    distances = result.distances
    floats, kind = distances.dtype.kind == "f", distances.dtype.type
    nothing, bound = kind(np.inf if floats else UNREACHED), kind(bound)
    improvable_arc = variants(graph)(certificate.improvable_arc)
    looked = _over_rows(arcs[0], lambda rows: improvable_arc(rows, arcs, distances, nothing, bound))
    tail, arc = next((pair for pair in looked if pair[0] >= 0), (-1, -1))
    if tail >= 0 and floats and graph.weights.min() < 0:
        tail, arc = _improvable_beyond_rounding(arcs, result, bound)
    if tail >= 0:
        raise _improvable(graph, distances, tail, arc)


def _improvable_beyond_rounding(
    arcs: tuple[Any, ...], result: Result, bound: float
) -> tuple[int, int]:
    """The first (tail, arc) that would shorten a distance by more than is allowed, or (−1, −1)."""
    offsets, heads, weights = arcs
    distances, count = result.distances, len(offsets) - 1
    steps, absolute = np.full(count, -1, np.int64), np.zeros(count)
    certificate.lengths_along(arcs, distances, result.source, steps, absolute)
    tails = all_tails(offsets)
    with np.errstate(invalid="ignore", over="ignore"):
        reach = distances[tails] + weights
        gains = distances[heads] - reach
        sums = absolute[tails] + absolute[heads] + np.abs(weights)
        slack = path_slack(steps[tails] + steps[heads] + 1, sums, distances.dtype)
        wrong = gains > np.where((steps[tails] >= 0) & (steps[heads] >= 0), slack, 0)
        wrong &= reach <= bound
    if not wrong.any():
        return -1, -1
    arc = int(np.argmax(wrong))
    return int(tails[arc]), arc


def _improvable(graph: Graph, distances: NDArray[Any], tail: int, arc: int) -> VerificationError:
    shown, head = _ids(graph), graph.heads[arc]
    return VerificationError(
        f"{shown(head)} has distance {distances[head]}, but {shown(tail)} has "
        f"{distances[tail]} and an arc of weight {graph.weights[arc]} to it"
    )


def _led(arcs: tuple[Any, ...], result: Result, of_graph: Variants) -> NDArray[np.bool_]:
    """Return for each vertex whether tight arcs lead to it from the source."""
    distances = result.distances
    led = np.zeros(len(distances), np.bool_)
    lead_from_nearer = of_graph(certificate.lead_from_nearer)
    _over_rows(arcs[0], lambda rows: lead_from_nearer(rows, arcs, distances, led))
    led[result.source] = True
    if (led | ~result.reached).all():
        return led  # back along such arcs distances fall, and only the source ends that
    searched: NDArray[np.bool_] = of_graph(certificate.spread)(arcs, distances, result.source)
    return searched


def _over_rows(offsets: NDArray[Any], look: Callable[[tuple[int, int]], Any]) -> list[Any]:
    """Return what ``look`` returns for ranges of rows with about as many arcs each, in order."""
    threads = thread_count() if offsets[-1] >= SHARED_FROM else 1
    marks = np.linspace(0, offsets[-1], threads + 1)[1:-1]
    cuts = [0, *np.searchsorted(offsets, marks).tolist(), len(offsets) - 1]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(look, pairwise(cuts)))


def _check_tree(arcs: tuple[Any, ...], result: Result, shown: Shown, of_graph: Variants) -> None:
    assert result.predecessors is not None
    parents, distances = result.predecessors, result.distances
    if parents.shape != distances.shape:
        raise VerificationError(f"{len(parents)} predecessors for {len(distances)} vertices")
    others = np.ones(len(parents), dtype=bool)
    others[result.source] = False
    needs = result.reached & others
    _refuse(~needs & (parents != -1), distances, shown, "should have no predecessor")
    _refuse(needs & ((parents < 0) | (parents >= len(parents))), distances, shown, "lacks one")
    tight = np.zeros(len(parents), np.bool_)
    tight_parents = of_graph(certificate.tight_parents)
    _over_rows(arcs[0], lambda rows: tight_parents(rows, arcs, distances, parents, tight))
    _refuse(needs & ~tight, distances, shown, "has a predecessor without a tight arc to it")
    if (distances[parents[needs]] < distances[needs]).all():
        return  # what always falls ends at the source
    rooted = certificate.is_rooted(parents, result.source)
    _refuse(needs & ~rooted, distances, shown, "has predecessors that do not lead to the source")


def _refuse(wrong: NDArray[np.bool_], distances: NDArray[Any], shown: Shown, why: str) -> None:
    if wrong.any():
        vertex = int(np.argmax(wrong))
        raise VerificationError(f"{shown(vertex)} (distance {distances[vertex]}) {why}")
