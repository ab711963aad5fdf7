"""Sizes of memory as people write them."""

from __future__ import annotations

import re

from groute_py.errors import InputError, quote

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
"""What may stand behind the number of a size."""


def size_in_bytes(flag: str, text: str | None) -> int | None:
    """A size, or None for none; ``flag`` is what errors call it.

    >>> size_in_bytes("--memory-limit", "1.5G")
    1500000000
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?(|[KMG]i?)B?", text)
    if not found:
        raise InputError(f"{flag} {quote(text)} is no size; write it as 20G or 512Mi")
    size = float(found[1]) * UNITS[found[2]]
    if size == float("inf"):
        raise InputError(f"{flag} {text[:20]}… is more than there can be")
    return int(size)
