"""Pairs grouped by their source, and what is found of them; how routes are found is a protocol."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Group(NamedTuple):
    """The pairs of one source: where they stand among all, shape (t,), and their targets."""

    source: int
    places: NDArray[np.int64]
    targets: NDArray[np.int64]


class Found(NamedTuple):
    """What is known of the pairs of one source.

    Attributes:
        places: of the pairs, shape (t,).
        distances: shape (t,), in public types.
        paths: of each pair from the source on, int64; None if they were not asked for.
    """

    places: NDArray[np.int64]
    distances: NDArray[Any]
    paths: list[NDArray[np.int64]] | None


class Finder(Protocol):
    """A way to find routes, on this rank's device.

    Attributes:
        label: what it runs on.
    """

    label: str

    def find(
        self, groups: list[Group], height: NDArray[Any] | None, *, paths: bool, deadline: float
    ) -> Generator[Found, None, None]:
        """The routes of some groups, in their order.

        Args:
            groups: one for each source.
            height: Johnson's potentials for the sources where weights may be negative, else None.
            paths: whether to find paths.
            deadline: `time.monotonic` at which to give up.

        Raises:
            RunError: a distance does not fit in 64 bits.
            TimeLimitError: the deadline has passed.
        """


def grouped(pairs: NDArray[np.int64]) -> list[Group]:
    """Groups in ascending order of their sources.

    Args:
        pairs: sources and targets, shape (k, 2).

    >>> [group.source for group in grouped(np.array([[3, 1], [0, 2], [3, 0]]))]
    [0, 3]
    """
    order = np.argsort(pairs[:, 0], kind="stable")
    sources, starts = np.unique(pairs[order, 0], return_index=True)
    stops = [*starts[1:].tolist(), len(pairs)]
    return [
        Group(source, order[start:stop], pairs[order[start:stop], 1])
        for source, start, stop in zip(sources.tolist(), starts.tolist(), stops, strict=True)
    ]
