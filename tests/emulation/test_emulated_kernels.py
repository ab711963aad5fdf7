"""What kernels for many sources compute, without a GPU."""

from __future__ import annotations

import subprocess
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from support.emulation.cpp import Emulated, arcs_of, as_cpp, emulated, in_cpp
from support.graphs import graph_of, graphs, random_graph, scipy_distances
from support.skips import needs_compiler

from groute_py import Graph, Result, verify
from groute_py.device.base import unreached
from groute_py.kernels.source import (
    BLOCK,
    BREADTH_FIRST,
    CERTIFICATE,
    CONTRACTION,
    CUSTOMIZATION,
    FRONTIER,
    GENERATE,
    GRID,
    LEVELS,
    LINKS,
    LOADING,
    MAX_PEERS,
    PULL,
    SOLVE,
    SWEEP,
    Program,
    options,
)
from groute_py.kernels.structs import struct
from groute_py.results.distances import UNREACHED, public_distances

pytestmark = needs_compiler

TILE, SQUARE, NONE_SPARED = 128, 256, 0xFFFFFFFF

HEAP_BLOCK, BRANCHES = 64, 32


STRUCTS = [
    (SOLVE, "Share Work Peers Mailbox PeerCursors StepPlan Exchange Control Ending Team"),
    (BREADTH_FIRST, "Search Progress"),
    (FRONTIER, "Frontier Rounds"),
    (PULL, "Incoming Sweep"),
    (CONTRACTION, "Skeleton Shortcuts"),
    (SWEEP, "Hierarchy Searches TreeReport NearestReport Keyed"),
    (CUSTOMIZATION, "Labels Upward"),
    (GENERATE, "RandomGraph Weights"),
    (LEVELS, "LevelGraph LevelBatch"),
    (GRID, "Raster Tiles Rounds"),
    (LINKS, "Times Classes Sums Points Shares"),
    (LOADING, "Origins Trees"),
]
"""Structs that the host reads or writes."""


@pytest.mark.parametrize("name", ["int32", "int64", "float64"])
@pytest.mark.parametrize(("program", "names"), STRUCTS, ids=lambda value: value[-1])
def test_structs_lie_as_the_compiler_has_them(
    name: str, program: Program, names: str, tmp_path: Path
) -> None:
    """Field by field."""
    kind = np.dtype("float64" if program in (LINKS, LOADING) else name)
    if program is GRID and kind.kind != "f":
        pytest.skip("rasters have floats")
    checks = []
    for one in names.split():
        layout = struct(program, one, kind)
        checks.append(f"static_assert(sizeof({one}) == {layout.itemsize});")
        for field, (_, begin) in layout.fields.items():
            checks.append(f"static_assert(offsetof({one}, {field}) == {begin});")
    source = tmp_path / "structs.cpp"
    source.write_text("\n".join(["#include <cstddef>", as_cpp(program), *checks]))
    mode = "hierarchical" if program is SOLVE else "alone"
    flags = [*options(kind, wide_offsets=False, mode=mode), "-fsyntax-only", "-w"]
    subprocess.run(["g++", *flags, str(source)], check=True)


def test_as_many_peers_as_the_kernels_have() -> None:
    assert struct(SOLVE, "Peers")["mailbox"].shape == (MAX_PEERS,)


@pytest.mark.parametrize("barrier", ["", "__syncthreads();"])
def test_what_lacks_a_barrier_goes_wrong(barrier: str) -> None:
    """In emulation too: a warp may go on and write what others have not read."""
    kernel = """
extern "C" __global__ void look(unsigned* seen) {
    __shared__ unsigned word;
    if (threadIdx.x == 0) word = 0;
    __syncthreads();
    seen[threadIdx.x] = word;
    BARRIER
    __syncwarp();
    if (threadIdx.x == 0) word = 1;
}"""
    run, seen = Emulated(in_cpp(kernel.replace("BARRIER", barrier))), np.zeros((8, 256), np.uint32)
    for row in seen:
        run("look", (1,), 256, row)
    assert seen.any() == (barrier == "")


