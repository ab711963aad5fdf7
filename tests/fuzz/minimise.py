"""Delta debugging: the smallest part of an input that still shows the same."""

from __future__ import annotations

from collections.abc import Callable


def minimised(content: bytes, shows: Callable[[bytes], bool]) -> bytes:
    """Remove pieces of ``content``, large ones first, as long as ``shows`` holds (Zeller, 2002).

    Args:
        content: for which ``shows`` holds.
        shows: whether an input shows the same; it may begin to say False when its time is over.

    >>> minimised(b"a long text with an x in it", lambda part: b"x" in part)
    b'x'
    """
    size = max(len(content) // 2, 1)
    while size:
        start, removed = 0, False
        while start < len(content):
            part = content[:start] + content[start + size :]
            if part != content and shows(part):
                content, removed = part, True
            else:
                start += size
        if not removed or size > 1:
            size //= 2
    return content
