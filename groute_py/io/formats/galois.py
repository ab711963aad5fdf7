"""Binary graphs of Galois, Groute and Gunrock, often named ``.gr`` as well; versions 1 and 2.

    version, bytes of a weight, n, m      uint64
    ends                                  uint64, shape (n,): where the arcs of each vertex end
    heads                                 uint32 (version 1) or uint64 (version 2), shape (m,)
    padding to a multiple of 8 bytes      version 1 only
    weights                               shape (m,): int32 or int64 by their size, or none

(Galois, libgalois/src/FileGraph.cpp.) What the weights are is not in the file: integers, as in the
shortest-path programs of Galois and Groute.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from groute_py.errors import FormatError, GraphError, InputError
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Size
from groute_py.io.binary import Arrays
from groute_py.io.compression import bare_name, packing
from groute_py.io.file_head import Head
from groute_py.io.text.lines import Progress
from groute_py.kernels.cpu.build import index_type
from groute_py.system.atomic_file import replacing
from groute_py.system.memory_limits import check_room

BEGINS = re.compile(rb"[\x01\x02]\0{7}(?:..\0{6}|.{0,7}\Z)", re.S)
"""Version 1 or 2, and the size of a weight."""
HEADS = {1: "<u4", 2: "<u8"}
WEIGHT_TYPES = {0: None, 4: "<i4", 8: "<i8"}


def size(head: Head) -> Size | None:
    """The size that the header states."""
    if len(head.text) < 32:
        return None
    return Size(*np.frombuffer(head.text[16:32], "<u8").tolist())


def read(head: Head, progress: Progress | None = None) -> Graph:
    """Read a Galois graph, compressed or not; a file without weights gets unit weights."""
    path, arrays = head.path, Arrays(head.path, progress)
    version, size = arrays.count("the version"), arrays.count("the size of a weight")
    if version not in HEADS:  # as where a mark of UTF-8 stands before it
        raise FormatError(path, f"is of version {version}; 1 and 2 are read")
    if size not in WEIGHT_TYPES:
        raise FormatError(path, f"has weights of {size} bytes at byte 8; 0, 4 and 8 are read")
    vertex_count, arc_count = arrays.count("the vertices"), arrays.count("the arcs")
    ends = arrays.take("<u8", vertex_count, "the ends")
    heads = arrays.take(HEADS[version], arc_count, "the heads")
    if version == 1 and arc_count % 2 and size:
        arrays.take("<u4", 1, "the padding")
    kind = WEIGHT_TYPES[size]
    weights = (
        np.ones(arc_count, np.int32)
        if kind is None
        else arrays.take(kind, arc_count, "the weights")
    )
    if kind is not None or arrays.left(4) != 4:  # some writers pad behind the heads, some do not
        arrays.expect_end()
    if len(heads) and int(heads.max()) >= vertex_count:
        arc = int(np.argmax(heads >= vertex_count))
        problem = f"arc {arc} leads to vertex {heads[arc]}, but there are {vertex_count}"
        raise FormatError(path, f"damaged Galois graph: {problem}")
    check_room(8 * vertex_count + 4 * arc_count, f"{path}: {arc_count:,} arcs")
    offsets = np.concatenate([np.zeros(1, np.int64), ends.astype(np.int64)])
    try:
        name = bare_name(path).removesuffix(".gr").removesuffix(".galois")
        return Graph(offsets, heads.astype(index_type(vertex_count)), weights, name=name)
    except GraphError as error:
        raise FormatError(path, f"damaged Galois graph: {error}") from error


def write(graph: Graph, path: Path) -> None:
    """Write version 1, or 2 where the ids need more than 32 bits, atomically."""
    if graph.weights.dtype.kind == "f":
        raise InputError(f"{path}: Galois weights are integers, which these are not; write .csr")
    size = 4 if graph.weights.dtype == np.int32 else 8
    version = 1 if graph.vertex_count < 2**32 else 2
    header = [version, size, graph.vertex_count, graph.arc_count]
    with replacing(path) as file, packing(path, file) as packed:
        packed.write(np.array(header, "<u8").tobytes())
        packed.write(graph.offsets[1:].astype("<u8").tobytes())
        packed.write(graph.heads.astype(HEADS[version]).tobytes())
        packed.write(bytes(4 * (graph.arc_count % 2)) if version == 1 else b"")
        packed.write(graph.weights.astype(WEIGHT_TYPES[size]).tobytes())