def heap_rows(graph: Graph, sources: Any, name: str) -> Any:
    """Distances by the heaps of two blocks."""
    run, kind, count = emulated(name), np.dtype(name), graph.vertex_count
    rows = np.full((len(sources), count), 7, kind)
    lines = -(-(count + BRANCHES - 1) // BRANCHES)
    warps = 2 * HEAP_BLOCK // 32
    entries, table = (np.zeros(2 * warps * n, kind) for n in (BRANCHES * lines, count))
    counter, overflowed = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    wanted = np.array(sources, np.uint32)
    inputs = *arcs_of(graph, kind), count, wanted, len(wanted)
    run("heap", (2,), HEAP_BLOCK, *inputs, rows, entries, table, counter, overflowed)
    assert not overflowed
    return public_distances(rows)


def batch_rows(
    graph: Graph, sources: Any, name: str, delta: int, bound: int | None = None, *, nearby: bool
) -> Any:
    """Distances by two small blocks, with their marks in shared or in global memory."""
    run, kind, count = emulated(name), np.dtype(name), graph.vertex_count
    rows = np.full((len(sources), count), 7, kind)
    lists, marks = np.zeros(4 * count, np.uint32), np.zeros(4 * (count // 32 + 1), np.uint32)
    counter, overflowed = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    wanted = np.array(sources, np.uint32)
    bound = np.iinfo(kind).max if bound is None else bound
    inputs = *arcs_of(graph, kind), count, delta, bound, wanted, len(wanted)
    where = 0 if nearby else marks
    run("batch", (2,), 64, *inputs, rows, lists, where, counter, overflowed)
    assert not overflowed
    return public_distances(rows)


@pytest.mark.parametrize("name", ["int32", "int64"])
@pytest.mark.parametrize("delta", [1, 40, 5000])
@pytest.mark.parametrize("nearby", [True, False])
def test_batches(name: str, delta: int, nearby: bool) -> None:
    rays = [(0, v, v % 50) for v in range(400)]  # a row that the whole block shares
    random = np.random.default_rng(1).integers(0, (400, 400, 90), (900, 3)).tolist()
    graph = graph_of(400, rays + random)
    sources = [0, 399, 7, 7, 30]
    rows = batch_rows(graph, sources, name, delta, nearby=nearby)
    for row, source in zip(rows, sources, strict=True):
        np.testing.assert_array_equal(row, scipy_distances(graph, source))


@pytest.mark.parametrize("bound", [0, 1, 60, 200])
def test_batches_up_to_a_bound(bound: int) -> None:
    graph = random_graph(300, 1200, seed=4, greatest=90)
    huge = graph.with_weights(np.where(graph.weights > 80, np.iinfo(np.int32).max, graph.weights))
    sources = [0, 299, 7, 7]
    rows = batch_rows(huge, sources, "int32", 25, bound, nearby=True)
    for row, source in zip(rows, sources, strict=True):
        whole = scipy_distances(huge, source)
        np.testing.assert_array_equal(row, np.where(whole <= bound, whole, UNREACHED))


@settings(max_examples=60)
@given(graph=graphs())
def test_heaps_of_small_graphs(graph: Graph) -> None:
    sources = range(graph.vertex_count)
    rows = heap_rows(graph, sources, "int32")
    for source in sources:
        np.testing.assert_array_equal(rows[source], scipy_distances(graph, source))


@pytest.mark.parametrize("name", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize(("count", "arcs"), [(400, 2400), (150, 6000)])
def test_heaps(name: str, count: int, arcs: int) -> None:
    dtype = name if name.startswith("float") else "int32"
    graph = random_graph(count, arcs, seed=count, greatest=1000, dtype=dtype)
    sources = [0, 5, 5, count - 1, 17, 120, 3, 2, 8]
    rows = heap_rows(graph, sources, name)
    for row, source in zip(rows, sources, strict=True):
        np.testing.assert_array_equal(row, scipy_distances(graph, source))


def test_a_heap_three_levels_deep() -> None:
    """A hub opens 1,500 vertices, and each that leaves brings others nearer from where they are."""
    random = np.random.default_rng(3)
    count = 1501
    arcs = [(0, v, int(w)) for v, w in enumerate(random.integers(500, 1000, count)) if v]
    arcs += [(u, v, w) for u, v, w in random.integers(1, (count, count, 300), (4000, 3)).tolist()]
    graph = graph_of(count, arcs)
    np.testing.assert_array_equal(heap_rows(graph, [0], "int32")[0], scipy_distances(graph, 0))


def matrix_with_trees(graph: Graph, name: str) -> tuple[Any, Any]:
    """Distances and predecessors as `CudaFloyd` has them done."""
    run, kind, count = emulated(name), np.dtype(name), graph.vertex_count
    tiles = -(-count // TILE)
    pitch = tiles * TILE
    matrix, stages = np.zeros((pitch, pitch), kind), np.zeros((pitch, pitch), np.uint16)
    run("floyd_begin", (pitch,), BLOCK, matrix, pitch, *arcs_of(graph, kind), 0, count)
    for tile in range(tiles):
        own = slice(tile * TILE, (tile + 1) * TILE)
        panel, pivot = matrix[:, own].copy(), matrix[own]
        closed, corner = panel[own], matrix[own, own]
        run("floyd_close", (1,), SQUARE, corner, pitch, closed, TILE)
        for rows, middle, spared, noted in [
            (pivot, closed, NONE_SPARED, stages[own]),
            (matrix, panel, tile, stages),
        ]:
            tall = len(rows) // TILE - (spared != NONE_SPARED)
            inputs = rows, pitch, middle, TILE, pivot, TILE, spared
            run("floyd_through_noting", (tiles, tall), SQUARE, *inputs, noted, tile + 1)
    inner, middles = np.zeros((pitch, TILE), np.uint8), np.full((pitch, pitch), 99, np.uint8)
    run("floyd_inner", (tiles,), SQUARE, matrix, pitch, stages, inner)
    transposed = np.ascontiguousarray(matrix.T)
    inputs = matrix, pitch, stages, inner, transposed, 0, pitch
    run("floyd_middles", (count,), SQUARE, *inputs, middles)
    assert (middles[stages > 0] < TILE).all()
    every = np.arange(count, dtype=np.uint32)
    rows, parents = np.zeros((count, count), kind), np.zeros((count, count), np.int32)
    run("floyd_rows", (count,), BLOCK, matrix, pitch, every, rows, count)
    run("floyd_parents", (count,), BLOCK, stages, middles, pitch, every, rows, parents, count)
    return rows, parents


def check_trees(graph: Graph, name: str) -> None:
    rows, parents = matrix_with_trees(graph, name)
    for source in range(graph.vertex_count):
        wanted = scipy_distances(graph, source)
        reached = rows[source] != unreached(rows.dtype)
        np.testing.assert_array_equal(np.where(reached, rows[source], wanted.max()), wanted)
        verify(graph, Result(source, wanted, parents[source].astype(np.int64)))


def zero_path(count: int) -> list[tuple[int, int, int]]:
    order = np.random.default_rng(7).permutation(count).tolist()
    return [(u, v, 0) for u, v in pairwise(order)]


def few_weights(count: int) -> list[tuple[int, int, int]]:
    arcs = np.random.default_rng(8).integers(0, (count, count, 3), (2 * count, 3))
    return [(u, v, w // 2) for u, v, w in arcs.tolist()]


@pytest.mark.parametrize("name", ["int32", "int64"])
@pytest.mark.parametrize("arcs", [zero_path, few_weights])
def test_trees_of_matrices_with_cycles_of_zero(name: str, arcs: Any) -> None:
    """A wrong choice of middle vertices falls into these, however rarely into others."""
    there = arcs(200)
    check_trees(graph_of(200, there + [(v, u, w) for u, v, w in there]), name)


@pytest.mark.parametrize(("count", "arcs", "greatest"), [(1, 0, 1), (140, 560, 2), (260, 1000, 99)])
def test_trees_of_matrices(count: int, arcs: int, greatest: int) -> None:
    check_trees(random_graph(count, arcs, seed=count, greatest=greatest), "int32")


@pytest.mark.parametrize("arcs", [zero_path, few_weights])
def test_predecessors_of_rows(arcs: Any) -> None:
    """Along arcs of weight 0 they are found pass by pass."""
    there = arcs(200)
    graph = graph_of(200, there + [(v, u, w) for u, v, w in there])  # which is its own reverse
    sources, kind = [0, 7, 199], np.dtype("int64")
    rows = np.array([scipy_distances(graph, source) for source in sources])
    parents = np.zeros(rows.shape, np.int32)
    inputs = *arcs_of(graph, kind), graph.vertex_count, np.array(sources, np.uint32)
    emulated(kind.name)("find_parents", (len(sources),), BLOCK, *inputs, rows, parents)
    for source, row, predecessors in zip(sources, rows, parents, strict=True):
        verify(graph, Result(source, row, predecessors.astype(np.int64)))


def test_a_thread_checks_one_vertex() -> None:
    """So it adds no size of the grid, which is 0 in 32 bits for more than 2^32 - 256 vertices."""
    choices = options(np.dtype(np.int64), wide_offsets=False, mode="alone")
    run, led = Emulated(as_cpp(CERTIFICATE), choices), np.ones(7, np.uint8)
    for vertex, blocks in product(range(7), (1, 2)):
        distance, doubt = np.arange(7), np.zeros(1, np.uint32)
        distance[vertex] = 9
        run("check_vertices", (blocks,), 4, distance, 0, led, 7, 0, 6, doubt)
        assert doubt.any() == (vertex < 4 * blocks)
