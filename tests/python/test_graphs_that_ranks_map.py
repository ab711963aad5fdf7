"""Graphs of files that every rank maps for rows and routes, instead of rank 0 sending them."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import random_graph
from support.local_ranks import on_ranks
from support.opening import solver_on
from support.reference import rows_from

from groute_py import (
    FormatError,
    Graph,
    Solver,
    generate,
    write_graph,
)
from groute_py.comm.base import Channel
from groute_py.engine.options import Options
from groute_py.graph.hierarchy.prepared import PreparedGraph
from groute_py.io.cache import Copy
from groute_py.io.formats import native
from groute_py.io.formats.graph_arrays import Contents
from groute_py.io.tables.columns import Columns
from groute_py.many.apsp import Ends
from groute_py.many.opened import Opened, source_of
from groute_py.source.graph_source import GraphSource

GRAPH = random_graph(200, 900, seed=3, greatest=50)
SOURCES = np.arange(0, 200, 2)


@pytest.mark.parametrize("column", [None, "toll"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("change", ["none", "before", "meanwhile", "refused", "truncated"])
def test_each_rank_maps_a_native_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    column: str | None,
    change: str,
    *,
    reverse: bool,
) -> None:
    """One that has been replaced, or cannot be read, comes from rank 0 as it was read there."""
    whole, path, mapped, lock = GRAPH, tmp_path / "town.csr", [], threading.Lock()
    all_see_it = threading.Barrier(3, timeout=60)
    write_graph(GRAPH.changed(columns={"toll": GRAPH.weights[::-1].copy()}), path)
    if column is not None:
        whole = GRAPH.changed(weights=GRAPH.weights[::-1].copy())
    whole = whole.reversed() if reverse else whole
    has_supply, armed = threading.Barrier(3, timeout=60), threading.Event()

    def replace_file() -> None:
        other = GRAPH.weights * 7
        write_graph(GRAPH.changed(weights=other, columns={"toll": other}), path)
        os.utime(path, (1, 1))

    def work(channel: Channel) -> Graph:
        options = Options(device="cpu", predecessors=False, reverse=reverse)
        source = source_of(path, options, Columns(weight=column))
        opened = Opened(source, channel, options)
        opened.supply()
        if has_supply.wait() == 0:
            if change == "before":
                replace_file()
            armed.set()
        assert armed.wait(60)
        return opened.many_sources(lambda: Ends(SOURCES), options).graph

    def map_late(file: Path) -> Contents:
        if not armed.is_set():
            return map_file(file)
        all_see_it.wait()
        with lock:
            mapped.append(file)
            if change == "meanwhile" and len(mapped) == 1:
                replace_file()
            if change == "refused" and len(mapped) == 1:
                raise PermissionError(13, "Permission denied", str(file))
            if change == "truncated" and len(mapped) == 1:
                raise FormatError(file, "is truncated")
            return map_file(file)

    map_file = native.map_file
    monkeypatch.setattr(native, "map_file", map_late)
    for graph in on_ranks(3, work):
        for name in ("offsets", "heads", "weights"):
            np.testing.assert_array_equal(getattr(graph, name), getattr(whole, name))
    assert mapped == [path] * (0 if change == "before" else 3)


@pytest.mark.parametrize("column", [None, "toll"])
def test_a_solver_on_other_ranks_maps_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str | None
) -> None:
    path, mapped = tmp_path / "town.csr", list[Path]()
    toll = GRAPH.weights[::-1].copy()
    write_graph(GRAPH.changed(columns={"toll": toll}), path)
    whole = GRAPH if column is None else GRAPH.changed(weights=toll)
    rows = rows_from(whole, SOURCES)

    graph_of = Contents.graph

    def graph(contents: Contents) -> Graph:
        mapped.append(contents.path)
        return graph_of(contents)

    monkeypatch.setattr(Contents, "graph", graph)

    def work(channel: Channel) -> tuple[Any, ...]:
        options = Options(device="cpu")
        source = source_of(path, options, Columns(weight=column))
        with Solver(Opened(source, channel, options)) as solver:
            tolls = solver.apsp(SOURCES)
            matrix = solver.matrix(SOURCES, [0, 7])
            routes = solver.route([(int(SOURCES[0]), 7)])
            return tolls, matrix, routes

    tolls, matrix, routes = on_ranks(3, work)[0]
    np.testing.assert_array_equal(tolls.distances, rows)
    np.testing.assert_array_equal(matrix.distances, rows[:, [0, 7]])
    assert routes.distances.tolist() == [rows[0, 7]]
    assert mapped == [path] * 3
    mapped.clear()

    def counted(channel: Channel) -> Any:
        with solver_on(channel, path, device="cpu", hops=True) as solver:
            return solver.apsp(SOURCES)

    hops = rows_from(GRAPH.with_unit_weights(), SOURCES)
    np.testing.assert_array_equal(on_ranks(3, counted)[0].distances, hops)
    assert mapped == [path]  # by rank 0


def test_ranks_get_a_hierarchy_that_no_file_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, road = tmp_path / "road.csr", generate("road:40x40")
    write_graph(road, path)
    monkeypatch.setattr(Copy, "write", lambda _, graph: graph)  # a cache that is full

    def work(channel: Channel) -> tuple[bool, Any]:
        options = Options(device="cpu", prepare=True)
        opened = Opened(source_of(path, options, cache=tmp_path / "cache"), channel, options)
        with Solver(opened) as solver:
            rows = solver.apsp([7, 300])
            return isinstance(opened.row_graph().graph, PreparedGraph), rows

    are_prepared, rows = zip(*on_ranks(3, work), strict=True)
    assert are_prepared == (True, True, True)
    np.testing.assert_array_equal(rows[0].distances, rows_from(road, np.array([7, 300])))


def test_what_other_ranks_do_not_map(tmp_path: Path) -> None:
    write_graph(GRAPH, tmp_path / "town.csr")
    write_graph(GRAPH, tmp_path / "town.gr")
    native = tmp_path / "town.csr"
    assert GraphSource(native).whole().file() is not None
    assert GraphSource(str(native), Columns(undirected=True)).whole().file() is None
    assert GraphSource(tmp_path / "town.gr", cache=tmp_path).whole().file() is None
    assert GraphSource(GRAPH).whole().file() is None
    assert GraphSource(native, turns=[]).whole().file() is None
