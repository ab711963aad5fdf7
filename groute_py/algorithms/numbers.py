"""The type in which distances are computed, so that integers are exact.

Integer weights are summed in 32 bits first. Every sum is checked; if one does not fit, the solve is
repeated in 64 bits. A sum that does not fit in 64 bits is an error. Negative weights use 64 bits
from the start, because a negative cycle would sink below the 32-bit range before it is noticed.
Float weights are summed in their own type; if a float32 sum overflows, the solve is repeated in
float64. Sums of floats are rounded from the source outwards, the same way on every device and with
every number of ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.graph.facts import Facts


def distance_types(facts: Facts) -> list[np.dtype[Any]]:
    """The types to try, narrowest first."""
    narrow: np.dtype[Any]
    wide: np.dtype[Any]
    if facts.weight_type.kind == "f":
        narrow, wide = np.dtype(np.float32), np.dtype(np.float64)
        narrow_will_do = facts.weight_type == narrow
    else:
        narrow, wide = np.dtype(np.int32), np.dtype(np.int64)
        narrow_will_do = not facts.has_negative and facts.greatest < np.iinfo(np.int32).max
    return [narrow, wide] if narrow_will_do else [wide]
