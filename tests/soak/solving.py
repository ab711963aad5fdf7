"""Solve a case as a user would, on ranks that are threads."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from support.local_ranks import on_ranks
from support.opening import job_on

import groute_py
from groute_py import Graph, SourceRows, csgraph
from groute_py.comm.base import Channel
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.many.delivery import collect
from groute_py.source.whole import GraphSupply
from groute_py.system.settings import settings
from soak.case import Case


class Row(NamedTuple):
    """The answer for one source: shape (n,) each; statistics are of single solves."""

    source: int
    distances: NDArray[Any]
    predecessors: NDArray[Any] | None
    statistics: dict[str, Any] | None


def solved(case: Case) -> list[Row]:
    """A row for each source.

    Raises:
        GrouteError: as the entry does.
    """
    graph = case.graph()
    if case.entry == "csgraph":
        return _rows_in_scipy_form(case, graph)
    return _all_rows(case, graph) if case.entry == "apsp" else _single_rows(case, graph)


def _rows_in_scipy_form(case: Case, graph: Graph) -> list[Row]:
    os.environ["GROUTE_PY_DEVICE"] = case.device
    settings.cache_clear()
    arrays = graph.weights, graph.heads, graph.offsets
    matrix = sparse.csr_array(arrays, shape=(case.count, case.count))
    whole = case.method == "floyd_warshall"
    which = {} if whole else {"indices": case.sources}
    solve = getattr(csgraph, case.method)
    result = solve(matrix, return_predecessors=case.predecessors, **which)
    distances, parents = result if case.predecessors else (result, None)
    return [
        Row(source, distances[k], None if parents is None else np.maximum(parents[k], -1), None)
        for k, source in enumerate(case.sources)
    ]


def _all_rows(case: Case, graph: Graph) -> list[Row]:
    sources = np.array(case.sources, np.int64)
    how: dict[str, Any] = {"algorithm": case.method, "predecessors": case.predecessors}

    def work(channel: Channel) -> SourceRows | None:
        return collect(channel, job_on(channel, graph, sources, device=case.device, **how))

    result = on_ranks(case.ranks, work, patience=case.patience, seed=case.number)[0]
    assert result is not None
    parents = result.predecessors
    return [
        Row(source, result.distances[k], None if parents is None else parents[k], None)
        for k, source in enumerate(result.sources.tolist())
    ]


def _single_rows(case: Case, graph: Graph) -> list[Row]:
    choices = {
        "device": case.device,
        "predecessors": case.predecessors,
        **case.options,
    }
    if case.ranks == 1 and len(case.sources) == 1:
        results = [_by_function(case, graph, choices)]
    else:
        results = _by_solver(case, graph, choices)
    return [
        Row(source, result.distances, result.predecessors, result.statistics)
        for source, result in zip(case.sources, results, strict=True)
    ]


def _by_function(case: Case, graph: Graph, choices: dict[str, Any]) -> Any:
    (source,) = case.sources
    if case.entry == "bfs":
        choices.pop("delta", None)
        return groute_py.bfs(graph, source, targets=case.targets, **choices)
    return groute_py.sssp(graph, source, algorithm=case.method, targets=case.targets, **choices)


def _by_solver(case: Case, graph: Graph, choices: dict[str, Any]) -> list[Any]:
    options = Options(algorithm=case.method, hops=case.entry == "bfs", **choices)

    def work(channel: Channel) -> list[Any]:
        whole = GraphSupply(graph if channel.rank == 0 else None)
        with SourceSolver(whole, channel, options) as solver:
            return [solver.sssp(source, case.targets) for source in case.sources]

    return on_ranks(case.ranks, work, patience=case.patience, seed=case.number)[0]
