"""Several paths of each of some pairs on one core; the type of the limits says by which method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.cpu.alternatives import add_alternatives
from groute_py.kernels.cpu.k_paths import LOST, add_paths
from groute_py.kernels.cpu.k_walks import add_walks
from groute_py.kernels.cpu.kernel import by_type, kernel


class PathLimits(NamedTuple):
    """Limits of the k shortest simple paths."""

    most: int  # paths of each pair
    longest: Any  # of the lengths of answers
    greatest: Any  # of bounds, which may round
    is_all: bool  # no greater length is in the range of the type


class WalkLimits(NamedTuple):
    """Limits of the k shortest walks: those of paths, and what fits in memory."""

    most: int
    longest: Any
    greatest: Any
    is_all: bool
    labels: int  # of a pair, also those in the queue


class AlternativeLimits(NamedTuple):
    """Limits of alternatives: those of paths, and shares of lengths."""

    most: int
    longest: Any
    greatest: Any
    is_all: bool
    longer: float  # than what an alternative replaces
    overlap: float  # with earlier ones
    rounding: float  # by which sums in another order may differ


METHODS = {PathLimits: add_paths, WalkLimits: add_walks, AlternativeLimits: add_alternatives}


@by_type
def _add(
    tree: Any, root: Any, start: Any, limits: Any, spaces: Any, ways: Any, lengths: Any
) -> Callable[..., None]:
    """Add the paths of a pair by the method for its limits."""
    add = METHODS[limits.instance_class]
    return lambda tree, root, start, limits, spaces, ways, lengths: add(
        tree, root, start, limits, spaces, ways, lengths
    )


@kernel
def several_paths(
    arcs: Any, row: Any, nothing: Any, root: Any, starts: Any, limits: Any, spaces: Any
) -> Any:
    """Return counts of the paths of pairs, their lengths, sizes, and all their vertices.

    The arcs lead from ``starts`` to the ``root``, to which ``row`` (n,) has distances, or
    ``nothing``. Where a pair lacks paths that were out of range, LOST is set in the clock.
    """
    tree, clock = (arcs[0], arcs[1], arcs[2], row, nothing), spaces[0].clock
    counts, before, lost = np.zeros(len(starts), np.int64), 0, False
    ways, lengths = [np.empty(0, np.uint32)], [spaces[0].lengths[0]]
    for number in range(len(starts)):
        clock[LOST] = 0
        if row[starts[number]] != nothing:
            _add(tree, root, starts[number], limits, spaces, ways, lengths)
        counts[number] = len(ways) - 1 - before
        before = len(ways) - 1
        lost |= clock[LOST] != 0 and counts[number] < limits.most
    clock[LOST] = lost
    sizes = np.array([len(way) for way in ways[1:]], np.int64)
    vertices, first = np.empty(sizes.sum(), np.uint32), 0
    for way in ways[1:]:
        vertices[first : first + len(way)] = way
        first += len(way)
    return counts, np.array(lengths)[1:], sizes, vertices
