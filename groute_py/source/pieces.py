"""A plain text file of which every rank reads a piece, so that none holds the whole graph.

The ranks take what is usual. Where one of them finds a mistake, or anything for which it would have
to know the lines before, nobody takes anything, and rank 0 reads the file alone: it knows the
number of every line, and says what is wrong with it.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.errors import FormatError, InputError
from groute_py.graph.builder import INT32, INT64
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts, weighed, weighed_together
from groute_py.graph.geography import Geography
from groute_py.graph.ids import Numbering, fits_table
from groute_py.graph.read_report import title_of_weights
from groute_py.graph.units import units_of
from groute_py.io.array_file import Outline, digests_of
from groute_py.io.cache_folder import refuses, remove_beyond_limit
from groute_py.io.formats import native
from groute_py.io.graph_file import GraphFile
from groute_py.io.text.arc_reader import Piece, first_rounded
from groute_py.io.text.lines import Progress
from groute_py.kernels.cpu.build import are_sorted, count_arcs, index_type, rows_from_arcs
from groute_py.partition.cutting import Cutting
from groute_py.partition.order import Order
from groute_py.partition.share import Partition, Rows, partition
from groute_py.source.base import Spread, Supply
from groute_py.source.shared import SharedFile
from groute_py.source.whole import GraphSupply
from groute_py.system.memory_limits import is_absurd
from groute_py.system.own_files import open_draft, replacing_copy


def read_pieces(
    file: SharedFile, channel: Channel, progress: Progress | None = None
) -> ParsedText | None:
    """Read a file together, or None where rank 0 has to read it alone. Collective."""
    span = range(*(file.size * k // channel.size for k in (channel.rank, channel.rank + 1)))
    piece: Piece | None = None
    with collective(channel), suppress(OSError, FormatError):
        piece = file.read(lambda: GraphFile(file.path).read_piece(span, progress))
    has_piece = channel.gather(piece is not None)
    if piece is None or not all(has_piece):
        return None
    numbered = number_together(channel, piece)
    if numbered is None or is_absurd(numbered.numbering.count, file.size):
        return None
    kind = np.result_type(*channel.gather(piece.weights.dtype))
    if kind.kind == "f" and any(channel.gather(first_rounded(piece.weights) is not None)):
        return None  # rank 0 names the line
    weights = piece.weights.astype(kind, copy=False)
    if piece.reading is not None:
        comments = sum(channel.gather(piece.reading.comments))
        piece = piece._replace(reading=piece.reading._replace(comments=comments))
    return ParsedText(file, piece._replace(weights=weights), numbered)


class ParsedText(Supply):
    """A text file that has been read; it can be spread once."""

    def __init__(self, file: SharedFile, piece: Piece, numbered: Numbered) -> None:
        self._file = file
        self._name, self._numbering = piece.name, numbered.numbering
        self._reading = piece.reading
        self._columns: tuple[NDArray[Any], ...] = (numbered.tails, numbered.heads, piece.weights)

    def facts(self, channel: Channel) -> Facts:
        tails, _, weights = self._columns
        parts = channel.gather((len(weights), weighed(weights)))
        starts = channel.gather(int(tails.min()) if len(tails) else self._numbering.count)
        return Facts(
            vertex_count=self._numbering.count,
            arc_count=sum(count for count, _ in parts),
            weight_type=weights.dtype,
            **weighed_together(parts)._asdict(),
            start=min(starts),
            first_id=self._numbering.first,
            name=self._name,
        )

    def spread(self, channel: Channel, cutting: Cutting) -> Spread:
        columns, self._columns = self._columns, ()  # so that they go as soon as they are sent
        if cutting.renumbers:
            return on_root(channel, lambda: GraphSupply(self.graph())).spread(channel, cutting)
        cut, going = self._cut(channel, cutting.partition, columns[0])
        tails, heads, weights = to_owners(channel, cut, going, columns)
        low, high = cut.bounds[channel.rank : channel.rank + 2]
        tails -= low
        rows = Rows(*rows_from_arcs(int(high - low), tails, heads, weights))
        if self._file.copy is not None:
            self._keep(channel, cut, rows)
        return Spread(cut, rows, Order("none"))

    def _cut(self, channel: Channel, how: str, tails: NDArray[Any]) -> tuple[Partition, list[int]]:
        """The partition, and how many of this rank's arcs each part owns."""
        counts = arcs_by_tail(tails, self._numbering.count)
        offsets = offsets_of_all(channel, counts)
        cut = on_root(channel, lambda: partition(offsets, channel.size, how))
        return cut, [int(counts[a:b].sum(dtype=np.int64)) for a, b in pairwise(cut.bounds)]

    def _keep(self, channel: Channel, cut: Partition, rows: Rows) -> None:
        """Leave a native copy if that can be."""
        numbering, rank = self._numbering, channel.rank
        counts = np.cumsum([0, *channel.gather(len(rows.heads))])
        first_row, first_arc, arcs = int(cut.bounds[rank]), int(counts[rank]), int(counts[-1])
        parts: dict[str, tuple[int, NDArray[Any]]] = {
            "offsets": (first_row, rows.offsets + first_arc),  # the ends are the same on both
            "heads": (first_arc, rows.heads),
            "weights": (first_arc, rows.weights),
        }
        shapes = {
            "offsets": (numbering.count + 1, rows.offsets.dtype),
            "heads": (arcs, rows.heads.dtype),
            "weights": (arcs, rows.weights.dtype),
        }
        if numbering.ids is not None:
            shapes["ids"] = (numbering.count, numbering.ids.dtype)
            parts |= {"ids": (0, numbering.ids)} if rank == 0 else {}
        about = numbering.first, self._name, self._file.source, self._reading
        with suppress(InputError):  # of a header that would be too long
            keep_together(channel, self._file, native.outline(shapes, *about), parts)

    def numbering(self) -> Numbering:
        return self._numbering

    def geography(self) -> Geography:
        return Geography(units=units_of(title_of_weights(self._reading), ""))

    def graph(self) -> Graph:
        return GraphFile(self._file.path, cache=False).read()


