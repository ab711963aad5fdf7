"""Ways as a graph: crossings and ends are vertices, the chains between them are arcs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError
from groute_py.graph.csr import Graph
from groute_py.graph.geography import EARTH_RADIUS_M, OPENSTREETMAP, Shapes
from groute_py.kernels.cpu.build import csr_from_arcs
from groute_py.kernels.cpu.chains import chains

METRE_PARTS = 1024
"""Lengths are whole multiples of this part of a metre, so that all their sums are exact."""

MS_FOR_KM_H = 3600.0
"""Milliseconds for a metre at 1 km/h."""


class Ways(NamedTuple):
    """The ways that a profile may take."""

    refs: NDArray[np.int64]  # int64, the ids of the nodes of one way after another
    starts: NDArray[np.int64]  # int64, shape (ways + 1,)
    speeds: NDArray[np.float64]  # shape (ways, 2): km/h along and against; 0 is closed


class Nodes(NamedTuple):
    """Nodes that are there and may be passed."""

    ids: NDArray[np.int64]  # int64, ascending, shape (k,)
    places: NDArray[np.float64]  # shape (k, 2): longitudes and latitudes in degrees


def road_graph(path: Path, name: str, ways: Ways, nodes: Nodes) -> Graph:
    """Return the graph of all ways between nodes that may be passed.

    Its columns are ``time``, int32 milliseconds, which is in use, and ``length``, float64 metres.
    Without any segment it is a `FormatError` that names ``path``.
    """
    ends, speeds = _segments(ways, nodes)
    if not len(ends):
        raise FormatError(path, "has no way that this profile may take between nodes it has")
    metres = _metres(nodes.places[ends[:, 0]], nodes.places[ends[:, 1]])
    order, starts = chains(_followers(ends, speeds > 0, len(nodes.ids)))
    segment, side = order // 2, order % 2
    tails, heads = ends[segment, side], ends[segment, 1 - side]
    lengths = np.add.reduceat(metres[segment], starts[:-1])
    first = (tails[starts[:-1]], heads[starts[1:] - 1])
    arcs = []
    for back in (0, 1):
        km_h = speeds[segment, side ^ back]
        is_open = km_h[starts[:-1]] > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.add.reduceat(MS_FOR_KM_H * metres[segment] / km_h, starts[:-1])
        lines = np.flatnonzero(is_open)
        arcs.append(
            (
                *(first[back][lines], first[1 - back][lines]),
                *(times[lines], lengths[lines], ~lines if back else lines),
            )
        )
    return _graph(
        name,
        nodes,
        [np.concatenate(parts) for parts in zip(*arcs, strict=True)],
        _shapes(nodes, heads, starts),
    )


def _segments(ways: Ways, nodes: Nodes) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Pairs of nodes that follow each other in a way, as places in ``nodes``, and both speeds."""
    count = len(nodes.ids)
    places = np.searchsorted(nodes.ids, ways.refs)
    there = np.zeros(len(places), np.bool_)
    if count:
        there = nodes.ids[np.minimum(places, count - 1)] == ways.refs
    follows = np.ones(max(len(places) - 1, 0), np.bool_)
    inner = ways.starts[1:-1]
    follows[inner[(inner > 0) & (inner < len(places))] - 1] = False
    follows &= there[:-1] & there[1:] & (places[:-1] != places[1:])
    first = np.flatnonzero(follows)
    way = np.searchsorted(ways.starts, first, side="right") - 1
    return _unique(np.stack([places[first], places[first + 1]], axis=1), ways.speeds[way])


def _unique(
    ends: NDArray[np.int64], speeds: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Leave out segments that are there before: ways overlap, or extracts have been merged."""
    is_descending = (ends[:, 0] > ends[:, 1])[:, np.newaxis]
    low, high = np.where(is_descending, ends[:, ::-1], ends).T
    up, down = np.where(is_descending, speeds[:, ::-1], speeds).T
    order = np.lexsort((down, up, high, low))
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = np.any([np.diff(key[order]) != 0 for key in (low, high, up, down)], axis=0)
    first = np.sort(order[is_new])
    return ends[first], speeds[first]


def _metres(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lengths of great circles, by the haversine formula, between degrees of shape (k, 2)."""
    (lon, lat), (lon_2, lat_2) = np.radians(one).T, np.radians(other).T
    half = np.sin((lat_2 - lat) / 2) ** 2
    half += np.cos(lat) * np.cos(lat_2) * np.sin((lon_2 - lon) / 2) ** 2
    return np.asarray(2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(np.minimum(half, 1))))


def _followers(
    ends: NDArray[np.int64], is_open: NDArray[np.bool_], count: int
) -> NDArray[np.int64]:
    """The half-edge behind each, for `chains`; -1 where its head is a vertex.

    A node is none if two segments from two other nodes meet there and both are open the same ways
    through it.
    """
    tails, heads, open_out = ends.reshape(-1), ends[:, ::-1].reshape(-1), is_open.reshape(-1)
    inner = np.bincount(tails, minlength=count) == 2
    half = np.flatnonzero(inner[tails])
    one, other = half[np.argsort(tails[half], kind="stable")].reshape(-1, 2).T
    same = (open_out[one ^ 1] == open_out[other]) & (open_out[other ^ 1] == open_out[one])
    same &= heads[one] != heads[other]
    one, other = one[same], other[same]
    followers = np.full(len(tails), -1)
    followers[one ^ 1], followers[other ^ 1] = other, one
    return followers


def _shapes(nodes: Nodes, heads: NDArray[np.int64], starts: NDArray[np.int64]) -> Any:
    """Offsets and points of the lines: the heads within each chain."""
    inner = np.ones(len(heads), np.bool_)
    inner[starts[1:] - 1] = False
    counts = np.diff(starts) - 1
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), nodes.places[heads[inner]]


def _graph(name: str, nodes: Nodes, arcs: list[NDArray[Any]], shapes: Any) -> Graph:
    """The graph of arcs between nodes, in which only nodes with arcs are vertices."""
    tails, heads, times, lengths, lines = arcs
    vertices, ends = np.unique(np.concatenate([tails, heads]), return_inverse=True)
    tails, heads = ends[: len(tails)], ends[len(tails) :]
    offsets, heads, numbers = csr_from_arcs(len(vertices), tails, heads, np.arange(len(tails)))
    times = np.rint(times[numbers])
    fits = not len(times) or times.max() <= np.iinfo(np.int32).max
    time = times.astype(np.int32 if fits else np.int64)
    length = np.rint(lengths[numbers] * METRE_PARTS) / METRE_PARTS
    graph = Graph.from_arrays(offsets, heads, time, copy=False, name=name)
    return graph.changed(
        ids=nodes.ids[vertices],
        coordinates=nodes.places[vertices],
        columns={"length": length, "time": graph.weights},
        shapes=Shapes(lines[numbers].astype(np.int32 if len(lines) < 2**31 else np.int64), *shapes),
        attribution=OPENSTREETMAP,
    )
