"""Vertices on roads where points are nearest to them, so that paths begin and end there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, check_number, check_truth, quote, quoted
from groute_py.graph.csr import Graph, GraphLike, of_arcs
from groute_py.graph.geography import Shapes
from groute_py.graph.hierarchy.extension import extended
from groute_py.graph.hierarchy.prepared import PreparedGraph
from groute_py.graph.units import per_metre, speed_of
from groute_py.io.optional_libraries import library
from groute_py.kernels.cpu.build import csr_from_arcs
from groute_py.maps.lines import Floats, Ground, Indices, Pieces, Segments, segments_of, whole_arcs
from groute_py.maps.places import Coordinates, Places, Plane, as_points, places_of, shapes_at
from groute_py.maps.snap import SNAPPING, feet_on, most_connected, nearest_vertices
from groute_py.source.graph_source import GraphSource

ONE_PLACE = 1e-6
"""Share of a road's length within which two feet are one, and one that near an end is the end."""

GREAT = 2.0**62  # weights of ways are less

SLACK = 1.01
"""The factor of lengths, which a projection changes, by which more segments are compared."""


class Cuts(NamedTuple):
    """The places at which arcs are cut; an arc may have several."""

    arcs: Indices  # (q,)
    shares: Floats  # (q,), how far along the arc, more than 0 and less than 1
    vertices: Indices  # (q,), from n on
    coordinates: Floats  # (p, 2) of the new vertices


def add_points(
    graph: GraphLike,
    points: Any,
    coordinates: Coordinates = None,
    *,
    planar: bool = False,
    access: float | str | None = None,
) -> Graph:
    """Add a vertex to a graph wherever one of some points is nearest to an arc, and cut arcs there.

    `groute_py.Points` of the same places then stand for these vertices: paths begin and end on the
    roads that pass the points, not at their ends. A weight, and each column, is divided as the
    arc's length is (integers by rounding), and the sum stays. Roads are arcs of the greatest
    strongly connected component, as `groute_py.snap` takes it. Not collective.

    Args:
        graph, points, coordinates, planar: as for `groute_py.snap`.
        access: count the way from a point to its road, in a straight line: the weight of a metre
            (on a plane of its unit), or a speed such as ``"5km/h"`` if the weights have a unit. The
            added vertices are the points then, each with an arc to its road and one back. Columns
            in metres or miles count their length, with a speed those of time the time, others 0.

    Returns:
        A graph with coordinates, which is prepared if the graph was, but not with ``access``. The
        vertices that it had come
        first, with their ids; new ids are the integers above these (the least that are free if
        int64 has none above), or ``point 1`` and so on.

    Raises:
        InputError, FormatError, SetupError: as for `groute_py.snap`.

    >>> corners, path = np.array([[0.0, 0], [10, 0], [10, 10]]), ([0, 1, 2, 2], [1, 2], [40, 30])
    >>> roads = add_points(path, [[4, 1]], corners, planar=True)
    >>> roads.coordinates[3].tolist(), roads.weights.tolist(), roads.heads.tolist()
    ([4.0, 0.0], [16, 30, 24], [3, 2, 1])
    """
    check_truth("planar", planar)
    whole = GraphSource(graph).graph().to_host()
    places, spots = places_of(whole, coordinates, planar=planar, beside=graph), as_points(points)
    if access is not None:
        check_access(access)
    cut = with_points(whole, places, spots)
    if access is None:
        return cut
    assert cut.coordinates is not None
    own, among = Places(cut.coordinates, planar), most_connected(cut)
    nearest_vertices(own, Places(spots, planar), None, among, name_of=str)  # none is too far
    return with_ways(cut, Places(spots, planar), access)


def check_access(access: Any) -> None:
    """Raise `InputError` for a value that is no weight of a metre, and no speed."""
    if isinstance(access, str) and speed_of(access) is None:
        raise InputError(f"access: {quote(access)} is no speed; write it as 5km/h")
    if not isinstance(access, str):
        check_number("access", access)
        if not 0 <= access < np.inf:
            raise InputError(f"access: the weight of a metre must be 0 or more, not {access}")


