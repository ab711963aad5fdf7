"""Sizes as people write them."""

from __future__ import annotations

import re

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12} | {
    f"{name}i": 1 << 10 * power for power, name in enumerate("KMGT", 1)
}
"""Units that may stand behind the number of a size."""

SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(|[KMGT]i?)B?", re.ASCII)


def nbytes_of(text: str) -> int | None:
    """Return the bytes of a size, or None.

    >>> nbytes_of("1.5G"), nbytes_of("512Mi"), nbytes_of("much")
    (1500000000, 536870912, None)
    """
    match = SIZE.fullmatch(text)
    if not match:
        return None
    size = float(match[1]) * UNITS[match[2]]
    return int(size) if size != float("inf") else None
