"""What is done on large graphs only, to be done on small ones."""

from __future__ import annotations

from collections.abc import Callable

from groute_py.algorithms import delta_stepping
from groute_py.device import memory
from groute_py.kernels import source

Put = Callable[[object, str, object], None]


def take_thick_turns(put: Put = setattr) -> None:
    """And show to peers what is found: inboxes are small."""
    put(source, "THIN", 0)
    put(memory, "SMALLEST_RING", 0)
    put(memory, "ring_entries", lambda told: 1 << max(told.bit_length() - 4, 0))


def shorten_express_rings(put: Put = setattr) -> None:
    """As if long ones were full often, in many laps, and their counts told by few bits."""
    put(source, "EXPRESS", 8)
    put(source, "EXPRESS_BITS", 5)


def grow_windows(put: Put = setattr) -> None:
    """From narrow ones, with hints left, and far looked for among all vertices."""
    from groute_py.device import cuda  # where there is one

    put(delta_stepping, "MANY_ARCS", 0)
    put(delta_stepping, "GROWING_DEGREE", 0.0)
    put(cuda, "HINTED_FROM", 0.0)
    put(memory, "FAR_SHARE", 1 << 30)