def with_ways(graph: Graph, points: Places, access: float | str) -> Graph:
    """Add a vertex at each point, with an arc to the nearest vertex and one back."""
    assert graph.coordinates is not None
    spots = Places(np.unique(points.coordinates, axis=0), points.planar)
    own, most = Places(graph.coordinates, points.planar), np.finfo(float).max
    feet, metres = nearest_vertices(own, spots, most, most_connected(graph), name_of=str)
    apart = metres > 0
    feet, metres, count = feet[apart], metres[apart], graph.vertex_count + int(apart.sum())
    new = np.arange(graph.vertex_count, count)
    tails = np.concatenate([graph.tails(), feet, new])
    heads = np.concatenate([graph.heads, new, feet])
    offsets, heads, order = csr_from_arcs(count, tails, heads, np.arange(len(tails)))

    def more(values: NDArray[Any], rate: float) -> NDArray[Any]:
        ways = np.tile(metres * rate, 2)
        if not ways.max(initial=0) < GREAT:
            raise InputError(f"access: a way of {metres.max():,.6g} would weigh {ways.max():.6g}")
        kind = values.dtype
        if kind.kind != "f":
            ways = np.rint(ways)
            kind = kind if ways.max(initial=0) <= np.iinfo(kind).max else np.dtype(np.int64)
        return np.asarray(np.concatenate([values, ways.astype(kind)])[order])

    rate, rates = _rates(graph, access)
    weights = more(graph.weights, rate)
    shapes = graph.shapes
    if shapes is not None:
        straight = np.full(2 * len(new), len(shapes.offsets) - 1, shapes.lines.dtype)
        lines = np.concatenate([shapes.lines, straight])[order]
        shapes = Shapes(lines, np.append(shapes.offsets, shapes.offsets[-1]), shapes.points)
    return graph.changed(
        **{"offsets": offsets, "heads": heads, "weights": weights, "shapes": shapes},
        columns={
            name: weights if column is graph.weights else more(column, rates[name])
            for name, column in graph.columns.items()
        },
        coordinates=np.concatenate([graph.coordinates, spots.coordinates[apart]]),
        ids=_ids(graph, len(new)),
    )


def _rates(graph: Graph, access: float | str) -> tuple[float, dict[str, float]]:
    """The weight of a metre, and its number in each column."""
    speed, units = speed_of(access) if isinstance(access, str) else None, graph.units
    rates = {name: per_metre(speed or np.inf, units.get(name, "")) or 0.0 for name in graph.columns}
    own = access if speed is None else per_metre(speed, graph.unit)
    if own is None:
        raise InputError(
            f"access: the unit of the weights of {quoted(graph.name)} is not known; give the "
            "weight of a metre in the place of a speed"
        )
    return float(own), rates


def with_points(graph: Graph, places: Places, points: Floats) -> Graph:
    """Add vertices to a graph in host memory whose places are known; as `add_points`."""
    scale = (1.0, 1.0) if places.planar else None
    ground = Ground(places.coordinates, shapes_at(graph, places), scale)
    cuts = _cuts(graph, ground, places, Places(np.unique(points, axis=0), places.planar))
    own = graph.changed(coordinates=places.coordinates, shapes=ground.shapes)
    cut = _cut(own, ground, cuts) if len(cuts.arcs) else own
    return _prepared(graph, cut) if isinstance(graph, PreparedGraph) else cut


def _prepared(graph: PreparedGraph, cut: Graph) -> Graph:
    """The cut graph with the hierarchy of the graph, unless parallel arcs cross at cuts."""
    first, tails = graph.vertex_count, cut.tails()
    new = np.flatnonzero((tails >= first) | (cut.heads >= first))
    count = cut.vertex_count - first
    arcs = tails[new], cut.heads[new], cut.weights[new]
    hierarchy, between = extended(graph.hierarchy, count, arcs)
    for ends, weight in between.items():
        arc = graph.lightest_arc(*ends)
        if arc is None or graph.weights[arc] > weight:
            return cut
    order = graph.order
    if order is not None:
        order = np.concatenate([np.arange(first, first + count, dtype=np.int32), order])
    return PreparedGraph(cut, hierarchy, order=order)


