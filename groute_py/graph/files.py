"""Read and write graph files; the format of a file is told by its content, never by its name.

`FORMATS` lists what can be read; a new format is one file in `formats` and one line here.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from groute_py.errors import FormatError, InputError
from groute_py.graph import cache as cached
from groute_py.graph.csr import Graph
from groute_py.graph.formats import dimacs, native

Progress = Callable[[int, int], None]


class Format(NamedTuple):
    """How to know a format by the first bytes of a file, uncompressed, and how to read it."""

    sniff: Callable[[bytes], bool]
    read: Callable[[Path, Progress | None], Graph]
    compressible: bool
    """Whether `read` takes gzip files too, and the result is worth a cache."""


FORMATS = {
    "DIMACS text": Format(dimacs.sniff, dimacs.read, True),
    "native CSR": Format(native.sniff, native.read, False),
}
"""The formats that can be read, by the name that messages give them."""

WRITERS: dict[str, Callable[[Graph, Path], None]] = {
    ".csr": native.write,
    ".gr": dimacs.write,
    ".gr.gz": dimacs.write,
}
"""What `write_graph` writes, by the suffix of the file."""

STRANGERS = {
    b"\x01\0\0\0\0\0\0\0": "a Galois binary graph (version 1), which is not supported yet",
    b"\x02\0\0\0\0\0\0\0": "a Galois binary graph (version 2), which is not supported yet",
    b"\xfd7zXZ\0": "xz-compressed; decompress it first (xz -d)",
    b"\x28\xb5\x2f\xfd": "zstd-compressed; decompress it first (zstd -d)",
    b"BZh": "bzip2-compressed; decompress it first (bzip2 -d)",
}
"""Content that is recognised and refused, by its first bytes."""

HEAD = 1 << 16


def read_graph(
    path: str | os.PathLike[str],
    *,
    cache: bool | str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Read a graph from a file of any known format.

    Args:
        path: the file.
        cache: whether to keep a large text file's graph in native form for the next time. None:
            where the text is large (8 MB compressed, 32 MB plain). True: always. False: never, and
            no earlier one is used. A folder: always, there.
        progress: called now and then with the bytes read and the bytes of the file.

    Raises:
        FormatError: the file is missing, cannot be opened, or is no graph; the message says why.
    """
    path = Path(path)
    head, compressed = _head(path)
    form = _format(path, head, compressed)
    folder = cached.folder_for(path, cache, compressed) if form.compressible else None
    if folder is None:
        return form.read(path, progress)
    return cached.read_through(path, folder, lambda: form.read(path, progress))


def write_graph(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph in the format that the suffix names: ``.csr``, ``.gr`` or ``.gr.gz``.

    Raises:
        InputError: the suffix is unknown, or the file cannot be written.
    """
    path = Path(path)
    suffix = max((s for s in WRITERS if path.name.endswith(s)), key=len, default=None)
    if suffix is None:
        raise InputError(f"{path}: unknown suffix; a graph is written as {', '.join(WRITERS)}")
    try:
        WRITERS[suffix](graph, path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def _head(path: Path) -> tuple[bytes, bool]:
    """The first bytes of a file, uncompressed, and whether it is compressed."""
    try:
        if path.is_dir():
            raise FormatError(path, "is a folder, not a graph file")
        if path.exists() and not path.is_file():
            raise FormatError(path, "is not a regular file")
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError as error:
        raise FormatError(path, "no such file") from error
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from error
    if not head:
        raise FormatError(path, "is empty")
    if not head.startswith(dimacs.GZIP_MAGIC):
        return head, False
    return _inflated_head(path, head), True


def _inflated_head(path: Path, head: bytes) -> bytes:
    try:
        text = zlib.decompressobj(wbits=31).decompress(head, HEAD)
    except zlib.error as error:
        raise FormatError(path, f"damaged gzip data: {error}") from error
    if text:
        return text
    try:
        with gzip.open(path) as file:
            text = file.read(HEAD)
    except EOFError as error:
        problem = "truncated: the gzip data ends before its end mark"
        raise FormatError(path, problem) from error
    except (OSError, zlib.error) as error:
        raise FormatError(path, f"damaged gzip data: {error}") from error
    if not text:
        raise FormatError(path, "is empty once decompressed")
    return text


def _format(path: Path, head: bytes, compressed: bool) -> Format:
    for magic, problem in STRANGERS.items():
        if head.startswith(magic):
            raise FormatError(path, f"is {problem}")
    for name, form in FORMATS.items():
        if form.sniff(head):
            if compressed and not form.compressible:
                raise FormatError(path, f"is {name} within gzip; decompress it first (gzip -d)")
            return form
    raise FormatError(path, f"is not a graph file; the known formats are {', '.join(FORMATS)}")
