"""Vertices on roads where points are nearest to them, so that paths begin and end there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import check_truth
from groute_py.graph.csr import Graph, GraphLike, of_arcs
from groute_py.graph.geography import Shapes
from groute_py.graph.hierarchy.extension import extended
from groute_py.graph.hierarchy.prepared import PreparedGraph
from groute_py.io.optional_libraries import library
from groute_py.kernels.cpu.build import csr_from_arcs
from groute_py.maps.lines import Floats, Ground, Indices, Pieces, Segments, segments_of, whole_arcs
from groute_py.maps.places import Coordinates, Places, Plane, as_points, places_of, shapes_at
from groute_py.maps.snap import SNAPPING, feet_on, most_connected, nearest_vertices
from groute_py.source.graph_source import GraphSource

ONE_PLACE = 1e-6
"""Share of a road's length within which two feet are one, and one that near an end is the end."""

SLACK = 1.01
"""The factor of lengths, which a projection changes, by which more segments are compared."""


class Cuts(NamedTuple):
    """The places at which arcs are cut; an arc may have several."""

    arcs: Indices  # (q,)
    shares: Floats  # (q,), how far along the arc, more than 0 and less than 1
    vertices: Indices  # (q,), from n on
    coordinates: Floats  # (p, 2) of the new vertices


def add_points(
    graph: GraphLike, points: Any, coordinates: Coordinates = None, *, planar: bool = False
) -> Graph:
    """Add a vertex to a graph wherever one of some points is nearest to an arc, and cut arcs there.

    `groute_py.Points` of the same places then stand for these vertices: paths begin and end on the
    roads that pass the points, not at their ends. A weight, and each column, is divided as the
    arc's length is (integers by rounding), and the sum stays. Roads are arcs of the greatest
    strongly connected component, as `groute_py.snap` takes it. Not collective.

    Args:
        graph, points, coordinates, planar: as for `groute_py.snap`.

    Returns:
        A graph with coordinates, which is prepared if the graph was. The vertices that it had come
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
    places = places_of(whole, coordinates, planar=planar, beside=graph)
    return with_points(whole, places, as_points(points))


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
