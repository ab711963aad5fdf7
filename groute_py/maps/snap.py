"""The nearest vertex of each of some points."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, check_number, check_truth
from groute_py.graph.csr import Graph, GraphLike
from groute_py.graph.geography import EARTH_RADIUS_M
from groute_py.graph.read_report import library_of
from groute_py.graph.tails import tails_of
from groute_py.graph.turns.expanded import ExpandedGraph
from groute_py.io.optional_libraries import library
from groute_py.maps.lines import Floats, Ground, segments_of, whole_arcs
from groute_py.maps.places import (
    LIMITS,
    Coordinates,
    Places,
    Plane,
    as_points,
    attributes_in,
    check_places,
    places_of,
    shapes_at,
)
from groute_py.source.graph_source import GraphSource
from groute_py.system.threads import thread_count

SNAPPING = "snapping points to vertices"  # the work that needs SciPy

USUAL_WITHIN_M = 1000.0
"""The greatest distance from a point to its vertex without a limit of its own."""

FAR_M = 200.0  # the distance from its vertex from which a point is compared with roads

MOST_COMPARED = 200_000_000
"""Pairs of a point and an arc that are compared at most: seconds."""

ARCS_AT_ONCE = 1 << 18

TIE = 1e-12
"""The relative difference up to which a second vertex is compared with the nearest one exactly."""


class Snaps(NamedTuple):
    """The nearest vertices of k points.

    Attributes:
        vertices: shape (k,), their ids.
        distances: float64, shape (k,): between each point and its vertex, in metres; of planar
            coordinates in their unit.
    """

    vertices: NDArray[Any]
    distances: NDArray[np.float64]


def snap(
    graph: GraphLike,
    points: Any,
    coordinates: Coordinates = None,
    within: float | None = None,
    *,
    planar: bool = False,
    connected: bool = True,
) -> Snaps:
    """The vertex that is nearest to each of some points, as the crow flies.

    Distances are measured along great circles of a sphere with the Earth's mean radius, 6,371,008.8
    metres. Of vertices that are equally near, the first one is taken. Needs SciPy (Maneewongvatana
    and Mount, 1999: k-d trees). Not collective.

    Args:
        graph: as for `groute_py.sssp`.
        points: shape (k, 2), at least one: longitude and latitude in degrees; or x and y. A table
            with columns of such titles, or of GeoPandas.
        coordinates: of the graph's vertices: a ``.co`` file, or an array of shape (n, 2). None for
            those that the graph holds, or else a ``.co`` file beside its file.
        within: the greatest distance from a point to its vertex. None for 1,000 metres; on a plane
            for any.
        planar: whether points and coordinates are x and y on a plane, in one unit.
        connected: take only vertices of the greatest strongly connected component, so that paths
            lead between all points, if it has more than half of all vertices. A point that is
            farther than ``within`` from these gets the nearest of all.

    Returns:
        `Snaps`: ids of vertices, and distances.

    Raises:
        InputError: there are no points, or no coordinates; or a point lies farther than ``within``
            from all vertices, of which the first is named by its number, from 0, and it is said
            whether its longitude and latitude seem to be exchanged; or coordinates are no degrees,
            or beyond ±1e150 on a plane.
        FormatError: the file of coordinates cannot be read.
        SetupError: SciPy is not installed.

    >>> corners = [[0, 0], [10, 0], [10, 10]]
    >>> path = ([0, 1, 2, 2], [1, 2], [4, 4])
    >>> vertices, distances = snap(path, [[9, 1], [1, 0]], np.array(corners), planar=True)
    >>> vertices.tolist(), distances.round(3).tolist()
    ([1, 0], [1.414, 1.0])
    """
    check_truth("planar", planar)
    check_truth("connected", connected)
    check_within(within)
    whole = GraphSource(graph).graph()
    places = places_of(whole, coordinates, planar=planar, beside=graph)
    among = most_connected(whole) if connected else None
    spots = Places(as_points(points), planar)
    snaps = nearest_vertices(places, spots, within, among, name_of=str)
    return snaps._replace(vertices=whole.numbering.ids_of(snaps.vertices))


class Points:
    """Points on a map in the place of vertices: each stands for the vertex that is nearest to it.

    `groute_py.apsp`, `matrix`, `nearest`, `isochrone`, the centralities and the methods of a
    `Solver` take it instead of ids; `route` takes a tuple of two.

    Args:
        points, within, planar, connected: as for `snap`.
        coordinates: of the graph's vertices, as for `snap`; None for those that the graph holds.

    Attributes:
        attributes: the other columns of a table of points by their titles, such as ``name``; the
            tables of answers have them with the role of the points before: ``source_name``.

    Raises:
        InputError: as for `snap`.

    >>> corners, path = np.array([[0, 0], [10, 0], [10, 10]]), ([0, 1, 2, 2], [1, 2], [4, 4])
    >>> ends = Points([[9, 1], [1, 0]], corners, planar=True)
    >>> from groute_py import matrix
    >>> matrix(path, ends, [2], device="cpu").distances.tolist()
    [[4], [8]]
    """

    def __init__(
        self,
        points: Any,
        coordinates: Coordinates = None,
        within: float | None = None,
        *,
        planar: bool = False,
        connected: bool = True,
    ) -> None:
        check_truth("planar", planar)
        check_truth("connected", connected)
        check_within(within)
        self._points, self._within = Places(as_points(points), planar), within
        self.attributes = attributes_in(points, len(self._points.coordinates))
        self.library = library_of(points)
        self._coordinates, self._connected = coordinates, connected

    def __call__(self, graph: Graph) -> NDArray[np.int64]:
        """Return the nearest vertices in a graph, int64, shape (k,)."""
        places = places_of(graph, self._coordinates, planar=self._points.planar)
        among = most_connected(graph) if self._connected else None
        return nearest_vertices(places, self._points, self._within, among, name_of=str).vertices


def most_connected(graph: Graph) -> NDArray[np.int64] | None:
    """The vertices of the greatest strongly connected component, ascending.

    None if it has all vertices, or not more than half of them, as in a tree of one-way arcs; or if
    SciPy cannot find it, in a graph of 2³¹ arcs.
    """
    if isinstance(graph, ExpandedGraph):
        assert graph.original is not None
        graph = graph.original.graph
    if graph not in _COMPONENTS:
        _COMPONENTS[graph] = _most_connected(graph)
    return _COMPONENTS[graph]


_COMPONENTS: WeakKeyDictionary[Graph, NDArray[np.int64] | None] = WeakKeyDictionary()


def _most_connected(graph: Graph) -> NDArray[np.int64] | None:
    count = graph.vertex_count
    if not count or graph.arc_count > np.iinfo(np.int32).max:
        return None
    sparse = library("scipy.sparse", SNAPPING, "maps")
    csgraph = library("scipy.sparse.csgraph", SNAPPING, "maps")
    host = graph.to_host()
    ones = np.ones(graph.arc_count, np.int8)
    arcs = sparse.csr_array((ones, host.heads, host.offsets), shape=(count, count))
    _, labels = csgraph.connected_components(arcs, connection="strong")
    sizes = np.bincount(labels)
    if sizes.max() == count or 2 * sizes.max() <= count:
        return None
    return np.flatnonzero(labels == sizes.argmax())


def nearest_vertices(
    places: Places,
    points: Places,
    within: float | None,
    among: NDArray[np.int64] | None = None,
    *,
    name_of: Callable[[int], str],
) -> Snaps:
    """The nearest vertex of each point; the arguments and errors are those of `snap`."""
    if not len(points.coordinates):
        raise InputError("there are no points; give at least one")
    if not len(places.coordinates):
        raise InputError("the graph has no vertices, so no point is near one")
    check_places(points, "point", name_of)
    limit = USUAL_WITHIN_M if within is None and not points.planar else within
    vertices, distances = _nearest(places, points, among)
    if among is not None and limit is not None and (far := distances > limit).any():
        some = Places(points.coordinates[far], points.planar)
        vertices[far], distances[far] = _nearest(places, some, None)
    if limit is not None:
        _refuse_far(places, points, distances, limit, name_of, is_chosen=within is not None)
    return Snaps(vertices, distances)


def _nearest(
    places: Places, points: Places, among: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], Floats]:
    """The nearest of some vertices to each point, and the distances."""
    trees, spots = vars(places).setdefault("trees", {}), points.embedded  # for many questions
    if (key := None if among is None else id(among)) not in trees:
        embedded = places.embedded if among is None else places.embedded[among]
        trees[key] = among, library("scipy.spatial", SNAPPING, "maps").cKDTree(embedded)
    tree = trees[key][1]
    count = min(2, tree.n)
    straight, vertices = tree.query(spots, k=count, workers=thread_count())
    straight, vertices = straight.reshape(len(spots), -1), vertices.reshape(len(spots), -1)
    nearest = vertices[:, 0].astype(np.int64)
    if count == 2:
        _take_first(tree, spots, straight, nearest)
    return nearest if among is None else among[nearest], places.lengths(straight[:, 0])


def passed_by(graph: Graph, places: Places, points: Places, snaps: Snaps) -> dict[int, float]:
    """Metres to the road for points that it passes at half the distance of their vertex, or less.

    The farthest points are compared, as many as take seconds. Places are in degrees.
    """
    if isinstance(graph, ExpandedGraph):
        assert graph.original is not None
        graph = graph.original.graph
    order = np.argsort(-snaps.distances)[: MOST_COMPARED // max(graph.arc_count, 1)]
    far = order[snaps.distances[order] > FAR_M]
    nearest = dict.fromkeys(far.tolist(), np.inf)
    ground = Ground(places.coordinates, shapes_at(graph, places))
    for first in range(0, graph.arc_count if len(far) else 0, ARCS_AT_ONCE):
        arcs = np.arange(first, min(first + ARCS_AT_ONCE, graph.arc_count))
        tails = tails_of(graph.offsets, arcs)
        segments = segments_of(whole_arcs(tails, graph.heads[arcs], arcs), ground).ends
        for point in nearest:
            spot = points.coordinates[point]
            feet = feet_on(segments, spot, Plane(tuple(spot.tolist())))[0]
            nearest[point] = min(nearest[point], float(np.hypot(*feet.T).min(initial=np.inf)))
    return {k: metres for k, metres in nearest.items() if metres <= snaps.distances[k] / 2}


def feet_on(segments: Floats, point: Floats, plane: Plane) -> tuple[Floats, Floats, Floats]:
    """The places of segments, shape (s, 2, 2), that are nearest to a point, from there on a plane.

    Also how far along each it lies, and its length. The place is infinity for those that cross the
    date line half round the world.
    """
    ends = plane.project(segments) - plane.project(point)
    begins, ways = ends[:, 0], ends[:, 1] - ends[:, 0]
    squares = (ways**2).sum(axis=1)
    along = -(begins * ways).sum(axis=1) / np.maximum(squares, np.finfo(np.float64).tiny)
    along = np.clip(along, 0, 1)
    feet = begins + along[:, np.newaxis] * ways
    if plane.centre is not None:
        feet[np.abs(ways[:, 0]) >= np.pi * EARTH_RADIUS_M * plane.scale[0]] = np.inf
    return feet, along, np.sqrt(squares)


def check_within(within: Any) -> None:
    """Raise `InputError` for a value that is no limit of a snap's distance."""
    if within is None:
        return
    check_number("the limit of a snap's distance", within)
    if not within >= 0 or math.isinf(within):
        raise InputError(f"the limit of a snap's distance must be 0 or more, not {within}")


