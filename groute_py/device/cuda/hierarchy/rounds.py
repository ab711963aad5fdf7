"""Contraction on a GPU, in rounds of independent sets.

A round rates all vertices, lets those that cost least among their neighbours leave, adds the
shortcuts that keep the distances between the others, and drops arcs that shortcuts made useless.
Without the last step degrees grow: on a road grid of 24 million vertices contraction then stops at
113,000 vertices of 37 neighbours each, with it at 11,000.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cupy as cp
import numpy as np

from groute_py.device.cuda.graph.csr import starts_of
from groute_py.device.cuda.hierarchy.memory_plan import CORE
from groute_py.device.cuda.hierarchy.skeleton import Skeleton, joined, places_of, skeleton_of
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.graph.hierarchy.hierarchy import Hierarchy, first_places
from groute_py.graph.hierarchy.problems import DenseError, NarrowError
from groute_py.kernels.source import CONTRACTION
from groute_py.kernels.structs import struct

MOST_CORE = 1 << 14
"""Vertices of the core at most; its distances take 1 GB then, or 2 GB in 64 bits."""

TOO_DENSE = 40.0
"""Neighbours of a vertex on the mean at which contraction stops."""

MOST_THREADS = 1 << 28
"""Threads of a launch; kernels stride over more items."""

BY_WARPS = 5.0
"""Neighbours of a vertex on the mean from which a warp takes each vertex."""

PRUNED_FROM = 4.0
"""Neighbours of a vertex on the mean from which arcs are pruned."""

MOST_WALKED = 1 << 32
"""Entries of a vertex's row that its neighbours may walk at most in a round, except in a forest."""

SLOW = 256
"""A round in which fewer than one in so many leave is the last, if the core is small enough."""


class Round(NamedTuple):
    """Vertices that left in a round; arrays on the device, in the graph's numbers."""

    vertices: Any  # uint32, ascending
    degrees: Any  # uint32: neighbours of each
    heads: Any  # uint32: these neighbours
    up: Any  # weights of arcs to them; one array with ``down`` if symmetric
    down: Any


def contract(
    offsets: Any, heads: Any, weights: Any, distance_type: np.dtype[Any], core: int = CORE
) -> Hierarchy:
    """Contract a graph without negative weights, of NumPy's or CuPy's arrays, into CuPy's arrays.

    `DenseError` if too much is left when degrees have grown, `NarrowError` if a shortcut does not
    fit.
    """
    skeleton = skeleton_of(offsets, heads, weights, distance_type)
    refuse_hubs(skeleton)
    contraction = Contraction(skeleton)
    while contraction.count > core and contraction.take_round():
        pass
    return contraction.hierarchy()


def refuse_hubs(skeleton: Skeleton) -> None:
    """Raise `DenseError` for a hub of which too many neighbours have others beside it.

    Witnesses and pruning walk along its row for each of these. Leaves have no pair of neighbours,
    and so do not walk. In a forest there is nothing to prune.
    """
    if not len(skeleton.heads) or len(skeleton.heads) < 2 * skeleton.count:
        return
    most = cp.zeros(1, np.uint32)
    skeleton.run("find_longest", skeleton.count, most)
    longest = int(most[0])
    if longest * longest <= MOST_WALKED:
        return
    begins, ends = skeleton.offsets[:-1], skeleton.offsets[1:]
    degrees = (ends - begins).astype(np.int64)
    inner = starts_of(degrees[skeleton.heads] > 1, np.int64)
    if bool((degrees * (inner[ends] - inner[begins]) > MOST_WALKED).any()):
        raise DenseError(skeleton.count, skeleton.mean_degree, longest)