class Numbered(NamedTuple):
    """A rank's arcs between indices, shape (m,), and the numbering of all vertices."""

    numbering: Numbering
    tails: NDArray[Any]
    heads: NDArray[Any]


def number_together(channel: Channel, piece: Piece) -> Numbered | None:
    """Number the vertices as a single reader would; the same on every rank. Collective.

    None where something is not as the file says, or where a table of all ids would be too large.
    """
    arcs = sum(channel.gather(len(piece.tails)))
    if arcs == 0 or piece.arc_count not in (None, arcs):
        return None
    ends = channel.gather(_ends(piece))
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    vertices = piece.vertices
    if vertices is None and piece.vertex_count is not None:
        vertices = range(min(1, low), min(1, low) + piece.vertex_count)
    if vertices is not None:
        inside = vertices.start <= low and high < vertices.stop
        return _counted(piece, vertices) if inside else None
    if high - low > INT32.max or not fits_table(high - low, 2 * arcs):
        return None
    seen = _seen_by_any(channel, piece, range(low, high + 1))
    return _counted(piece, range(low, high + 1)) if seen.all() else _listed(piece, low, seen)


def _ends(piece: Piece) -> tuple[int, int]:
    """The least and the greatest id."""
    columns = [column for column in (piece.tails, piece.heads) if len(column)]
    low = min((int(column.min()) + piece.least for column in columns), default=INT64.max)
    high = max((int(column.max()) + piece.least for column in columns), default=INT64.min)
    return int(low), int(high)


def _counted(piece: Piece, vertices: range) -> Numbered:
    """Number ids that count upwards; in the place of the piece's arrays where that can be."""
    shift, kind = vertices.start - piece.least, index_type(len(vertices))
    ends = [_lowered(column, shift).astype(kind, copy=False) for column in piece[1:3]]
    return Numbered(Numbering(len(vertices), vertices.start), *ends)


def _listed(piece: Piece, low: int, seen: NDArray[np.bool_]) -> Numbered:
    """Number ids with gaps."""
    ids = np.flatnonzero(seen)
    places = np.cumsum(seen, dtype=index_type(len(ids))) - 1
    ends = [places[_lowered(column, low - piece.least)] for column in piece[1:3]]
    return Numbered(Numbering(len(ids), ids=ids + low), *ends)


def _lowered(column: NDArray[Any], shift: int) -> NDArray[Any]:
    if shift < 0:  # what is below zero may not fit once it is not
        column = column.astype(np.int64, copy=False)
    if shift and len(column):  # of none the type may be too small for the shift
        column -= shift
    return column


def _seen_by_any(channel: Channel, piece: Piece, ids: range) -> NDArray[np.bool_]:
    """A mask of the ids that have an arc on some rank."""
    seen = np.zeros(len(ids), np.bool_)
    for column in piece[1:3]:
        seen[np.subtract(column, ids.start - piece.least, dtype=np.int64)] = True
    mine = channel.exchange(np.array_split(seen, channel.size))
    return np.concatenate(channel.gather(np.any(mine, axis=0)))


def keep_together(
    channel: Channel, file: SharedFile, layout: Outline, parts: dict[str, tuple[int, NDArray[Any]]]
) -> None:
    """Leave a copy if that can be; one that cannot be written breaks nothing. Collective.

    ``parts`` are this rank's of the arrays, each from an element on.
    """
    assert file.copy is not None
    with suppress(OSError), ExitStack() as stack:
        begun = _begin(stack, file, layout) if channel.rank == 0 else None
        if (draft := channel.broadcast(begun)) is None:
            return
        if not all(channel.gather(_write(draft, layout, parts))):
            raise OSError("a rank could not write its part")  # so that the draft goes
        digests: Any = channel.gather(_digests(draft, layout, channel.rank, channel.size))
        if any(part is None for part in digests):
            raise OSError("a rank could not read its part")
        whole = {"digests": (0, np.concatenate(digests))}
        if channel.rank == 0 and not _write(draft, layout, whole):
            raise OSError("the digests could not be written")
    if channel.rank == 0:
        remove_beyond_limit(file.copy.parent)


