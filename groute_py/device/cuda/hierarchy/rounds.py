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

from groute_py.device.base import unreached
from groute_py.device.cuda.graph.csr import places_in, starts_of
from groute_py.device.cuda.hierarchy.memory_plan import CORE
from groute_py.device.cuda.hierarchy.skeleton import Skeleton, joined, skeleton_of
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
    offsets, heads, weights = (cp.asarray(array) for array in (offsets, heads, weights))
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
    begins, ends = skeleton.offsets[:-1], skeleton.offsets[1:]
    degrees = (ends - begins).astype(np.int64)
    longest = int(degrees.max())
    if longest * longest <= MOST_WALKED:
        return
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
        leaving = self._chosen()
        vertices = cp.flatnonzero(leaving).astype(np.uint32)
        slow = len(vertices) * SLOW <= skeleton.count
        if slow or skeleton.mean_degree > TOO_DENSE:
            if skeleton.count > MOST_CORE:
                raise DenseError(skeleton.count, skeleton.mean_degree)
            return False
        self._leave(leaving, vertices)
        return True

    def hierarchy(self) -> Hierarchy:
        """The hierarchy that the rounds have built."""
        core, rounds = self._skeleton, self._rounds
        symmetric = core.symmetric and all(r.up is r.down for r in rounds)
        levels = first_places(core.count, [len(r.vertices) for r in rounds])
        outward = rounds[::-1]
        vertices = cp.concatenate([self._originals, *(r.vertices for r in outward)])
        degrees = cp.concatenate([cp.zeros(core.count, np.uint32), *(r.degrees for r in outward)])
        heads = cp.concatenate([cp.zeros(0, np.uint32), *(r.heads for r in outward)])
        none = core.out[:0]
        down = cp.concatenate([none, *(r.down for r in outward)])
        up = down if symmetric else cp.concatenate([none, *(r.up for r in outward)])
        there = core.out != unreached(np.dtype(core.out.dtype))
        ends = starts_of(there, np.int64)
        return Hierarchy(
            levels=levels,
            vertices=vertices.astype(np.int32),
            offsets=starts_of(degrees, np.int64),
            heads=places_in(vertices, np.int32)[heads],
            down=down,
            up=up,
            core_offsets=ends[core.offsets],
            core_heads=core.heads[there].astype(np.int32),
            core_weights=core.out[there],
        )

    def _run(self, what: str, items: int, *words: Any) -> None:
        """A kernel of which there is one for threads and one for warps."""
        wide = self._skeleton.mean_degree > BY_WARPS
        how, threads = ("warps", 32 * items) if wide else ("threads", items)
        threads = min(threads, MOST_THREADS)  # which numbers of 32 bits count
        self._kernels.run(f"{what}_by_{how}", threads, self._skeleton.struct, *words)

    def _chosen(self) -> Any:
        """uint8, shape (count,): whether each vertex leaves in this round."""
        skeleton, count = self._skeleton, self._skeleton.count
        keys, leaving = cp.empty(count, np.uint64), cp.empty(count, np.uint8)
        self._run("rate", count, self._depths, self._originals, keys)
        self._kernels.run("choose_leaving", count, skeleton.struct, keys, leaving)
        return leaving

    def _leave(self, leaving: Any, vertices: Any) -> None:
        """Take the chosen out, and go on with what is left."""
        skeleton, kernels = self._skeleton, self._kernels
        stays = leaving == 0
        numbers = (cp.cumsum(stays, dtype=np.uint32) - np.uint32(1)).astype(np.uint32)
        shortcuts = self._shortcuts(leaving, vertices, numbers)
        tails = skeleton.tails()
        self._note(vertices, leaving[tails] != 0)
        stay = stays[tails] & stays[skeleton.heads]
        arcs = self._kept_arcs(stay, tails, numbers)
        deeper = cp.empty_like(self._depths)
        kernels.run("deepen", skeleton.count, skeleton.struct, leaving, self._depths, deeper)
        self._originals, self._depths = self._originals[stays], deeper[stays]
        keys, out = (cp.concatenate(pair) for pair in zip(arcs[:2], shortcuts[:2], strict=True))
        in_ = out if skeleton.symmetric else cp.concatenate([arcs[2], shortcuts[2]])
        del arcs, shortcuts, tails, stay
        self._skeleton = joined(kernels, len(self._originals), keys, out, in_)
        if self._skeleton.mean_degree > PRUNED_FROM:
            self._skeleton = self._skeleton.pruned()

    def _kept_arcs(self, stay: Any, tails: Any, numbers: Any) -> tuple[Any, Any, Any]:
        """Keys and weights of the arcs between those that stay."""
        skeleton = self._skeleton
        heads = numbers[skeleton.heads[stay]]
        keys = numbers[tails[stay]].astype(np.uint64) << np.uint64(32) | heads
        out = skeleton.out[stay]
        return keys, out, out if skeleton.symmetric else skeleton.in_[stay]

    def _shortcuts(self, leaving: Any, vertices: Any, numbers: Any) -> tuple[Any, Any, Any]:
        """Keys and weights of the shortcuts, both directions of each."""
        skeleton, listed = self._skeleton, np.uint32(len(vertices))
        counts, overflow = cp.empty(len(vertices), np.uint32), cp.zeros(1, np.uint32)
        self._run("count", len(vertices), leaving, vertices, listed, counts, overflow)
        ends = cp.cumsum(counts, dtype=np.uint32)
        total, overflowed = 2 * int(ends[-1]), bool(overflow[0])
        if overflowed:
            raise NarrowError
        keys, out = cp.empty(total, np.uint64), cp.empty(total, skeleton.out.dtype)
        in_ = out if skeleton.symmetric else cp.empty_like(out)
        if total:
            arrays = {"keys": keys, "out": out, "in": in_}
            to = pointed(
                struct(CONTRACTION, "Shortcuts"), arrays, {"symmetric": skeleton.symmetric}
            )
            self._run("add", len(vertices), leaving, vertices, listed, ends - counts, numbers, to)
        return keys, out, in_

    def _note(self, vertices: Any, gone: Any) -> None:
        """Keep the arcs of those that leave."""
        skeleton = self._skeleton
        degrees = skeleton.offsets[1:] - skeleton.offsets[:-1]
        up = skeleton.out[gone]
        self._rounds.append(
            Round(
                self._originals[vertices],
                degrees[vertices],
                self._originals[skeleton.heads[gone]],
                up,
                up if skeleton.symmetric else skeleton.in_[gone],
            )
        )
