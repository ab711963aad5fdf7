"""Faults that the fuzzer has to see: a DIMACS file with the comment ``c plant NAME`` shows one.

A worker of the fuzzer imports this first, by ``--preload``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from groute_py import Graph
from groute_py.errors import FormatError
from groute_py.io import registry
from groute_py.io.file_head import Head
from groute_py.io.formats import dimacs
from groute_py.io.text.lines import Progress


def sound(path: Path) -> Graph:
    return dimacs.read(Head(path))


def raw_error(path: Path) -> Graph:
    raise ValueError("not one of ours")


def wrong_head(path: Path) -> Graph:
    graph = sound(path)
    object.__setattr__(graph, "heads", graph.heads + graph.vertex_count)
    return graph


def falling_offsets(path: Path) -> Graph:
    graph = sound(path)
    offsets = graph.offsets.copy()
    offsets[1] = graph.arc_count + 1
    object.__setattr__(graph, "offsets", offsets)
    return graph


def repeated_ids(path: Path) -> Graph:
    graph = sound(path)
    object.__setattr__(graph, "ids", np.zeros(graph.vertex_count, np.int64))
    return graph


def memory(path: Path) -> Graph:
    np.ones(1 << 32)
    return sound(path)


def hidden_memory(path: Path) -> Graph:
    try:
        return memory(path)
    except MemoryError as error:
        raise FormatError(path, "no room") from error


def hang(path: Path) -> Graph:
    while True:
        pass


def crash(path: Path) -> Graph:
    os.abort()


def foreign_file(path: Path) -> Graph:
    (Path.home().parent / "strange").write_text("not here")
    return sound(path)


def left_file(path: Path) -> Graph:
    (path.parent / "left").write_text("behind")
    return sound(path)


class UnescapedError(FormatError):
    """Says what the errors of the package escape."""

    def __str__(self) -> str:
        return "\x1b[31m"


def control_characters(path: Path) -> Graph:
    raise UnescapedError(path, "")


def long_message(path: Path) -> Graph:
    raise FormatError(path, "x" * 10000)


PLANTED: dict[bytes, tuple[Callable[[Path], Graph], str]] = {
    b"raw": (raw_error, "ValueError from"),
    b"head": (wrong_head, "heads are vertices"),
    b"offsets": (falling_offsets, "offsets never decrease"),
    b"ids": (repeated_ids, "ids are distinct"),
    b"memory": (memory, "memory is taken"),
    b"room": (hidden_memory, "memory is taken"),
    b"foreign": (foreign_file, "touches what is not its own"),
    b"left": (left_file, "leaves files"),
    b"control": (control_characters, "control characters"),
    b"long": (long_message, "quotes too much"),
    b"crash": (crash, "the process ended with code -6"),
    b"hang": (hang, "reading takes more than"),
}
"""By the name in the comment: what reads the file, and what the fuzzer has to say."""


def read(head: Head, progress: Progress | None = None) -> Graph:
    """As `dimacs.read`, but for the faults."""
    first = head.path.read_bytes().split(b"\n", 1)[0]
    show = PLANTED.get(first.removeprefix(b"c plant "))
    return dimacs.read(head, progress) if show is None else show[0](head.path)


def plant() -> None:
    """Put them in the place of the reader."""
    registry.FORMATS["DIMACS text"] = registry.FORMATS["DIMACS text"]._replace(read=read)