def _begin(stack: ExitStack, file: SharedFile, layout: Outline) -> Path | None:
    """The copy, empty but for its headers; it takes its place when ``stack`` ends well."""
    if file.copy is None or refuses(file.path, layout.size):
        return None
    try:
        file.copy.parent.mkdir(parents=True, exist_ok=True)
        copy = stack.enter_context(replacing_copy(file.copy, file.path))
        copy.truncate(layout.size)
        for start, text in layout.texts:
            copy.seek(start)
            copy.write(text)
        copy.flush()
        return Path(copy.name).absolute()
    except OSError:
        return None


def _write(draft: Path, layout: Outline, arrays: dict[str, tuple[int, NDArray[Any]]]) -> bool:
    """Write parts of arrays; False where the draft is not seen here."""
    try:
        with open_draft(draft) as file:
            for name, (first, part) in arrays.items():
                file.seek(layout.starts[name] + first * part.itemsize)
                file.write(np.ascontiguousarray(part).data)
        return True
    except OSError:
        return False


def _digests(draft: Path, layout: Outline, rank: int, size: int) -> NDArray[np.uint32] | None:
    """The digests of this rank's part of the blocks in the file; None where that fails."""
    try:
        with open_draft(draft) as file:
            content = np.memmap(file, np.uint8, "r", shape=(layout.digested,))
            return digests_of(content.view(np.ndarray), rank, size)
    except (OSError, ValueError):
        return None


BLOCK = 1 << 22
"""Vertices whose arcs are summed up at a time."""

CHUNK = 1 << 20
"""Arcs that all ranks together may send to one at a time."""

MOST_MOVED = 1 << 26
"""Arcs that all ranks together may send at once where most lie at their owners."""


def arcs_by_tail(tails: NDArray[Any], vertex_count: int) -> NDArray[np.int32]:
    """The number of a rank's arcs that leave each vertex."""
    counts = np.zeros(vertex_count + 1, np.int32)
    count_arcs(tails, (0, vertex_count), counts, 0)
    return counts[:-1]


def offsets_of_all(channel: Channel, counts: NDArray[np.int32]) -> NDArray[np.int64]:
    """The offsets of rows once all ranks' arcs are together. Collective.

    On rank 0 int64, shape (n + 1,); empty on the others.
    """
    offsets = np.zeros(len(counts) + 1 if channel.rank == 0 else 0, np.int64)
    for start in range(0, len(counts), BLOCK):
        block = counts[start : start + BLOCK]
        mine = channel.exchange(np.array_split(block, channel.size))
        sums = channel.collect(np.stack(mine).sum(axis=0, dtype=np.int64))
        if sums is not None:
            offsets[start + 1 : start + 1 + len(block)] = np.concatenate(sums)
    return np.cumsum(offsets, out=offsets)


def to_owners(
    channel: Channel, partition: Partition, going: list[int], columns: tuple[NDArray[Any], ...]
) -> list[NDArray[Any]]:
    """Send arcs to the owners of their tails; those of a lower rank come first. Collective.

    In a file that is sorted by tail most arcs lie at their owners, and the others in front of them
    and behind. Else the columns are taken from their ends and given back once sent, so that a
    rank's arcs are not in memory together with what takes their place; ``columns`` are empty then.
    """
    if all(channel.gather(_are_near(channel, going, columns[0]))):
        return [_border_moved(channel, going, column) for column in columns]
    ends = np.cumsum(channel.exchange([np.array([count]) for count in going]))
    arrived = [np.empty(ends[-1], column.dtype) for column in columns]
    step = max(CHUNK // channel.size, 1)
    for _ in range(0, max(channel.gather(len(columns[0]))), step):
        rest = max(len(columns[0]) - step, 0)
        owners = partition.owner(columns[0][rest:]).astype(np.uint16)  # short: sorted by digits
        order = np.argsort(owners, kind="stable")
        cuts = np.searchsorted(owners, np.arange(1, channel.size), sorter=order)
        took = np.zeros_like(ends)
        for column, places in zip(columns, arrived, strict=True):
            parts = channel.exchange(np.split(column[rest:][order], cuts))
            for end, part in zip(ends, parts, strict=True):
                places[end - len(part) : end] = part
            took[:] = [len(part) for part in parts]
            column.resize(rest, refcheck=False)
        ends -= took
    return arrived


def _are_near(channel: Channel, going: list[int], tails: NDArray[Any]) -> bool:
    """Return True if this rank's arcs are sorted by tail, and few of them go to others."""
    moved = sum(going) - going[channel.rank]
    return moved <= MOST_MOVED // channel.size and are_sorted(tails)


def _border_moved(channel: Channel, going: list[int], column: NDArray[Any]) -> NDArray[Any]:
    """A column of sorted arcs, once all ranks have sent what belongs to others."""
    parts = np.split(column, np.cumsum(going)[:-1])
    own, parts[channel.rank] = parts[channel.rank], column[:0]
    arrived = channel.exchange([part.copy() for part in parts])
    arrived[channel.rank] = own
    result = np.concatenate(arrived)
    column.resize(0, refcheck=False)  # nobody looks at its parts any more
    return result