def _cuts(graph: Graph, ground: Ground, places: Places, points: Places) -> Cuts:
    """Find the nearest roads of points, with the arcs of both directions between two vertices."""
    tails, among = graph.tails(), most_connected(graph)
    is_road = np.full(graph.vertex_count, among is None)
    is_road[among] = True
    roads = np.flatnonzero(is_road[tails] & is_road[graph.heads])
    arcs = whole_arcs(tails[roads], graph.heads[roads], roads)
    segments = segments_of(arcs, ground)
    near = _near(places, points, segments, among)
    cuts: list[tuple[Indices, Floats]] = []
    coordinates: list[Floats] = []
    for point, some in zip(points.coordinates, near, strict=True):
        plane = Plane(None if places.planar else (float(point[0]), float(point[1])))
        feet, along, lengths = feet_on(segments.ends[some], point, plane)
        distances = np.hypot(*feet.T)
        if np.isinf(distances.min(initial=np.inf)):
            continue
        best = int(distances.argmin())
        low, high = segments.shares[some].T
        shares, pieces = low + along * (high - low), segments.pieces[some]
        ends = np.sort([arcs.tails[pieces], arcs.heads[pieces]], axis=0)
        is_same = np.hypot(*(feet - feet[best]).T) <= ONE_PLACE * lengths[best]
        is_same &= (ends == ends[:, best : best + 1]).all(axis=0)
        if ONE_PLACE < shares[best] < 1 - ONE_PLACE:  # else the foot is a vertex
            pieces, first = np.unique(pieces[is_same], return_index=True)
            cuts.append((roads[pieces], shares[is_same][first]))
            coordinates.append(plane.unproject(feet[best] + plane.project(point)))
    apart = _apart(cuts)
    cuts = [cuts[number] for number in apart]
    counts = [len(of) for of, _ in cuts]
    return Cuts(
        np.concatenate([np.empty(0, np.int64), *(of for of, _ in cuts)]),
        np.concatenate([np.empty(0), *(shares for _, shares in cuts)]),
        graph.vertex_count + np.repeat(np.arange(len(cuts)), counts),
        Plane(None if places.planar else (0.0, 0.0)).unwrapped(
            np.reshape(coordinates, (-1, 2))[apart]
        ),
    )


def _apart(cuts: list[tuple[Indices, Floats]]) -> Indices:
    """The numbers of cuts, one of each place: both directions of a road then have one order."""
    arcs = np.array([of[0] for of, _ in cuts], np.int64)
    shares = np.array([of[0] for _, of in cuts])
    order = np.lexsort((shares, arcs))
    apart = np.diff(shares[order], prepend=0) > ONE_PLACE
    is_first = apart | (np.diff(arcs[order], prepend=-1) != 0)
    return np.asarray(order[is_first])


def _near(
    places: Places, points: Places, segments: Segments, among: Indices | None
) -> list[Indices]:
    """The segments that may be nearer to each point than the nearest vertex, or as near.

    Segments are found by their middles, those of about one length together.
    """
    tree_of = library("scipy.spatial", SNAPPING, "maps").cKDTree
    corners = [Places(segments.ends[:, end], places.planar).embedded for end in (0, 1)]
    middles = Places(segments.ends.mean(axis=1), places.planar).embedded
    halves = np.max([np.linalg.norm(middles - ends, axis=1) for ends in corners], axis=0)
    vertices = nearest_vertices(places, points, np.finfo(float).max, among, name_of=str).vertices
    spots = points.embedded
    reach = SLACK * np.linalg.norm(places.embedded[vertices] - spots, axis=1)
    near: list[list[Indices]] = [[np.empty(0, np.int64)] for _ in spots]
    sizes = np.frexp(halves)[1]
    for size in np.unique(sizes):
        some = np.flatnonzero(sizes == size)
        radius = reach + SLACK * halves[some].max()
        for number, hits in enumerate(tree_of(middles[some]).query_ball_point(spots, radius)):
            near[number].append(some[np.array(hits, np.int64)])
    return [np.sort(np.concatenate(parts)) for parts in near]


