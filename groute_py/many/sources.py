"""Vertices to solve from: all, those of a file, a list of ids, or some drawn at random."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quote
from groute_py.graph.arrays import array_of, host_array, on_device
from groute_py.graph.csr import Graph
from groute_py.graph.ids import Numbering, Positions
from groute_py.graph.turns.expanded import layout_of
from groute_py.io.pairs import read_sources
from groute_py.io.text.lines import whole_lines
from groute_py.system.memory_limits import check_room
from groute_py.system.paths import is_file_there
from groute_py.system.threads import in_slices

Locator = Callable[[Graph], NDArray[np.int64]]  # finds the positions of vertices in a graph

Vertex = int | str | Positions | Locator
"""A vertex by its id, which is the graph's own: of the file, the table or the network; else from 0.
"""

Vertices = Sequence[int | str] | NDArray[Any] | Positions | Locator
"""The same of several vertices."""

SEED = 27491095
"""Seed of the sources drawn at random: the same ones each time, as --resume needs."""

LISTED_BYTES = 64  # bytes of an id in a list, at least

SLICE = 1 << 20
"""Vertices that a thread checks in one go."""

MANY = 1 << 20
"""From so many vertices of 4 bytes on, a GPU's kernels check them, and not the cores."""


def sources_of(
    text: str, numbering: Numbering, graph: str, role: str = "source"
) -> NDArray[np.int64]:
    """Sources, or what else their role is, as the command line names them.

    >>> sources_of("3,1", Numbering(4, 1), "path").tolist()
    [2, 0]
    """
    count = numbering.count
    if text == "all":
        return np.arange(count, dtype=np.int64)
    if random := re.fullmatch(r"random:(\d{1,18})", text):
        return _random(int(random[1]), count, role)
    if text.startswith("@"):
        ids = _lines_of(Path(text[1:])) if text[1:] else []
    elif re.search(r"\.ss(\.\w+)?$", text):
        ids = [str(number) for number in read_sources(Path(text)).tolist()]
    else:
        ids = [word.strip() for word in text.split(",") if word.strip()]
    if not ids:
        raise InputError(
            f"{quote(text)} names no {role}; give all, random:N, a .ss file, @FILE or ID,ID,…"
        )
    try:
        return numbering.indices_of(ids, role, graph)
    except InputError as problem:
        if not is_file_there(text):
            raise
        raise InputError(f"{problem}; for the ids in the file {text} write @{text}") from None


def indices_in(graph: Graph, values: Vertices, role: str = "source") -> NDArray[np.int64]:
    """Return the vertices of a graph that a user names, int64 in the same shape."""
    if callable(values):
        return values(graph)
    if not isinstance(values, Positions):
        values = host_array(values)
    return graph.numbering.indices_of(values, role, graph.name)


def vertices_in(graph: Graph, values: Vertices, role: str = "source") -> NDArray[np.int64]:
    """Return the vertices as `indices_in`, of shape (k,), at least one; refuse others."""
    some = indices_in(graph, values, role)
    return checked(some, layout_of(graph).vertex_count, graph.name, role)


@contextmanager
def naming(graph: Graph, **ends: Any) -> Iterator[None]:
    """If a kernel has met a wrong vertex, raise an error that names it; ``ends`` are by role."""
    try:
        yield
    except InputError:
        for role, vertices in ends.items():
            is_array = not callable(vertices) and not isinstance(vertices, Positions)
            if is_array and not on_device(array_of(vertices)):
                vertices_in(graph, vertices, role)
        raise


def plural(role: str) -> str:
    """Return the plural of a role.

    >>> plural("target"), plural("facility"), plural("vertex")
    ('targets', 'facilities', 'vertices')
    """
    if role == "vertex":
        return "vertices"
    return f"{role[:-1]}ies" if role.endswith("y") else f"{role}s"


def checked(
    sources: NDArray[np.int64], count: int, graph: str, role: str = "source"
) -> NDArray[np.int64]:
    """The same sources, or what else their role is, all of them vertices; from 0."""
    if sources.ndim != 1 or len(sources) == 0:
        problem = f"one alone; write [{role}]" if sources.ndim == 0 else f"of shape {sources.shape}"
        raise InputError(f"{plural(role)} must be a list of at least one vertex, not {problem}")
    if not all_below(sources, count):
        first = int(sources[((sources < 0) | (sources >= count)).argmax()])
        raise InputError(f"{role} {first} is not a vertex of {graph}; vertices are 0..{count - 1}")
    return sources


def all_below(values: NDArray[Any], count: int) -> bool:
    """Return whether integers, shape (k,), are all at least 0 and less than ``count``.

    >>> all_below(np.array([0, 2]), 3), all_below(np.array([-1]), 3)
    (True, False)
    """

    def are_below(part: slice) -> bool:
        some = values[part]
        return int(some.min()) >= 0 and int(some.max()) < count

    return all(in_slices(len(values), SLICE, are_below))


def _lines_of(path: Path) -> list[str]:
    """The ids of a file, one on each line; blank lines are passed over."""
    ids: list[str] = []
    try:
        for text, _ in whole_lines(path):
            check_room(LISTED_BYTES * len(ids), f"{path}: more than {len(ids):,} ids")
            ids += [line.decode().strip() for line in text.split(b"\n") if line.strip()]
    except UnicodeDecodeError as problem:
        raise FormatError(path, "expected ids in UTF-8, one on each line") from problem
    return ids


def _random(number: int, count: int, role: str) -> NDArray[np.int64]:
    if not 0 < number <= count:
        raise InputError(f"{number} {plural(role)} cannot be drawn from {count} vertices")
    sample = np.random.default_rng(SEED).choice(count, number, replace=False)
    return np.sort(sample).astype(np.int64)
