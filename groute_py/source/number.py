"""Vertex indices for the ids of a file that all ranks have read together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.graph.builder import INT32, INT64
from groute_py.graph.ids import Numbering, fits_table
from groute_py.io.rank_piece import Piece
from groute_py.kernels.cpu.build import index_type


class Numbered(NamedTuple):
    """A rank's arcs between indices, shape (m,), and the numbering of all vertices."""

    numbering: Numbering
    tails: NDArray[Any]
    heads: NDArray[Any]


def number_together(channel: Channel, piece: Piece) -> Numbered | None:
    """Number the vertices as a single reader would; the same on every rank. Collective.

    None where something is not as the file says, or where a table of all ids would be too large.
    """
    arcs = sum(channel.gather(len(piece.tails)))
    if arcs == 0 or piece.arc_count not in (None, arcs):
        return None
    ends = channel.gather(_ends(piece))
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    vertices = piece.vertices
    if vertices is None and piece.vertex_count is not None:
        vertices = range(min(1, low), min(1, low) + piece.vertex_count)
    if vertices is not None:
        inside = vertices.start <= low and high < vertices.stop
        return _counted(piece, vertices) if inside else None
    if high - low > INT32.max or not fits_table(high - low, 2 * arcs):
        return None
    seen = _seen_by_any(channel, piece, range(low, high + 1))
    return _counted(piece, range(low, high + 1)) if seen.all() else _listed(piece, low, seen)


def _ends(piece: Piece) -> tuple[int, int]:
    """The least and the greatest id."""
    columns = [column for column in (piece.tails, piece.heads) if len(column)]
    low = min((int(column.min()) + piece.least for column in columns), default=INT64.max)
    high = max((int(column.max()) + piece.least for column in columns), default=INT64.min)
    return int(low), int(high)


def _counted(piece: Piece, vertices: range) -> Numbered:
    """Number ids that count upwards; in the place of the piece's arrays where that can be."""
    shift, kind = vertices.start - piece.least, index_type(len(vertices))
    ends = [_lowered(column, shift).astype(kind, copy=False) for column in piece[1:3]]
    return Numbered(Numbering(len(vertices), vertices.start), *ends)


def _listed(piece: Piece, low: int, seen: NDArray[np.bool_]) -> Numbered:
    """Number ids that have gaps."""
    ids = np.flatnonzero(seen)
    places = np.cumsum(seen, dtype=index_type(len(ids))) - 1
    ends = [places[_lowered(column, low - piece.least)] for column in piece[1:3]]
    return Numbered(Numbering(len(ids), ids=ids + low), *ends)


def _lowered(column: NDArray[Any], shift: int) -> NDArray[Any]:
    if shift < 0:  # what is below zero may not fit once it is not
        column = column.astype(np.int64, copy=False)
    if shift and len(column):  # of none the type may be too small for the shift
        column -= shift
    return column


def _seen_by_any(channel: Channel, piece: Piece, ids: range) -> NDArray[np.bool_]:
    """Return which of these ids have an arc on some rank."""
    seen = np.zeros(len(ids), np.bool_)
    for column in piece[1:3]:
        seen[np.subtract(column, ids.start - piece.least, dtype=np.int64)] = True
    mine = channel.exchange(np.array_split(seen, channel.size))
    return np.concatenate(channel.gather(np.any(mine, axis=0)))
