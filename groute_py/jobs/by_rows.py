"""Routes on a GPU: rows from hundreds of sources at once, of which the targets' columns leave."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.rows import RowBlock
from groute_py.errors import too_late
from groute_py.jobs.groups import Found, Group
from groute_py.many.solve import Solving
from groute_py.results.result import public_distances

SOURCES_AT_ONCE = 1 << 14
"""Their targets are so few that the columns of all of them are little beside the rows."""


class Rows:
    """See `groute_py.jobs.groups.Finder`; with paths whole rows come to the host.

    Args:
        solving: solves row by row.
    """

    def __init__(self, solving: Solving) -> None:
        self._solving, self.label = solving, solving.label

    def find(
        self, groups: list[Group], height: NDArray[Any] | None, *, paths: bool, deadline: float
    ) -> Generator[Found, None, None]:
        """As `groute_py.jobs.groups.Finder.find`; the solver has the potentials already."""
        for start in range(0, len(groups), SOURCES_AT_ONCE):
            some = groups[start : start + SOURCES_AT_ONCE]
            sources = np.array([group.source for group in some])
            columns = None if paths else np.unique(np.concatenate([g.targets for g in some]))
            with closing(self._solving.blocks(sources, columns)) as blocks:
                for block in blocks:
                    yield from _picked(block, some, columns)
                    done = start + block.first + block.count
                    if done < len(groups) and time.monotonic() > deadline:
                        raise too_late()
            self.label = self._solving.label


def _picked(
    block: RowBlock, groups: list[Group], columns: NDArray[np.int64] | None
) -> Iterator[Found]:
    """What the rows of a block say of their groups."""
    for row, group in enumerate(groups[block.first : block.first + block.count]):
        targets = group.targets
        where = targets if columns is None else np.searchsorted(columns, targets)
        paths = None
        if columns is None and block.predecessors is not None:
            parents = block.predecessors[row]
            paths = [_walked(parents, group.source, target) for target in targets.tolist()]
        yield Found(group.places, public_distances(block.distances[row, where]), paths)


def _walked(parents: NDArray[np.int32], source: int, target: int) -> NDArray[np.int64]:
    """The vertices of a path; none if none leads there."""
    if target != source and parents[target] < 0:
        return np.empty(0, np.int64)
    vertices = [target]
    while vertices[-1] != source:
        vertices.append(int(parents[vertices[-1]]))
    return np.array(vertices[::-1], np.int64)
