"""Sums that did not fit in the widest distance type: whether the answer misses any of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.device.base import unreached
from groute_py.errors import RunError, everywhere
from groute_py.graph.array_like import host_array
from groute_py.graph.facts import Facts
from groute_py.partition.share import Share


def refuse_overflow(channel: Channel, share: Share, distances: NDArray[Any], facts: Facts) -> None:
    """A sum did not fit in the widest type: that is an error if some vertex needs it. Collective.

    None does if every arc from a reached vertex leads to a reached one: then a sum beyond the
    type's range was not a shortest distance, unless negative weights could bring it back.

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
    leaving = np.repeat(reached, np.diff(host_array(share.offsets)))
    misses = channel.gather(not known[host_array(share.heads)[leaving]].all())
    if facts.has_negative or any(misses):
        largest = max(abs(facts.least), abs(facts.greatest))
        raise everywhere(
            RunError(
                f"a distance in {facts.name} does not fit in {distances.dtype}: its weights go up "
                f"to ±{largest}; scale them down or use float64"
            )
        )
