"""A native copy of a text that ranks have read together, written by all of them.

As with every copy, one that cannot be written breaks nothing: then there is none.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.errors import InputError
from groute_py.graph.ids import Numbering
from groute_py.graph.read_report import Reading
from groute_py.io.array_file import Outline, Source
from groute_py.io.cache_limit import refuses, remove_beyond_limit
from groute_py.io.digests import digests_of
from groute_py.io.formats import native
from groute_py.partition.base import Partition
from groute_py.partition.share import Rows
from groute_py.system.own_files import open_draft, replacing_copy


class Draft(NamedTuple):
    """A file that has its size and its headers, and waits for its arrays."""

    path: Path
    layout: Outline


class NotWrittenError(Exception):
    """Some rank could not write its part."""


def keep_together(
    channel: Channel,
    copy: Path,
    path: Path,
    source: Source,
    name: str,
    numbering: Numbering,
    cut: Partition,
    rows: Rows,
    reading: Reading | None = None,
) -> None:
    """Leave a copy if that can be. Collective.

    Args:
        channel: connects the ranks.
        copy: where it shall be; rank 0's counts.
        path: of the text.
        source: of the text, as it was when it was read.
        name: of the graph.
        numbering: of its vertices.
        cut: which rows are whose.
        rows: this rank's, heads in global numbers.
        reading: how the text was read, if it is a table.
    """
    counts = np.cumsum([0, *channel.gather(len(rows.heads))])
    try:
        with ExitStack() as stack:
            draft = None
            if channel.rank == 0:
                with suppress(InputError):  # of a header that would be too long
                    layout = _layout(source, name, numbering, rows, int(counts[-1]), reading)
                    draft = _begin(stack, copy, path, layout)
            draft = channel.broadcast(draft)
            if draft is None:
                return
            first_row, first_arc = int(cut.bounds[channel.rank]), int(counts[channel.rank])
            arrays = {
                "offsets": (first_row, rows.offsets + first_arc),  # the ends are the same on both
                "heads": (first_arc, rows.heads),
                "weights": (first_arc, rows.weights),
            }
            if channel.rank == 0 and numbering.ids is not None:
                arrays["ids"] = (0, numbering.ids)
            if not all(channel.gather(_write(draft, arrays))):
                raise NotWrittenError  # so that the draft goes
            digests = channel.gather(_digests(draft, channel.rank, channel.size))
            if channel.rank == 0 and not _write(draft, {"digests": (0, _joined(digests))}):
                raise NotWrittenError
    except (NotWrittenError, OSError):
        return
    if channel.rank == 0:
        remove_beyond_limit(copy.parent)


def _layout(
    source: Source,
    name: str,
    numbering: Numbering,
    rows: Rows,
    arcs: int,
    reading: Reading | None,
) -> Outline:
    shapes = {
        "offsets": (numbering.count + 1, rows.offsets.dtype),
        "heads": (arcs, rows.heads.dtype),
        "weights": (arcs, rows.weights.dtype),
    }
    if numbering.ids is not None:
        shapes["ids"] = (numbering.count, numbering.ids.dtype)
    return native.outline(shapes, numbering.first, name, source, reading)


def _begin(stack: ExitStack, copy: Path, path: Path, layout: Outline) -> Draft | None:
    """The file, empty but for its headers; it takes its place when ``stack`` ends well."""
    if refuses(path, layout.size):
        return None
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        file = stack.enter_context(replacing_copy(copy, path))
        file.truncate(layout.size)
        for start, text in layout.texts:
            file.seek(start)
            file.write(text)
        file.flush()
        return Draft(Path(file.name).absolute(), layout)
    except OSError:
        return None


def _write(draft: Draft, arrays: dict[str, tuple[int, NDArray[Any]]]) -> bool:
    """Write parts of arrays, each from an element on; False where the draft is not seen here."""
    try:
        with open_draft(draft.path) as file:
            for name, (first, part) in arrays.items():
                file.seek(draft.layout.starts[name] + first * part.itemsize)
                file.write(np.ascontiguousarray(part).data)
        return True
    except OSError:
        return False


def _digests(draft: Draft, rank: int, size: int) -> NDArray[np.uint32] | None:
    """Of this rank's part of the blocks, as they are in the file; None where that fails."""
    try:
        with open_draft(draft.path) as file:
            content = np.memmap(file, np.uint8, "r", shape=(draft.layout.digested,))
            return digests_of(content.view(np.ndarray), rank, size)
    except (OSError, ValueError):
        return None


def _joined(parts: list[NDArray[np.uint32] | None]) -> NDArray[np.uint32]:
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        raise NotWrittenError
    return np.concatenate(found)
