"""Which type distances are computed in, so that they are exact.

Integer weights run in 32 bits first: every sum is checked, and where one did not fit the solve is
repeated in 64. Sums that do not fit in 64 bits are an error. With negative weights 64 bits are used
from the start, because a negative cycle sinks through 32 bits before it is noticed. Float weights
are summed in their own type; float32 sums that overflow are repeated in float64. Sums of floats are
rounded from the source outwards, the same way on every device and at every rank count.
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