def _cut(graph: Graph, ground: Ground, cuts: Cuts) -> Graph:
    """Replace arcs by their parts between cuts."""
    order = np.lexsort((cuts.shares, cuts.arcs))
    arcs, shares, vertices = cuts.arcs[order], cuts.shares[order], cuts.vertices[order]
    firsts = np.flatnonzero(np.diff(arcs, prepend=-1))
    stops, cut = np.append(firsts[1:], len(arcs)), arcs[firsts]
    whole = np.delete(np.arange(graph.arc_count), cut)
    tails, heads = graph.tails(), graph.heads.astype(np.int64)
    origins = np.concatenate([whole, np.insert(arcs, firsts, cut)])
    begins = np.concatenate([np.zeros(len(whole)), np.insert(shares, firsts, 0.0)])
    ends = np.concatenate([np.ones(len(whole)), np.insert(shares, stops, 1.0)])
    new_tails = np.concatenate([tails[whole], np.insert(vertices, firsts, tails[cut])])
    new_heads = np.concatenate([heads[whole], np.insert(vertices, stops, heads[cut])])
    count = graph.vertex_count + len(cuts.coordinates)
    numbers = np.arange(len(origins))
    offsets, heads, numbers = csr_from_arcs(count, new_tails, new_heads, numbers)
    origins, begins, ends = origins[numbers], begins[numbers], ends[numbers]
    more = of_arcs(graph, origins)
    weights = _between(more["weights"], begins, ends)
    more["columns"] = {
        name: weights if column is more["weights"] else _between(column, begins, ends)
        for name, column in more["columns"].items()
    }
    assert graph.coordinates is not None
    if graph.shapes is not None:
        bands = np.zeros(len(origins), np.int64)
        pieces = Pieces(tails[origins], graph.heads[origins], begins, ends, bands, origins)
        more["shapes"] = _shapes(graph.shapes, pieces, ground)
    return graph.changed(
        **{"offsets": offsets, "heads": heads, **more, "weights": weights},
        coordinates=np.concatenate([graph.coordinates, cuts.coordinates]),
        ids=_ids(graph, len(cuts.coordinates)),
    )


def _between(values: NDArray[Any], begins: Floats, ends: Floats) -> NDArray[Any]:
    """The parts of values between two shares; those of one value add up to it."""

    def up_to(shares: Floats) -> NDArray[Any]:
        parts = values * np.where(shares < 1, shares, 0)
        parts = parts if values.dtype.kind == "f" else np.rint(parts)
        limits = np.minimum(values, 0), np.maximum(values, 0)
        return np.where(shares < 1, np.clip(parts.astype(values.dtype), *limits), values)

    return np.asarray(up_to(ends) - up_to(begins), values.dtype)


def _shapes(shapes: Shapes, pieces: Pieces, ground: Ground) -> Shapes:
    """The shapes of parts of arcs, of which whole arcs keep their lines."""
    parts = np.flatnonzero((pieces.begins > 0) | (pieces.ends < 1))
    segments = segments_of(pieces.some(parts), ground)
    is_last = np.diff(segments.pieces, append=-1) != 0
    counts = np.maximum(np.bincount(segments.pieces, minlength=len(parts)) - 1, 0)
    lines = shapes.lines[pieces.arcs].astype(np.int64)
    lines[parts] = len(shapes.offsets) - 1 + np.arange(len(parts))
    offsets = np.concatenate([shapes.offsets, shapes.offsets[-1] + np.cumsum(counts)])
    points = np.concatenate([shapes.points, segments.ends[~is_last, 1]])
    return Shapes(lines, offsets, points)


def _ids(graph: Graph, count: int) -> NDArray[Any] | None:
    """The ids with some more, unlike those that are there; None where they count upwards."""
    if graph.ids is None:
        return None
    if graph.ids.dtype.kind == "U":
        names = set(graph.ids.tolist())
        free = (f"point {number}" for number in range(1, count + len(names) + 1))
        new = [name for name in free if name not in names][:count]
        return np.concatenate([graph.ids, np.array(new, np.str_)])
    first = max(int(graph.ids.max(initial=0)), 0) + 1
    if first + count > np.iinfo(np.int64).max:
        least = np.setdiff1d(np.arange(len(graph.ids) + count), graph.ids)
        return np.concatenate([graph.ids, least[:count]])
    return np.concatenate([graph.ids, first + np.arange(count)])
