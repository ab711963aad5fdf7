"""A native copy of a text that ranks have read together, written by all of them.

As with every copy, one that cannot be written breaks nothing: then there is none.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.io.array_file import Outline, digests_of
from groute_py.io.cache_folder import refuses, remove_beyond_limit
from groute_py.source.shared import SharedFile
from groute_py.system.own_files import open_draft, replacing_copy


class Draft(NamedTuple):
    """A file that has its size and its headers, and waits for its arrays."""

    path: Path
    layout: Outline


class NotWrittenError(Exception):
    """Some rank could not write its part."""


def keep_together(
    channel: Channel,
    file: SharedFile,
    layout: Outline,
    parts: dict[str, tuple[int, NDArray[Any]]],
) -> None:
    """Leave a copy if that can be. Collective."""
    assert file.copy is not None
    try:
        with ExitStack() as stack:
            begun = _begin(stack, file, layout) if channel.rank == 0 else None
            if (draft := channel.broadcast(begun)) is None:
                return
            if not all(channel.gather(_write(draft, parts))):
                raise NotWrittenError  # so that the draft goes
            digests = channel.gather(_digests(draft, channel.rank, channel.size))
            if channel.rank == 0 and not _write(draft, {"digests": (0, _joined(digests))}):
                raise NotWrittenError
    except (NotWrittenError, OSError):
        return
    if channel.rank == 0:
        remove_beyond_limit(file.copy.parent)


def _begin(stack: ExitStack, file: SharedFile, layout: Outline) -> Draft | None:
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
        return Draft(Path(copy.name).absolute(), layout)
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
    """The digests of this rank's part of the blocks in the file; None where that fails."""
    try:
        with open_draft(draft.path) as file:
            content = np.memmap(file, np.uint8, "r", shape=(draft.layout.digested,))
            return digests_of(content.view(np.ndarray), rank, size)
    except (OSError, ValueError):
        return None


def _joined(parts: list[NDArray[np.uint32] | None]) -> NDArray[np.uint32]:
    digests = [part for part in parts if part is not None]
    if len(digests) < len(parts):
        raise NotWrittenError
    return np.concatenate(digests)
