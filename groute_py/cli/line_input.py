"""Lines of an input that may wait for its writer."""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator
from io import BufferedIOBase

AT_ONCE = 1 << 16
"""Bytes of a read."""


def lines_of(
    stream: BufferedIOBase, longest: int, wait: Callable[[Callable[[], object]], bool]
) -> Iterator[bytes]:
    """The lines, without their ends.

    It waits for bytes before it reads them, and only the wait can be interrupted. So no line is
    lost that has been read.

    Args:
        stream: from which nothing has been read.
        longest: bytes of a line; of a longer one only the first ``longest`` + 1 are given.
        wait: calls its argument, which returns when there is something to read; gives False if
            nothing more is to be read.
    """
    arrive, begun = _arrival(stream), b""
    while wait(arrive):
        read = stream.read1(AT_ONCE)
        if not read:
            if begun:
                yield begun
            return
        *whole, rest = read.split(b"\n")
        for line in whole:
            yield (begun + line)[: longest + 1]
            begun = b""
        begun = (begun + rest)[: longest + 1]


def _arrival(stream: BufferedIOBase) -> Callable[[], object]:
    """What returns when bytes, or the end, have arrived."""
    try:
        number = stream.fileno()
    except OSError:  # it is in memory
        return lambda: None
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return poll.poll
