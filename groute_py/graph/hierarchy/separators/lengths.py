"""Lengths: weights and distances as customization has them, unsigned and with room for a sum.

The greatest length is less than half of the one that stands for no way. So the sum of two lengths
is less than that, and sums with it are not: none of them wraps, and none needs to be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Lengths:
    """A type of lengths."""

    signed: np.dtype[Any]  # of distances, of the same width
    type: np.dtype[Any]  # unsigned
    limit: Any  # the greatest length
    nothing: Any  # the length of no way, the greatest number of ``signed``


def _lengths(
    signed: type[np.signedinteger[Any]], unsigned: type[np.unsignedinteger[Any]]
) -> Lengths:
    greatest = int(np.iinfo(signed).max)
    return Lengths(
        np.dtype(signed), np.dtype(unsigned), unsigned(greatest // 2), unsigned(greatest)
    )


NARROW, WIDE = _lengths(np.int32, np.uint32), _lengths(np.int64, np.uint64)
"""The types, of which the first is tried first."""
