"""``tiles:4x5x30:NW``: copies of a topology in rows and columns, a stand-in for a continent.

So many roads lead from each copy to each next to it, from random vertices to random vertices.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import topology
from groute_py import Graph
from groute_py.errors import InputError
from groute_py.graph.hierarchy.separators.customizable import order_by_separators

SEED = 11


@dataclass(frozen=True)
class Tiles:
    """The copies, by the numbers of their name, and that name."""

    rows: int
    columns: int
    roads: int
    one: str
    name: str

    @classmethod
    def of(cls, name: str) -> Tiles:
        """Parse a name.

        Raises:
            InputError: it is of another form.
        """
        parts = re.fullmatch(r"tiles:(\d+)x(\d+)x(\d+):(\w+)", name)
        if parts is None:
            form = "tiles:ROWSxCOLUMNSxROADS:TOPOLOGY"
            raise InputError(f"case {name!r} is unknown; copies of a topology are {form}")
        rows, columns, roads = map(int, parts.groups()[:3])
        return cls(rows, columns, roads, parts[4], name)

    def graph(self) -> Graph:
        """The copies and the roads between them.

        Raises:
            SkippedError: there is no file of the topology.
        """
        one = topology(self.one)
        copies = np.arange(self.rows * self.columns)
        begins, ends = self._roads(one.vertex_count)
        longer = np.random.default_rng(SEED).integers(1000, 100_000, len(begins), np.int32)
        tails, heads = np.concatenate([begins, ends]), np.concatenate([ends, begins])
        by_tail = np.argsort(tails, kind="stable")
        offsets = np.add.outer(one.arc_count * copies, one.offsets[:-1]).ravel()
        offsets = np.append(offsets, one.arc_count * len(copies))
        places = offsets[tails[by_tail] + 1]
        within = np.add.outer(one.vertex_count * copies, one.heads).ravel().astype(np.int32)
        weights = np.tile(one.weights, len(copies))
        return Graph(
            offsets + np.searchsorted(tails[by_tail], np.arange(len(offsets))),
            np.insert(within, places, heads[by_tail].astype(np.int32)),
            np.insert(weights, places, np.tile(longer, 2)[by_tail]),
            name=self.name,
        )

    def order(self) -> NDArray[np.int32]:
        """Each copy in the order of one, and at last a separator of the roads, by halving."""
        one = order_by_separators(topology(self.one))
        begins, _ = self._roads(len(one))
        _, first = np.unique(begins, return_index=True)
        separator = begins[np.sort(first)]
        inner = np.add.outer(len(one) * np.arange(self.rows * self.columns), one).ravel()
        is_inner = np.ones(len(inner), np.bool_)
        is_inner[separator] = False
        return np.concatenate([inner[is_inner[inner]], separator]).astype(np.int32)

    def _roads(self, count: int) -> NDArray[np.int64]:
        """Both ends of each road between copies of so many vertices: shape (2, k).

        Roads across a half of the copies come after those within its halves.
        """
        copies = np.arange(self.rows * self.columns).reshape(self.rows, self.columns)
        beside = np.repeat(np.concatenate(_halves(copies), axis=1), self.roads, axis=1)
        return beside * count + np.random.default_rng(SEED).integers(0, count, beside.shape)


def _halves(copies: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Pairs of copies next to each other, (2, k): those in both halves, then those between."""
    if copies.size == 1:
        return [np.empty((2, 0), np.int64)]
    axis = int(copies.shape[1] >= copies.shape[0])
    one, other = np.split(copies, [copies.shape[axis] // 2], axis)
    between = np.stack([one.take(-1, axis), other.take(0, axis)])
    return [*_halves(one), *_halves(other), between]
