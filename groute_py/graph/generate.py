"""Random graphs by a short text such as ``road:1000x1000``, the same on every machine.

`groute_py.kernels.cpu.draw` defines each arc as a function of the seed and the arc's number. The
arcs are drawn twice, once to count the rows and once to fill them, so that nothing but the graph
takes memory. Threads draw blocks of arcs, then share the rows that the blocks' arcs go to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, check_kind, quote
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Size
from groute_py.kernels.cpu.build import CURSORS, count_arcs, place_arcs
from groute_py.kernels.cpu.draw import ROAD_KEPT, random_arcs, rmat_arcs, road_degrees, road_rows
from groute_py.system.memory_limits import check_room
from groute_py.system.threads import thread_count

EXAMPLES = {"road": "road:1000x1000", "rmat": "rmat:20 or rmat:20,16", "random": "random:1000,5000"}
"""The kinds of generated graphs, each with an example of its spec."""
RMAT_EDGE_FACTOR = 16
BLOCK = 1 << 19
"""Arcs drawn at once; even, because R-MAT draws them in pairs."""
MOST_VERTICES = 2**31 - 1

Arrays = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]
Block = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
Draw = Callable[..., None]


def is_spec(text: str) -> bool:
    """Find out whether a text means a graph to generate, well written or not, and no file."""
    return text.partition(":")[0] in EXAMPLES and ":" in text


def generate(spec: str, *, seed: int = 1) -> Graph:
    """Generate the graph that a spec describes.

    ``road:WxH``: a grid W wide and H high, vertex y·W + x; of the edges to the right and below,
    62 % are kept at random, with weight ⌊6000·u²⌋ + 1 in both directions.
    ``rmat:SCALE[,EDGEFACTOR]``: R-MAT (Chakrabarti, Zhan and Faloutsos, 2004) with 2^SCALE vertices
    and EDGEFACTOR (16) edges a vertex, each in both directions, a, b, c, d = .57, .19, .19, .05,
    scrambled ids, weights 1..255; self-loops and parallel arcs are kept.
    ``random:N,M``: M directed arcs between N vertices, all uniform, weights 1..255.

    Args:
        spec: as above.
        seed: an integer from 0 to 2^64 − 1.

    Returns:
        A `Graph` with int32 heads, shape (m,), and int32 weights, shape (m,); its name is the spec.

    Raises:
        InputError: the spec cannot be read, the seed is another one, or the graph does not fit in
            memory.

    >>> generate("road:30x20")
    Graph('road:30x20', 600 vertices, 1,384 arcs, int32 weights)
    """
    check_kind("spec", spec, str, "a text such as 'road:1000x1000'")
    check_kind("seed", seed, Integral, "an integer")
    if not 0 <= seed < 2**64:
        raise InputError("seed must be from 0 to 2^64 - 1")
    kind, numbers = _parsed(spec)
    size = size_of_spec(spec)
    if size.vertices > MOST_VERTICES:
        raise InputError(f"cannot generate {quote(spec)}: {size.vertices:,} vertices are too many")
    what = f"{spec}: {size.vertices:,} vertices and {size.arcs:,} arcs"
    check_room(8 * (size.vertices + 1) + 8 * size.arcs, what)
    if kind == "road":
        arrays = _road(np.uint64(seed), *numbers)
    else:
        draw = rmat_arcs if kind == "rmat" else random_arcs
        arrays = _from_draws(size, draw, np.uint64(seed), numbers[0])
    return Graph(*arrays, name=spec)


def size_of_spec(spec: str) -> Size:
    """The size of a generated graph; of roads the arcs are about so many."""
    kind, numbers = _parsed(spec)
    if kind == "road":
        width, height = numbers
        edges = width * (height - 1) + height * (width - 1)
        return Size(width * height, max(int(2 * edges * int(ROAD_KEPT) / 2**32), 0))
    if kind == "rmat":
        scale, factor = (*numbers, RMAT_EDGE_FACTOR)[:2]
        return Size(1 << scale, 2 * factor << scale)
    return Size(*numbers)


def _parsed(spec: str) -> tuple[str, list[int]]:
    """The kind of a spec and its numbers."""
    kind = spec.partition(":")[0]
    patterns = {"road": r"(\d+)x(\d+)", "rmat": r"(\d+)(?:,(\d+))?", "random": r"(\d+),(\d+)"}
    match = re.fullmatch(f"{kind}:{patterns.get(kind, '')}", spec, re.ASCII)
    if kind not in EXAMPLES or not match:
        examples = "; ".join(EXAMPLES.values())
        raise InputError(
            f"cannot generate {quote(spec)}: write it like {EXAMPLES.get(kind, examples)}"
        )
    numbers = [int(number) for number in match.groups() if number is not None]
    if kind == "rmat" and numbers[0] > 30:
        raise InputError(f"cannot generate {quote(spec)}: the scale is at most 30")
    if kind == "random" and numbers[1] and not numbers[0]:
        raise InputError(f"cannot generate {quote(spec)}: arcs need a vertex, as in random:9,20")
    return kind, numbers


def _road(seed: np.uint64, width: int, height: int) -> Arrays:
    offsets = np.zeros(width * height + 1, np.int64)
    _by_rows(height, lambda rows: road_degrees(seed, width, height, rows, offsets))
    np.cumsum(offsets, out=offsets)
    heads, weights = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    _by_rows(height, lambda rows: road_rows(seed, width, height, rows, offsets, heads, weights))
    return offsets, heads, weights


def _from_draws(size: Size, draw: Draw, *shape: Any) -> Arrays:
    """Count all arcs, then place all arcs; `draw` gets `shape`, the first arc, and the arrays."""
    vertex_count, arc_count = size
    offsets = np.zeros(vertex_count + 1, np.int64)

    def count(block: Block, rows: tuple[int, int]) -> None:
        count_arcs(block[0], rows, offsets, CURSORS)

    _for_draws(vertex_count, arc_count, count, draw, *shape)
    np.cumsum(offsets, out=offsets)
    heads, weights = np.empty(arc_count, np.int32), np.empty(arc_count, np.int32)

    def place(block: Block, rows: tuple[int, int]) -> None:
        place_arcs(block, rows, offsets, (heads, weights))

    _for_draws(vertex_count, arc_count, place, draw, *shape)
    return offsets, heads, weights


def _for_draws(
    vertex_count: int,
    arc_count: int,
    use: Callable[[Block, tuple[int, int]], None],
    draw: Draw,
    *shape: Any,
) -> None:
    """Call `use` for all blocks of arcs in order, each range of rows in a thread of its own.

    The other half of the threads draws the next blocks.
    """
    half = max(1, thread_count() // 2)
    ranges = list(pairwise(vertex_count * k // half for k in range(half + 1)))
    buffers = [np.empty((3, min(BLOCK, arc_count)), np.int32) for _ in range(2 * half)]

    def drawn(number: int) -> Block:
        size = max(0, min(BLOCK, arc_count - number * BLOCK))
        tails, heads, weights = buffers[number % len(buffers)][:, :size]
        draw(*shape, number * BLOCK, (tails, heads, weights))
        return tails, heads, weights

    def used(rows: tuple[int, int], blocks: list[Block]) -> None:
        for block in blocks:
            use(block, rows)

    with ThreadPoolExecutor(2 * half) as pool:
        blocks = list(pool.map(drawn, range(half)))
        for first in range(half, -(-arc_count // BLOCK) + half, half):
            coming = pool.map(drawn, range(first, first + half))
            list(pool.map(lambda rows, these=blocks: used(rows, these), ranges))
            blocks = list(coming)


def _by_rows(height: int, work: Callable[[tuple[int, int]], None]) -> None:
    """Do bands of grid rows in threads of their own."""
    threads = min(thread_count(), max(height, 1))
    cuts = [height * k // threads for k in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, pairwise(cuts)))
