"""Sums that did not fit in the widest distance type: an error where the answer misses any."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.device.base import unreached
from groute_py.device.overflow import leads_beyond
from groute_py.errors import RunError, everywhere
from groute_py.graph.array_like import host_array
from groute_py.graph.facts import Facts
from groute_py.partition.share import Share


def refuse_overflow(channel: Channel, share: Share, distances: NDArray[Any], facts: Facts) -> None:
    """A sum did not fit in the widest type: that is an error if some vertex needs it. Collective.

    With negative weights it always is: they could have brought the sum back.

    Args:
        channel: connects the ranks.
        share: this rank's.
        distances: of its owned vertices, when all is quiet.
        facts: of the graph.

    Raises:
        RunError: some vertex needs it; on every rank.
    """
    reached = distances != unreached(distances.dtype)
    everyone = np.concatenate(channel.gather(reached))
    known = np.concatenate([reached, everyone[share.halo]])
    offsets, heads = host_array(share.offsets), host_array(share.heads)
    misses = channel.gather(leads_beyond(offsets, heads, reached, known))
    if facts.has_negative or any(misses):
        largest = max(abs(facts.least), abs(facts.greatest))
        or_wider = "" if distances.dtype.kind == "f" else " or use float64"
        raise everywhere(
            RunError(
                f"a distance in {facts.name} does not fit in {distances.dtype}: its weights go up "
                f"to ±{largest}; scale them down{or_wider}"
            )
        )
