"""Real graphs come with answers: what tests of them share.

A digest is the SHA-256 of the int64 little-endian distances in vertex order, −1 for unreachable.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from groute_py import UNREACHED, Graph


def digest(distances: Any) -> str:
    plain = np.where(distances == UNREACHED, -1, distances).astype("<i8")
    return hashlib.sha256(plain.tobytes()).hexdigest()


def from_arcs(count: int, tails: Any, heads: Any, weights: Any) -> Graph:
    """A graph from arcs in any order."""
    order = np.argsort(tails, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=count))])
    return Graph.from_arrays(offsets, np.asarray(heads)[order], np.asarray(weights)[order])


class Answer(NamedTuple):
    """What README.md of the data says of one source, in the file's numbering."""

    source: int
    total: int
    greatest: int
    digest: str


def check(distances: Any, answer: Answer) -> None:
    assert int(distances.sum()) == answer.total
    assert int(distances.max()) == answer.greatest
    assert digest(distances) == answer.digest


def length(graph: Graph, path: list[int]) -> int:
    """The sum of the lightest arcs from vertex to vertex; fails where there is none."""
    total = 0
    for tail, head in pairwise(path):
        row = slice(graph.offsets[tail], graph.offsets[tail + 1])
        total += int(graph.weights[row][graph.heads[row] == head].min())
    return total
