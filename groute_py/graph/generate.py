"""Random graphs by a short text such as ``road:1000x1000``, the same on every machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, check_kind, quote
from groute_py.graph.csr import Graph
from groute_py.graph.drawn import Arcs, RandomGraph, count_drawn, drawn_arcs
from groute_py.graph.facts import Size
from groute_py.kernels.cpu.draw import ROAD_KEPT, road_degrees, road_rows
from groute_py.system.memory_limits import check_room
from groute_py.system.threads import thread_count

EXAMPLES = {"road": "road:1000x1000", "rmat": "rmat:20 or rmat:20,16", "random": "random:1000,5000"}
"""The kinds of generated graphs, each with an example of its spec."""
RMAT_EDGE_FACTOR = 16
MOST_VERTICES = 2**31 - 1


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
    graph, size = random_graph_of(spec, seed), size_of_spec(spec)
    what = f"{spec}: {size.vertices:,} vertices and {size.arcs:,} arcs"
    check_room(8 * (size.vertices + 1) + 8 * size.arcs, what)
    if graph is None:
        arrays = _road(np.uint64(seed), *_parsed(spec)[1])
    else:
        offsets = np.zeros(size.vertices + 1, np.int64)
        np.cumsum(count_drawn(graph)[0], out=offsets[1:])
        arrays = offsets, *drawn_arcs(graph, 0, offsets)
    return Graph(*arrays, name=spec)


def random_graph_of(spec: str, seed: int = 1) -> RandomGraph | None:
    """The graph of a spec as one whose arcs are drawn one by one; None for roads."""
    (kind, numbers), size = _parsed(spec), size_of_spec(spec)
    if size.vertices > MOST_VERTICES:
        raise InputError(f"cannot generate {quote(spec)}: {size.vertices:,} vertices are too many")
    if kind == "road":
        return None
    return RandomGraph(size, numbers[0] if kind == "rmat" else None, seed)


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


def _road(seed: np.uint64, width: int, height: int) -> tuple[NDArray[np.int64], *Arcs]:
    offsets = np.zeros(width * height + 1, np.int64)
    _by_rows(height, lambda rows: road_degrees(seed, width, height, rows, offsets))
    np.cumsum(offsets, out=offsets)
    heads, weights = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    _by_rows(height, lambda rows: road_rows(seed, width, height, rows, offsets, heads, weights))
    return offsets, heads, weights


def _by_rows(height: int, work: Callable[[tuple[int, int]], None]) -> None:
    """Do bands of grid rows in threads of their own."""
    threads = min(thread_count(), max(height, 1))
    cuts = [height * k // threads for k in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, pairwise(cuts)))
