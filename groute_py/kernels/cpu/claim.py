"""Predecessors from distances: every reached vertex is claimed by the tail of a tight arc.

An arc u→v is *tight* when distance[u] + weight = distance[v]. Following tight arcs backwards from v
reaches the source unless they close a cycle, which only arcs between level vertices can (or, with
negative weights, any). So with non-negative weights an arc that is tight and rises claims its head
at once, in any order; along level arcs, and along all arcs with negative weights, only a vertex
that is itself claimed may claim. Then each claim points to a lower or an earlier claimed vertex,
and the claims are a tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import DIRTY, NEAR

CLAIM_HEAD, CLAIMED_COUNT, CLAIM_DIRTY, CLAIM_CURSORS = range(4)
"""Places in the cursor array, int64."""


@kernel
def _is_tight(base: Any, weight: Any, distance: Any, nothing: Any) -> bool:
    """Return True if an arc to a reached head is tight: a sum may be equal to ``nothing``."""
    return bool(distance != nothing and base + weight == distance)


@kernel
def claim_rising(
    arcs: Any,
    distances: Any,
    parents: Any,
    flags: Any,
    dirty: Any,
    at: Any,
    first: Any,
    nothing: Any,
) -> bool:
    """Claim along every arc that is tight and rises; True if some tight arc is level."""
    offsets, heads, weights = arcs
    own, one = np.uint64(len(offsets) - 1), np.uint64(1)
    level = False
    for tail in range(own):
        base = distances[tail]
        if base == nothing:
            continue
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if not _is_tight(base, weights[arc], distances[head], nothing):
                continue
            if base == distances[head]:
                level = level or head != tail
            elif parents[head] < 0:
                parents[head] = first + np.int64(tail)
                if head >= own and not flags[head] & DIRTY:
                    flags[head] |= DIRTY
                    dirty[at[CLAIM_DIRTY]] = head
                    at[CLAIM_DIRTY] += 1
    return level


@kernel
def queue_claimed(parents: Any, source: Any, claimed: Any, flags: Any, at: Any) -> None:
    """Queue every claimed owned vertex, and the source (local number, or −1)."""
    for vertex in range(len(claimed)):
        if parents[vertex] >= 0 or vertex == source:
            flags[vertex] |= NEAR
            claimed[at[CLAIMED_COUNT]] = vertex
            at[CLAIMED_COUNT] += 1


@kernel
def claim_onward(
    arcs: Any,
    distances: Any,
    parents: Any,
    flags: Any,
    claimed: Any,
    dirty: Any,
    at: Any,
    first: Any,
    nothing: Any,
    source: Any,
    budget: Any,
) -> None:
    """Let queued vertices claim along tight arcs; each is queued once, as its NEAR flag says."""
    offsets, heads, weights = arcs
    own, one = np.uint64(len(offsets) - 1), np.uint64(1)
    while at[CLAIM_HEAD] < at[CLAIMED_COUNT] and budget > 0:
        tail = claimed[at[CLAIM_HEAD]]
        at[CLAIM_HEAD] += 1
        base = distances[tail]
        budget -= np.int64(offsets[tail + one] - offsets[tail]) + 1
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if parents[head] >= 0 or head == source:
                continue
            if not _is_tight(base, weights[arc], distances[head], nothing):
                continue
            parents[head] = first + np.int64(tail)
            if head < own:
                flags[head] |= NEAR
                claimed[at[CLAIMED_COUNT]] = head
                at[CLAIMED_COUNT] += 1
            else:
                flags[head] |= DIRTY
                dirty[at[CLAIM_DIRTY]] = head
                at[CLAIM_DIRTY] += 1


@kernel
def merge_claims(
    vertices: Any,
    values: Any,
    tails: Any,
    distances: Any,
    parents: Any,
    flags: Any,
    claimed: Any,
    at: Any,
    source: Any,
    onward: Any,
) -> None:
    """Take claims on owned vertices; with ``onward`` the newly claimed are queued."""
    for i in range(len(vertices)):
        vertex = vertices[i]
        if parents[vertex] >= 0 or vertex == source or values[i] != distances[vertex]:
            continue
        parents[vertex] = tails[i]
        if onward and not flags[vertex] & NEAR:
            flags[vertex] |= NEAR
            claimed[at[CLAIMED_COUNT]] = vertex
            at[CLAIMED_COUNT] += 1
