"""Predecessors from distances: every reached vertex is claimed by the tail of a tight arc.

An arc u→v is *tight* when distance[u] + weight = distance[v]. Following tight arcs backwards from v
reaches the source unless they close a cycle, which only arcs between level vertices can (or, with
negative weights, any). So with non-negative weights an arc that is tight and rises claims its head
at once, in any order; along level arcs, and along all arcs with negative weights, only a vertex
that is itself claimed may claim. Then each claim points to a lower or an earlier claimed vertex,
and the claims are a tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.cpu.algebra import extend
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import DIRTY, NEAR

CLAIM_HEAD, CLAIMED_COUNT, CLAIM_DIRTY, CLAIM_CURSORS = range(4)
"""Places in the cursor array, int64."""


class Claims(NamedTuple):
    """Distances, predecessors (int64) and flags of local vertices, and the vertices that wait."""

    distances: Any
    parents: Any
    flags: Any
    claimed: Any  # uint32, (own,), of which ``at`` has the count
    dirty: Any  # uint32, (halo,), likewise
    at: Any
    first: Any  # the global number of the first vertex
    source: Any  # its local number, or −1
    nothing: Any


@kernel
def _queue(claims: Any, vertex: Any) -> None:
    """Queue an owned vertex that is claimed."""
    claims.flags[vertex] |= NEAR
    claims.claimed[claims.at[CLAIMED_COUNT]] = vertex
    claims.at[CLAIMED_COUNT] += 1


@kernel
def _mark(claims: Any, head: Any) -> None:
    """Note that a claim on a halo vertex waits to be sent."""
    claims.flags[head] |= DIRTY
    claims.dirty[claims.at[CLAIM_DIRTY]] = head
    claims.at[CLAIM_DIRTY] += 1


@kernel
def is_tight(base: Any, weight: Any, distance: Any, nothing: Any) -> bool:
    """Return True if an arc to a reached head is tight: a sum may be equal to ``nothing``."""
    return bool(distance != nothing and extend(base, weight) == distance)


@kernel
def claim_rising(arcs: Any, claims: Any) -> bool:
    """Claim along every arc that is tight and rises; True if some tight arc is level."""
    offsets, heads, weights = arcs
    distances, parents, flags = claims.distances, claims.parents, claims.flags
    own, one = np.uint64(len(offsets) - 1), np.uint64(1)
    level = False
    for tail in range(own):
        base = distances[tail]
        if base == claims.nothing:
            continue
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if not is_tight(base, weights[arc], distances[head], claims.nothing):
                continue
            if base == distances[head]:
                level = level or head != tail
            elif parents[head] < 0:
                parents[head] = claims.first + np.int64(tail)
                if head >= own and not flags[head] & DIRTY:
                    _mark(claims, head)
    return level


@kernel
def queue_claimed(claims: Any) -> None:
    """Queue every claimed owned vertex, and the source."""
    for vertex in range(len(claims.claimed)):
        if claims.parents[vertex] >= 0 or vertex == claims.source:
            _queue(claims, vertex)


@kernel
def claim_onward(arcs: Any, claims: Any, budget: Any) -> None:
    """Let queued vertices claim along tight arcs; each is queued once, as its NEAR flag says."""
    offsets, heads, weights = arcs
    distances, parents, at = claims.distances, claims.parents, claims.at
    own, one = np.uint64(len(offsets) - 1), np.uint64(1)
    while at[CLAIM_HEAD] < at[CLAIMED_COUNT] and budget > 0:
        tail = claims.claimed[at[CLAIM_HEAD]]
        at[CLAIM_HEAD] += 1
        base = distances[tail]
        budget -= np.int64(offsets[tail + one] - offsets[tail]) + 1
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if parents[head] >= 0 or head == claims.source:
                continue
            if not is_tight(base, weights[arc], distances[head], claims.nothing):
                continue
            parents[head] = claims.first + np.int64(tail)
            if head < own:
                _queue(claims, head)
            else:
                _mark(claims, head)


@kernel
def merge_claims(vertices: Any, values: Any, tails: Any, claims: Any, onward: Any) -> None:
    """Take claims on owned vertices; with ``onward`` the newly claimed are queued."""
    parents = claims.parents
    for i in range(len(vertices)):
        vertex = vertices[i]
        is_level = values[i] == claims.distances[vertex]
        if parents[vertex] >= 0 or vertex == claims.source or not is_level:
            continue
        parents[vertex] = tails[i]
        if onward and not claims.flags[vertex] & NEAR:
            _queue(claims, vertex)
