"""Sizes of the command line: bytes, with a unit."""

from __future__ import annotations

from groute_py.errors import InputError, quote
from groute_py.system.sizes import nbytes_of

MEMORY = (
    "Take so much of the GPU's memory, such as 20G; on a CPU, for the matrix of floyd.  "
    "[all that is free]"
)
"""Says what is other than in Python: a unit may follow the number of bytes."""


def size_of(text: str | None) -> int | None:
    """A size as people write it; None for none.

    >>> size_of("1.5G")
    1500000000
    """
    if text is None:
        return None
    if (size := nbytes_of(text)) is None:
        raise InputError(f"--memory-limit {quote(text)} is no size; write it as 20G or 512Mi")
    return size
