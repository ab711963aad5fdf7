"""Binary graphs of the GAP Benchmark Suite: ``.sg`` without weights, ``.wsg`` with.

    directed          one byte, 0 or 1
    m, n              int64, arcs and vertices; an undirected edge is two arcs
    offsets           int64, shape (n + 1,)
    neighbors         int32, shape (m,); with weights (int32, int32), shape (m,)
    offsets, neighbors of the arcs in, again, if directed

There is no magic number: what tells is that the sizes agree. (gapbs, src/writer.h and reader.h.)
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, GraphError, InputError
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Size
from groute_py.graph.tails import all_tails
from groute_py.io.binary import Arrays
from groute_py.io.compression import bare_name, packing
from groute_py.io.file_head import Head
from groute_py.io.text.lines import Progress
from groute_py.kernels.cpu.build import csr_from_arcs
from groute_py.system.atomic_file import replacing
from groute_py.system.memory_limits import check_room

BEGINS = re.compile(b"[\0\1]")
NEIGHBOR = np.dtype("<i4")
WEIGHTED = np.dtype([("head", "<i4"), ("weight", "<i4")])
HEADER = 17
MOST = 2**31


def sniff(head: Head) -> bool:
    """Return True if the counts and the first offset can be those of such a file."""
    if len(head.text) < HEADER:
        return False
    arcs, vertices = np.frombuffer(head.text[1:HEADER], "<i8").tolist()
    if not (0 <= vertices < MOST and 0 <= arcs < 2**48):
        return False
    if head.compression is None:
        return head.source.size in [_size(head.text[0], arcs, vertices, kind) for kind in (4, 8)]
    return head.text[HEADER : HEADER + 8] == bytes(8)


def size(head: Head) -> Size:
    """The size that the header states."""
    arcs, vertices = np.frombuffer(head.text[1:HEADER], "<i8").tolist()
    return Size(vertices, arcs)


def read(head: Head, progress: Progress | None = None) -> Graph:
    """Read a serialized graph, weighted or not, compressed or not."""
    path, arrays = head.path, Arrays(head.path, progress)
    directed = int(arrays.take("u1", 1, "the flag")[0])
    arc_count, vertex_count = arrays.count("the arcs"), arrays.count("the vertices")
    offsets = arrays.take("<i8", vertex_count + 1, "the offsets")
    first = arrays.take(NEIGHBOR, arc_count, "the neighbors")
    wide = _is_wide(arrays, directed, arc_count, vertex_count)
    check_room(2 * 8 * arc_count, f"{path}: {arc_count:,} arcs")
    if wide:
        second = arrays.take(NEIGHBOR, arc_count, "the neighbors")
        pairs = np.concatenate([first, second]).view(WEIGHTED)
        heads, weights = pairs["head"].copy(), pairs["weight"].copy()
    else:
        heads, weights = first, np.ones(arc_count, np.int32)
    if directed:
        arrays.take("<i8", vertex_count + 1, "the offsets of arcs in")
        arrays.take(WEIGHTED if wide else NEIGHBOR, arc_count, "the neighbors of arcs in")
    arrays.expect_end()
    name = bare_name(path).removesuffix(".wsg").removesuffix(".sg")
    try:
        return Graph(offsets, heads, weights, name=name)
    except GraphError as error:
        raise FormatError(path, f"damaged GAPBS graph: {error}") from error


def _is_wide(arrays: Arrays, directed: int, arc_count: int, vertex_count: int) -> bool:
    """Return True if neighbors have weights, from the number of bytes after the offsets."""
    plain = _size(directed, arc_count, vertex_count, 4) - arrays.position
    wide = _size(directed, arc_count, vertex_count, 8) - arrays.position
    left = arrays.left(wide)
    if left not in (plain, wide):
        problem = (
            f"{arc_count:,} arcs and {vertex_count:,} vertices do not take {left:,} bytes more"
            + (", or more than that," if left > wide else "")
        )
        raise FormatError(arrays.path, f"{problem} from byte {arrays.position:,} on")
    return left == wide and arc_count > 0


def _size(directed: int, arcs: int, vertices: int, neighbor: int) -> int:
    return HEADER + (1 + directed) * (8 * (vertices + 1) + neighbor * arcs)


def write(graph: Graph, path: Path) -> None:
    """Write a directed graph atomically: with weights as ``.wsg``, with unit weights as ``.sg``."""
    weighted = bare_name(path).endswith(".wsg")
    with np.errstate(invalid="ignore"):  # what does not fit is found by comparing
        weights = graph.weights.astype(np.int32)
    if not np.array_equal(weights, graph.weights):
        raise InputError(f"{path}: GAPBS weights are int32, which these are not; write .csr")
    if not weighted and (weights != 1).any():
        raise InputError(f"{path}: an .sg file has no weights; write .wsg")
    if graph.vertex_count >= MOST:
        raise InputError(f"{path}: GAPBS files have less than 2^31 vertices; write .csr")
    tails = all_tails(graph.offsets, np.int32)
    heads = graph.heads.astype(np.int32)
    inverse = csr_from_arcs(graph.vertex_count, heads, tails, weights)
    with replacing(path) as file, packing(path, file) as packed:
        packed.write(b"\1" + np.array([graph.arc_count, graph.vertex_count], "<i8").tobytes())
        for offsets, neighbors, their in ((graph.offsets, heads, weights), inverse):
            packed.write(offsets.astype("<i8").tobytes())
            packed.write(_neighbors(neighbors, their if weighted else None).tobytes())


def _neighbors(heads: NDArray[Any], weights: NDArray[Any] | None) -> NDArray[Any]:
    if weights is None:
        return heads.astype(NEIGHBOR)
    pairs = np.empty(len(heads), WEIGHTED)
    pairs["head"], pairs["weight"] = heads, weights
    return pairs