class Contraction:
    """A graph, round by round."""

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton, self._kernels = skeleton, skeleton.kernels
        self._originals = cp.arange(skeleton.count, dtype=np.uint32)
        self._depths = cp.zeros(skeleton.count, np.uint32)
        self._rounds: list[Round] = []

    @property
    def count(self) -> int:
        """Vertices that are left."""
        return self._skeleton.count

    def take_round(self) -> bool:
        """Let vertices leave; False if contraction has come to its end."""
        skeleton = self._skeleton
        leaving, numbers, stay = self._chosen()
        slow = (skeleton.count - stay) * SLOW <= skeleton.count
        if slow or skeleton.mean_degree > TOO_DENSE:
            if skeleton.count > MOST_CORE:
                raise DenseError(skeleton.count, skeleton.mean_degree)
            return False
        self._leave(leaving, numbers, stay)
        return True

    def hierarchy(self) -> Hierarchy:
        """The hierarchy that the rounds have built."""
        core, rounds = self._skeleton.outward(), self._rounds
        symmetric = core.symmetric and all(r.up is r.down for r in rounds)
        levels = first_places(core.count, [len(r.vertices) for r in rounds])
        outward = rounds[::-1]
        vertices = _in_one([self._originals, *(r.vertices for r in outward)])
        degrees = _in_one([cp.zeros(core.count, np.uint32), *(r.degrees for r in outward)])
        none = core.out[:0]
        down = _in_one([none, *(r.down for r in outward)])
        up = down if symmetric else _in_one([none, *(r.up for r in outward)])
        heads = _in_one([core.heads[:0], *(r.heads for r in outward)])
        places = cp.empty_like(vertices)
        count, arcs = len(vertices), len(heads)
        self._kernels.run("find_places", count, vertices, np.uint32(count), places)
        threads = min(arcs, MOST_THREADS)
        self._kernels.run("place_heads", threads, places, heads, np.uint32(arcs))
        return Hierarchy(
            levels=levels,
            vertices=vertices.view(np.int32),
            offsets=starts_of(degrees, np.int64),
            heads=heads.view(np.int32),
            down=down,
            up=up,
            core_offsets=core.offsets.astype(np.int64),
            core_heads=core.heads.view(np.int32),
            core_weights=core.out,
        )

    def _run(self, what: str, items: int, *words: Any) -> None:
        """A kernel of which there is one for threads and one for warps."""
        wide = self._skeleton.mean_degree > BY_WARPS
        how, threads = ("warps", 32 * items) if wide else ("threads", items)
        threads = min(threads, MOST_THREADS)  # which numbers of 32 bits count
        self._kernels.run(f"{what}_by_{how}", threads, self._skeleton.struct, *words)

    def _chosen(self) -> tuple[Any, Any, int]:
        """Choose who leaves: uint8, shape (count,).

        Also return the next numbers of those that stay (uint32, shape (count + 1,): how many stay
        before each), and their number.
        """
        skeleton, count = self._skeleton, self._skeleton.count
        keys, leaving = cp.empty(count, np.uint64), cp.empty(count, np.uint8)
        stays = cp.empty(count, np.uint32)
        self._run("rate", count, self._depths, self._originals, keys)
        skeleton.run("choose_leaving", count, keys, leaving, stays)
        return leaving, *places_of(stays)

    def _leave(self, leaving: Any, numbers: Any, stay: int) -> None:
        """Take the chosen out, and go on with the vertices that stay."""
        skeleton = self._skeleton
        vertices = self._noted(leaving, numbers, skeleton.count - stay)
        keys, out, in_ = self._next_arcs(leaving, vertices, numbers)
        depths, originals = cp.empty(stay, np.uint32), cp.empty(stay, np.uint32)
        words = leaving, numbers, self._depths, self._originals, depths, originals
        skeleton.run("renumber", skeleton.count, *words)
        self._depths, self._originals = depths, originals
        del words, vertices  # before more is made
        self._skeleton = joined(self._kernels, stay, keys, out, in_)
        del keys, out, in_
        if self._skeleton.mean_degree > PRUNED_FROM:
            self._skeleton = self._skeleton.pruned()

    def _noted(self, leaving: Any, numbers: Any, listed: int) -> Any:
        """Keep those that leave, with their arcs; uint32, shape (listed,): their numbers."""
        skeleton = self._skeleton
        vertices, originals, degrees = (cp.empty(listed, np.uint32) for _ in range(3))
        listing = leaving, numbers, self._originals, vertices, originals, degrees
        skeleton.run("list_leaving", skeleton.count, *listing)
        starts, arcs = places_of(degrees)
        heads, up = cp.empty(arcs, np.uint32), cp.empty(arcs, skeleton.out.dtype)
        down = up if skeleton.symmetric else cp.empty_like(up)
        words = vertices, np.uint32(listed), starts, self._originals, heads, up, down
        skeleton.run("list_upward", listed, *words)
        self._rounds.append(Round(originals, degrees, heads, up, down))
        return vertices

    def _next_arcs(self, leaving: Any, vertices: Any, numbers: Any) -> tuple[Any, Any, Any]:
        """Keys and weights of the arcs between those that stay, and of shortcuts behind them."""
        skeleton = self._skeleton
        starts, shortcuts = self._shortcuts(leaving, vertices)
        tails, arcs = skeleton.tails(), len(skeleton.heads)
        marks = cp.empty(arcs, np.uint32)
        skeleton.run("mark_staying", arcs, leaving, tails, np.uint32(arcs), marks)
        places, count = places_of(marks)
        total = count + shortcuts
        keys, out = cp.empty(total, np.uint64), cp.empty(total, skeleton.out.dtype)
        in_ = out if skeleton.symmetric else cp.empty_like(out)
        words = tails, np.uint32(arcs), places, numbers, keys, out, in_
        skeleton.run("list_staying", arcs, *words)
        if shortcuts:
            arrays = {"keys": keys[count:], "out": out[count:], "in": in_[count:]}
            to = pointed(
                struct(CONTRACTION, "Shortcuts"), arrays, {"symmetric": skeleton.symmetric}
            )
            listed = np.uint32(len(vertices))
            self._run("add", len(vertices), leaving, vertices, listed, starts, numbers, to)
        return keys, out, in_

    def _shortcuts(self, leaving: Any, vertices: Any) -> tuple[Any, int]:
        """Return where the shortcuts of each vertex begin, and their number in both directions."""
        counts, overflow = cp.empty(len(vertices), np.uint32), cp.zeros(1, np.uint32)
        listed = np.uint32(len(vertices))
        self._run("count", len(vertices), leaving, vertices, listed, counts, overflow)
        starts, count = places_of(counts)
        if int(overflow[0]):
            raise NarrowError
        return starts, 2 * count


def _in_one(parts: list[Any]) -> Any:
    """Copy arrays behind each other; CuPy's own function would be compiled first."""
    whole, end = cp.empty(sum(map(len, parts)), parts[0].dtype), 0
    for part in parts:
        begin, end = end, end + len(part)
        whole[begin:end] = part
    return whole
