"""Reading a graph from a file that has to stay the same meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from groute_py.errors import FormatError, GraphError
from groute_py.graph.csr import Graph
from groute_py.io.array_file import Source

ATTEMPTS = 2
"""How often a file is read whose time changes, as by ``touch``, or late on a network's disk."""


def read_steady(path: Path, read: Callable[[], Graph], *, is_mapped: bool) -> Graph:
    """The graph of a file that stays the same while it is read.

    Where only its time has changed it is read once more.

    Args:
        path: of the file.
        read: reads it.
        is_mapped: whether it is mapped, as our own files are: what one is replaced with is another
            file.

    Raises:
        FormatError: it has changed, cannot be read, is no graph, or does not fit in memory.
    """
    for _ in range(ATTEMPTS):
        with _refusing(path):
            before = Source.of(path)
            graph = read()
        now = _source_of(path)
        if is_mapped or now is None or now == before:
            return graph
        if now.size != before.size:
            break
    raise FormatError(path, "was changed while it was read; try again once it is complete")


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """What is not there, is no graph, or does not fit in memory is an error that names the file."""
    try:
        yield
    except GraphError as error:
        text = str(error)
        raise FormatError(path, text.removeprefix(f"{path}: ")) from error
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise FormatError(path, f"needs more memory than there is ({error})") from error


def _source_of(path: Path) -> Source | None:
    """None where it has been removed; who has opened it has all of it."""
    try:
        return Source.of(path)
    except FormatError:
        return None
