"""What the ranks find, brought together on rank 0: at once, or in rounds that are kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.jobs.groups import Found
from groute_py.many.apsp import Progress

FIRST_COUNT = 16
"""Sources of each rank in the first round."""

ROUND_S = 1.0
"""About how long later rounds take."""


def in_rounds(
    channel: Channel,
    parts: Iterator[Found],
    left: int,
    total: int,
    take: Callable[[list[Found]], None] | None,
    progress: Progress | None,
) -> list[Found] | None:
    """What all ranks find, on rank 0; None elsewhere. Collective.

    Args:
        channel: connects the ranks.
        parts: gives what this rank finds of each of its sources.
        left: sources of all ranks, which differ by one at most.
        total: sources with those that are known already.
        take: is given what a round has found, on rank 0. None for one round in which all is found.
        progress: is given the sources that are done, and how many there are.
    """
    found: list[Found] = []
    done, count = total - left, left if take is None else FIRST_COUNT
    if progress is not None and done:
        progress(done, total)  # else they would count as fast ones
    while done < total:
        begun, own = time.monotonic(), []
        with collective(channel):
            for part in islice(parts, count):
                own.append(part)
                if progress is not None:
                    progress(min(done + len(own) * channel.size, total), total)
        some = [part for parts_of_rank in channel.gather(own) for part in parts_of_rank]
        done += len(some)
        if channel.rank == 0:
            found += some
        if take is not None:
            count = on_root(channel, partial(_next_count, take, some, count, begun))
    return found if channel.rank == 0 else None


def _next_count(
    take: Callable[[list[Found]], None], some: list[Found], count: int, begun: float
) -> int:
    """Keep what a round has found; how many sources of each rank the next one has."""
    take(some)
    return max(int(count * min(2, ROUND_S / max(time.monotonic() - begun, 1e-9))), 1)
