"""Arcs written as lines of text; the reverse of `groute_py.io.text.arc_reader`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.io.compression import packing
from groute_py.kernels.cpu.scan import LONGEST_LINE, NO_LETTER, format_arcs
from groute_py.system.atomic_file import replacing

BUFFER = 1 << 20
BLOCK = 1 << 16
"""Arcs that are in Python's hands at once."""


def attributed(graph: Graph, comment: bytes) -> bytes:
    """The line of a text with the credit of a graph; no line where there is none."""
    text = " ".join(graph.attribution.split())
    return b"%s %s\n" % (comment, text.encode()) if text else b""


def write_arcs(
    graph: Graph,
    path: Path,
    header: bytes,
    *,
    letter: bytes = b"",
    separator: bytes = b" ",
    columns: int = 3,
    first_id: int = 1,
    ids: NDArray[Any] | None = None,
) -> None:
    """Write a header and one line an arc, atomically, compressed as the suffix says."""
    plain = ids is None and graph.weights.dtype.kind != "f"
    lines = (
        _integer_lines(graph, letter, separator, columns, first_id)
        if plain
        else _other_lines(graph, letter, separator, columns, first_id, ids)
    )
    with replacing(path) as file, packing(path, file) as packed:
        packed.write(header)
        for text in lines:
            packed.write(text)


def _integer_lines(
    graph: Graph, letter: bytes, separator: bytes, columns: int, first: int
) -> Iterator[bytes]:
    text = np.empty(max(BUFFER, LONGEST_LINE), np.uint8)
    form = letter[0] if letter else NO_LETTER, separator[0], columns, first
    arcs, arc, vertex = (graph.offsets, graph.heads, graph.weights), 0, 0
    while arc < graph.arc_count:
        arc, vertex, size = format_arcs(arcs, form, vertex, text, arc)
        yield text[:size].tobytes()


def _other_lines(
    graph: Graph,
    letter: bytes,
    separator: bytes,
    columns: int,
    first: int,
    ids: NDArray[Any] | None,
) -> Iterator[bytes]:
    """Lines with decimals or names; `repr` of a float is read back as the same float."""
    between = separator.decode()
    begin = f"{letter.decode()}{between}" if letter else ""
    for tails, heads, weights in arc_blocks(graph, BLOCK):
        ends = (tails + first, heads + first) if ids is None else (ids[tails], ids[heads])
        behind = [f"{between}{weight!r}" for weight in weights.tolist()]
        fields = zip(
            *(end.tolist() for end in ends),
            behind if columns == 3 else [""] * len(behind),
            strict=True,
        )
        yield "".join(
            f"{begin}{tail}{between}{head}{weight}\n" for tail, head, weight in fields
        ).encode()


def arc_blocks(
    graph: Graph, size: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]]:
    """Tails, heads and weights of all arcs, `size` at a time, in the order of the rows."""
    for start in range(0, graph.arc_count, size):
        arcs = slice(start, min(start + size, graph.arc_count))
        numbers = np.arange(arcs.start, arcs.stop)
        tails = np.searchsorted(graph.offsets, numbers, side="right") - 1
        yield tails, graph.heads[arcs].astype(np.int64), graph.weights[arcs]
