"""The tolerance below zero in which a cycle of float weights still counts as zero.

Float weights are rounded numbers: 0.1 + 0.2 − 0.3 and 6.8 − 6.8 + 0.1 − 0.1 are meant to be 0, and
their exact sums are a little more or less. So a cycle counts as negative only where its weight is
below zero by more than `cycle_tolerance` times the sum of the absolute weights on it. Every method
and every drop-in uses this bound. Integer weights are exact, and have none.

Sums along paths are rounded as well, once an arc; `path_slack` bounds what that adds up to where
two paths are compared (Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

UNITS = 64
"""The tolerance in units of the weights' epsilon: 2⁻⁴⁶ for float64, 2⁻¹⁷ for float32."""


ROUNDINGS = 4
"""Number of epsilons that a path may be shorter by and not be looked for again."""


def cycle_tolerance(weight_type: np.dtype[Any]) -> float:
    """Return the tolerance of a cycle, as a part of the sum of its absolute weights.

    >>> cycle_tolerance(np.dtype(np.float64)) == 2.0**-46, cycle_tolerance(np.dtype(np.int32))
    (True, 0.0)
    """
    return UNITS * float(np.finfo(weight_type).eps) if weight_type.kind == "f" else 0.0


def sum_slack(weight_type: np.dtype[Any]) -> float:
    """Return the difference of equal sums of paths, in parts of all absolute weights on both."""
    return ROUNDINGS * float(np.finfo(weight_type).eps)


def path_slack(steps: NDArray[Any], absolute: NDArray[Any], sum_type: np.dtype[Any]) -> Any:
    """Bound the difference of k pairs of sums that are equal but for rounding and tolerated cycles.

    ``steps`` are the arcs on both paths together, ``absolute`` the sums of their absolute weights.
    """
    return (UNITS + steps) * float(np.finfo(sum_type).eps) * absolute
