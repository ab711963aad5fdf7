"""Sums that did not fit in the distance type, and if the answer misses any of them.

It does not if every arc from a reached vertex leads to a reached one: where no weight is negative,
a sum beyond the type's range was not a shortest distance then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def leads_beyond(
    offsets: NDArray[Any],
    heads: NDArray[Any],
    reached: NDArray[np.bool_],
    all_reached: NDArray[np.bool_],
) -> bool:
    """Return True if an arc leads from a reached vertex to one not in ``all_reached``.

    The n vertices with rows come first among those that a head may be.
    """
    leaving = np.repeat(reached, np.diff(offsets).astype(np.int64))
    return not bool(all_reached[heads[leaving]].all())
