"""A contraction hierarchy: the vertices in levels, each with arcs that lead upward.

Contraction takes vertices out of a graph in rounds of independent sets and adds *shortcuts*, so
that distances between the vertices that are left stay the same (Geisberger et al., "Exact routing
in large road networks using contraction hierarchies", 2012). What is left at the end is the *core*.
A shortest path then leads upward, through the core, and downward. So a tree from a source takes a
search upward, the core, and one sweep over the levels from the core outward, in which each vertex
looks at its arcs upward only (PHAST: Delling, Goldberg, Nowatzyk and Werneck, "PHAST:
Hardware-accelerated shortest path trees", 2013).

Vertices are numbered by *places*: those of the core first, then level by level outward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.arrays import on_device

ROWS = ("vertices", "offsets", "heads", "down", "up")
CORE = ("core_offsets", "core_heads", "core_weights")
ARRAYS = (*ROWS, *CORE)
"""The arrays by name."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A contraction hierarchy of a graph with n vertices; arrays of NumPy, or all of CuPy.

    A weight is `unreached` of its type where an arc leads in the other direction only.

    Attributes:
        levels: first places of the levels, then n. Level 0 is the core, so ``levels[1]`` is the
            number of its vertices; it may be empty.
        vertices: int32, shape (n,): the vertex at each place.
        offsets: int64, shape (n + 1,): where the arcs upward of each place begin; those of the core
            have none.
        heads: int32, shape (a,): places, each in a level before that of the tail.
        down: shape (a,), int32 or int64: the weight of the path from the head to the tail.
        up: shape (a,): that of the path from the tail to the head; the same array as ``down`` if
            the graph is symmetric.
        core_offsets, core_heads, core_weights: the arcs between vertices of the core in CSR form,
            int64, int32 and the type of the weights.
    """

    levels: tuple[int, ...]
    vertices: NDArray[np.int32]
    offsets: NDArray[np.int64]
    heads: NDArray[np.int32]
    down: NDArray[Any]
    up: NDArray[Any]
    core_offsets: NDArray[np.int64]
    core_heads: NDArray[np.int32]
    core_weights: NDArray[Any]

    @classmethod
    def of_core(cls, offsets: NDArray[Any], heads: NDArray[Any], weights: NDArray[Any]) -> Self:
        """Return that of a graph none of whose vertices is contracted: all are the core."""
        count, none = len(offsets) - 1, weights[:0]
        rows = np.zeros(count + 1, np.int64), heads[:0], none, none
        return cls((0, count), np.arange(count, dtype=np.int32), *rows, offsets, heads, weights)

    @property
    def vertex_count(self) -> int:
        """The number of vertices, n."""
        return len(self.vertices)

    @property
    def arc_count(self) -> int:
        """Arcs upward."""
        return len(self.heads)

    @property
    def core_count(self) -> int:
        """Vertices of the core."""
        return self.levels[1]

    @property
    def type(self) -> np.dtype[Any]:
        """Type of the weights."""
        return np.dtype(self.down.dtype)

    @property
    def is_symmetric(self) -> bool:
        """True if every path weighs as much in the other direction."""
        return self.up is self.down

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = {id(array): array for array in (getattr(self, name) for name in ARRAYS)}
        return sum(array.nbytes for array in arrays.values())

    def to_host(self) -> Hierarchy:
        """The same with NumPy's arrays."""
        if not on_device(self.vertices):
            return self
        arrays: dict[str, Any] = {name: getattr(self, name).get() for name in ARRAYS}
        if self.is_symmetric:
            arrays["up"] = arrays["down"]
        return replace(self, **arrays)

    def reversed(self) -> Hierarchy:
        """Return that of the reversed graph, in host memory; most arrays are shared.

        A shortcut stands for a path, and the reversed path weighs as much. So what led up leads
        down, and the arcs within the core are transposed.
        """
        from groute_py.graph.tails import transposed  # which compiles

        host = self.to_host()
        core = transposed(host.core_offsets, host.core_heads, host.core_weights)
        more: dict[str, Any] = dict(zip(CORE, core, strict=True))
        return replace(host, down=host.up, up=host.down, **more)

    def with_root(self, heads: NDArray[Any]) -> Hierarchy:
        """Return that of the graph with vertex n added, with an arc of weight 0 to each head.

        The root has no arc that leads to it, and so is on no path between others: it is contracted
        before all of them without a shortcut, and is a level of its own behind theirs.
        """
        host = self.to_host()
        count = host.vertex_count
        places = np.empty(count, np.int32)
        places[host.vertices] = np.arange(count, dtype=np.int32)
        ends = np.unique(places[heads])
        nothing = np.full(len(ends), np.iinfo(self.type).max, self.type)
        return replace(
            host,
            levels=(*host.levels, count + 1),
            vertices=np.append(host.vertices, np.int32(count)),
            offsets=np.append(host.offsets, host.arc_count + len(ends)),
            heads=np.concatenate([host.heads, ends]),
            down=np.concatenate([host.down, nothing]),
            up=np.concatenate([host.up, np.zeros_like(nothing)]),
        )


def first_places(core: int, rounds: Sequence[int]) -> tuple[int, ...]:
    """Return the first places of levels, and n, from the vertices that each round took out.

    >>> first_places(2, [5, 3])
    (0, 2, 5, 10)
    """
    places = [0, core]
    for count in reversed(rounds):
        places.append(places[-1] + count)
    return tuple(places)
