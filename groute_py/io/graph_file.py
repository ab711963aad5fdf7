"""A graph file: its format, found once by its content, how it is read, and its copies."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import ModuleType

from groute_py.errors import FormatError, GraphError, RunError, check_truth, file_path
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Size
from groute_py.graph.symmetrize import mirrored
from groute_py.io import cache as cached
from groute_py.io.cache import Copy, KeptOrders
from groute_py.io.file_head import Head, Source
from groute_py.io.formats import native, prepared
from groute_py.io.registry import FORMATS, MAPPED, format_of
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.io.text.arc_reader import Piece
from groute_py.io.text.lines import Progress

ATTEMPTS = 2
"""Number of times that a file is read whose time changes, as by ``touch``, or late on a network's
disk."""


class GraphFile:
    """A graph file."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        columns: Columns = BY_TITLE,
        cache: bool | str | os.PathLike[str] | None = None,
    ) -> None:
        self.path, self.columns, self._cache = Path(path).absolute(), columns, cache
        self._head = Head(Path(path), columns)
        self._format = format_of(self._head)
        if self._format.keeps_columns or not self._format.has_titles:
            self.columns = columns = columns._replace(carry=())  # all or none are there
        self._copy_columns = self._format.copy_columns(columns)

    @property
    def state(self) -> Source:
        """The size and time of the file when it was opened."""
        return self._head.source

    @property
    def is_mapped(self) -> bool:
        """Return True if the file itself is mapped, and so nobody may write to it meanwhile."""
        return self._format in MAPPED

    @property
    def is_native(self) -> bool:
        """Return True if the file itself is a native one."""
        return self._format is FORMATS["native CSR"]

    @property
    def is_prepared(self) -> bool:
        """Return True if the file itself is a prepared graph."""
        return self._format is FORMATS["prepared graph"]

    @property
    def is_for_pieces(self) -> bool:
        """Return True for a large plain text without named columns: ranks may read pieces."""
        large = self._head.source.size >= cached.LARGE_PLAIN and self._head.compression is None
        named = [*self.columns.named, *self.columns.carry]
        return large and not named and self._format.read_piece is not None

    @property
    def chosen_column(self) -> str | None:
        """The weights of `native` that are chosen after reading; None for those in use."""
        return self.columns.weight if self._format.keeps_columns else None

    @cached_property
    def copy(self) -> Copy | None:
        """The native copy, there or not; None where there shall be none."""
        if not self._format.compressible or self.columns.arc is not None:  # ids of arcs are lost
            return None
        large = cached.LARGE_PLAIN if self._head.compression is None else cached.LARGE_COMPRESSED
        return self._copy(native, self._copy_columns, large)

    @cached_property
    def prepared_copy(self) -> Copy | None:
        """The copy with a hierarchy, there or not; None where there shall be none."""
        if self.is_prepared:
            return None
        return self._copy(prepared, self.columns, cached.LARGE_PREPARED)

    def native(self) -> Path | None:
        """The native file that has the graph: this one, or a fresh copy; None if there is none."""
        if self.is_native:
            return self.path
        is_fresh = self.copy is not None and self.copy.mapped() is not None
        return self.copy.place if self.copy is not None and is_fresh else None

    def size(self) -> Size | None:
        """The size as the file, or a copy, tells it before it is read; None where it does not."""
        if (file := self.native()) is not None:
            contents = native.map_file(file)
            return Size(len(contents.offsets) - 1, len(contents.heads))
        return None if self._format.size is None else self._format.size(self._head)

    def read(self, progress: Progress | None = None) -> Graph:
        """Read the graph; from its copy where that is fresh, else leaving one."""
        graph = None if self.copy is None else self.copy.read()
        if graph is None:
            graph = self._read_steady(progress)
            if self.copy is not None:
                self.copy.write(graph)
        if self._copy_columns.weight != self.columns.weight:
            graph = graph.with_column(self.columns.weight)
        return mirrored(graph) if self.columns.undirected else graph

    def read_piece(self, span: range, progress: Progress | None = None) -> Piece | None:
        """The arcs in the lines that begin at these bytes; None if that takes the whole file."""
        read = self._format.read_piece
        try:
            return None if read is None else read(self._head, span, progress)
        except (OSError, FormatError, GraphError):  # rank 0, which reads all, says in which line
            return None

    @cached_property
    def orders(self) -> KeptOrders | None:
        """The orders from separators that are kept; None where there shall be none."""
        folder = self._folder(cached.LARGE_PREPARED)
        return None if folder is None else KeptOrders(folder, self.path)

    def _folder(self, large: int) -> Path | None:
        """The folder of copies, if there are to be any of a file of so many bytes."""
        is_wanted = self._head.source.size >= large if self._cache is None else self._cache
        return None if is_wanted is False else cached.folder_of(is_wanted)

    def _copy(self, form: ModuleType, columns: Columns, large: int) -> Copy | None:
        folder = self._folder(large)
        if folder is None:
            return None
        name = cached.copy_name(self.path, columns, form, self._format.rules)
        return Copy(self.path, folder / name, form)

    def _read_steady(self, progress: Progress | None) -> Graph:
        """Read a file that stays the same; once more if only its time has changed meanwhile."""
        head = self._head
        if head.source != Source.of(self.path):
            head = Head(self.path, self.columns)
        for _ in range(ATTEMPTS):
            with _refusing(self.path):
                graph = self._format.read(head, progress)
            now = None  # where it has been removed; whoever has opened it has all of it
            with suppress(FormatError):
                now = Source.of(self.path)
            if now in (None, head.source) or self.is_mapped:  # a mapped file keeps its content
                return graph
            if now.size != head.source.size:
                break
            head = Head(self.path, self.columns)
        raise FormatError(self.path, "was changed while it was read; try again once it is complete")