def _take_first(tree: Any, spots: Floats, straight: Floats, vertices: NDArray[np.int64]) -> None:
    """Put the first of several vertices that are equally near."""
    reach = straight[:, 0] * (1 + TIE)
    for point in np.flatnonzero(straight[:, 1] <= reach).tolist():
        near = np.sort(tree.query_ball_point(spots[point], reach[point]))
        squares = ((tree.data[near] - spots[point]) ** 2).sum(axis=1)
        vertices[point] = near[squares.argmin()]


def _refuse_far(
    places: Places,
    points: Places,
    distances: Floats,
    limit: float,
    name_of: Callable[[int], str],
    *,
    is_chosen: bool,
) -> None:
    far = distances > limit
    if far.any():
        first, unit = int(far.argmax()), "" if points.planar else " m"
        x, y = points.coordinates[first].tolist()
        hint = "" if points.planar else _hint(places, (y, x), limit, is_chosen=is_chosen)
        raise InputError(
            f"point {name_of(first)} at ({x:.12g}, {y:.12g}) lies {distances[first]:,.6g}"
            f"{unit} from the nearest vertex, more than {limit:,.6g}{unit}; "
            f"{int(far.sum()):,} of {len(far):,} points do{hint}"
        )


def _hint(places: Places, exchanged: tuple[float, float], limit: float, *, is_chosen: bool) -> str:
    """The end of an error: that a point's coordinates are exchanged, or how to allow more."""
    if abs(exchanged[1]) <= LIMITS[1]:
        place = Places(np.array([exchanged]))
        if _nearest(places, place, None)[1][0] <= limit:
            return ". Its longitude and latitude seem to be exchanged: longitude comes first"
    return "" if is_chosen else ". --snap-within (within= in Python) may allow more"
