"""CRC-32 of the blocks of a file, which tell damage; they do not tell who has written it."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.system.threads import thread_count

BLOCK = 1 << 22
"""Bytes that have a digest of their own, so that threads and ranks share the work."""


def block_count(size: int) -> int:
    """How many digests so many bytes have."""
    return -(-size // BLOCK)


def digests_of(content: NDArray[np.uint8], part: int = 0, parts: int = 1) -> NDArray[np.uint32]:
    """The digests of an even part of the blocks of some bytes, by several threads."""
    count = block_count(len(content))
    blocks = range(count * part // parts, count * (part + 1) // parts)
    with ThreadPoolExecutor(thread_count()) as pool:
        found = pool.map(lambda k: _crc32(content[k * BLOCK : (k + 1) * BLOCK], 0), blocks)
        return np.fromiter(found, np.uint32, len(blocks))


def digests_of_pieces(pieces: Iterable[NDArray[np.uint8]]) -> NDArray[np.uint32]:
    """The same of bytes that come in pieces, one behind another."""
    found, room = [], 0
    for piece in pieces:
        start = 0
        while start < len(piece):
            if room == 0:
                found.append(0)
                room = BLOCK
            block = piece[start : start + room]
            found[-1] = _crc32(block, found[-1])
            start, room = start + len(block), room - len(block)
    return np.array(found, np.uint32)


def _crc32_function() -> Any:
    """Intel's, where it is installed, is six times as fast as zlib's."""
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib.crc32
    return isal_zlib.crc32


_crc32 = _crc32_function()
