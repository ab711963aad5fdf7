"""Sizes of the command line: bytes, with a unit."""

from __future__ import annotations

import re

from groute_py.errors import InputError, quote

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
"""What may stand behind the number of a size."""

MEMORY = (
    "Take so much of the GPU's memory, such as 20G; on a CPU, for the matrix of floyd.  "
    "[all that is free]"
)
"""Says what is other than in Python: a unit may follow the number of bytes."""


def size_of(text: str | None) -> int | None:
    """A size as people write it.

    >>> size_of("1.5G")
    1500000000
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?(|[KMG]i?)B?", text)
    if not found:
        raise InputError(f"--memory-limit {quote(text)} is no size; write it as 20G or 512Mi")
    size = float(found[1]) * UNITS[found[2]]
    if size == float("inf"):
        raise InputError(f"--memory-limit {text[:20]}… is more than there can be")
    return int(size)