def read_graph(
    path: str | os.PathLike[str],
    *,
    undirected: bool = False,
    cache: bool | str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    tail: str | None = None,
    head: str | None = None,
    weight: str | None = None,
    ignore_columns: Sequence[str] = (),
    profile: str | None = None,
) -> Graph:
    """Read a graph from a file of any known format.

    Args:
        path: the file, plain or compressed with gzip, xz, bzip2 or zstd.
        undirected: add the reverse of each arc; a column of directions is ignored then.
        cache: whether to keep a binary copy of a text file's graph for the next time. None: if the
            text is large (8 MB compressed, 32 MB plain). True: always. False: never, and ignore
            existing copies. A folder: always, in that folder.
        progress: called repeatedly with the bytes read so far and the bytes of the file.
        tail, head, weight: titles of the columns of a table (text with titles, or Parquet);
            ``docs/tables.md`` lists the defaults. ``weight`` also of the weights by name in a
            ``.csr`` or ``.prepared`` file or an extract of OpenStreetMap.
        ignore_columns: titles of columns of a table that count as absent.
        profile: who travels, of an extract of OpenStreetMap: ``car`` (default), ``bike``, ``foot``.

    Returns:
        A `Graph`: int64 offsets of shape (n + 1,), int32 or int64 heads and weights of shape (m,);
        weights are int32, uint32, int64, float32 or float64.

    Raises:
        FormatError: the file is missing, cannot be opened, is not a graph, or changed while it was
            read; the message says why, with the line if there is one.
        InputError: a column is named, but the format has no named columns, or not this one; or
            a profile, but the file is no extract of OpenStreetMap.
        SetupError: the format needs a library that is not installed.
    """
    check_truth("undirected", undirected)
    columns = Columns(tail, head, weight, undirected, profile, ignore=ignore_columns)
    return GraphFile(file_path("path", path), columns, cache).read(progress)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Translate an error of reading into one that names the file."""
    try:
        yield
    except GraphError as error:
        text = str(error)
        raise FormatError(path, text.removeprefix(f"{path}: ")) from error
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise FormatError(path, f"needs more memory than there is ({error})") from error


class MappedFile:
    """A file that stays open while this object is there, and the graph in it is used."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self.error: RunError | None = None
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)
        self._before = self._state()

    def check(self) -> None:
        """Compare size and time of modification; a rename, which changes only ctime, is none."""
        if (problem := self._problem()) is not None:
            self.error = RunError(f"{self._path}: {problem}")
            raise self.error

    def _problem(self) -> str | None:
        try:
            if self._state() == self._before:
                return None
        except OSError as error:
            return f"cannot be looked at any more: {error.strerror or error}; start again"
        remedy = "start again, and replace such a file as a whole, by mv"
        return f"was changed while it was in use; {remedy}"

    def _state(self) -> tuple[int, int]:
        status = os.fstat(self._file)
        return status.st_size, status.st_mtime_ns
