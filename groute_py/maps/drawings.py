"""Maps of an answer: distances, the tree, paths; over the places of the vertices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groute_py.errors import InputError
from groute_py.maps.bends import parts_of, shapes_between
from groute_py.maps.layout import Layout
from groute_py.maps.network import Network
from groute_py.maps.raster import Arcs, Floats, spread
from groute_py.maps.sheet import Sheet
from groute_py.maps.style import FAINT, NETWORK, SCALE, SERIES, TREE_SCALE
from groute_py.maps.tree import descendants
from groute_py.maps.words import amount, reach_of, title_of
from groute_py.results.result import Result

TRUNK = 0.005
"""Of all vertices: arcs that lead to more of them are drawn thicker."""


def tree_arcs(result: Result) -> Arcs | None:
    """The arcs of the shortest-path tree; None without predecessors."""
    if result.predecessors is None:
        return None
    heads = np.flatnonzero(result.predecessors >= 0)
    return Arcs(result.predecessors[heads], heads)


def draw_distances(result: Result, layout: Layout, unit: str, longest: int) -> Sheet:
    """Each reached vertex, or the arcs of its tree, in the colour of its distance."""
    network = _tree_network(result, layout, longest)
    reached = result.reached
    sheet = Sheet(network.frame, title_of("Distances", result), reach_of(result, unit))
    if not reached.all():
        sheet.layer(network.around(~reached), FAINT)
    values = np.where(reached, result.distances, 0).astype(np.float64)
    image = network.mean(values, reached)
    if np.isnan(image).all():  # a source without arcs
        image[network.around(reached)] = 0
    label = f"distance in {unit}" + ("" if reached.all() else "; gray: not reached")
    sheet.scaled(image, SCALE, label, log=False)
    _mark_source(sheet, network, result)
    return sheet


def draw_tree(result: Result, layout: Layout, unit: str, longest: int) -> Sheet:
    """The shortest-path tree: an arc is the darker, the more vertices are reached through it.

    Raises:
        InputError: there are no predecessors, or nothing is reached but the source.
    """
    arcs = _needed_arcs(result)
    assert result.predecessors is not None
    network = _tree_network(result, layout, longest)
    sizes = descendants(result.predecessors).astype(np.float64)
    sheet = Sheet(network.frame, title_of("Shortest-path tree", result), reach_of(result, unit))
    image = network.most(sizes[arcs.heads], np.where(result.reached, sizes, -1))
    trunks = np.where(image >= TRUNK * sizes.max(), image, -1)
    image = np.fmax(image, np.where((wide := spread(trunks, 3, np.maximum)) < 0, np.nan, wide))
    way = "lead there" if result.reverse else "are reached"
    label = f"vertices that {way} through an arc (logarithmic)"
    sheet.scaled(image, TREE_SCALE, label, log=True)
    _mark_source(sheet, network, result)
    return sheet


def draw_paths(
    result: Result, targets: Sequence[int], layout: Layout, unit: str, longest: int
) -> Sheet:
    """Shortest paths to some vertices, over the network in gray.

    Raises:
        InputError: there are no predecessors, or no path leads to a target.
    """
    _needed_arcs(result)
    network = _tree_network(result, layout, longest)
    names = [str(result.numbering.id_of(vertex)) for vertex in targets]
    word = "to" if result.reverse else "from"
    source = result.numbering.id_of(result.source)
    title = f"Shortest path between {source} and {names[0]}"
    if len(targets) > 1:
        title = f"{len(targets)} shortest paths {word} {source}"
    paths = [result.path_to(vertex) for vertex in targets]
    for name, path in zip(names, paths, strict=True):
        if not path:
            raise InputError(f"there is no path to draw between {source} and {name}")
    note = "; ".join(
        f"{amount(result.distances[vertex].item(), unit)}, {len(path) - 1:,} arcs"
        for vertex, path in zip(targets[:3], paths[:3], strict=True)
    )
    sheet = Sheet(network.frame, title, note + ("; …" if len(targets) > 3 else ""))
    sheet.layer(network.covered(), NETWORK)
    for number, path in enumerate(paths):
        sheet.line(network.frame.at(_line(layout, path)), SERIES[number % len(SERIES)])
    for number, (vertex, name) in enumerate(zip(targets, names, strict=True)):
        spot = network.frame.at(layout.places[[vertex]])[0]
        sheet.mark(spot, name, SERIES[number % len(SERIES)], "s")
    _mark_source(sheet, network, result)
    return sheet


def _needed_arcs(result: Result) -> Arcs:
    arcs = tree_arcs(result)
    if arcs is None:
        raise InputError("no tree and no paths without predecessors; solve with them")
    if not len(arcs.heads):
        raise InputError("no vertex is reached but the source, so there is no tree to draw")
    return arcs


def _tree_network(result: Result, layout: Layout, longest: int) -> Network:
    """The network of the tree's arcs, if there is a tree."""
    arcs, shapes = tree_arcs(result), None
    if arcs is not None and layout.roads is not None:
        shapes = shapes_between(layout.roads, arcs, turned=result.reverse)
    return Network(layout.places, arcs, longest, shapes, planar=layout.planar)


def _line(layout: Layout, path: list[int]) -> Floats:
    """The points of a path, along the shapes of its arcs if there are any."""
    vertices = np.array(path)
    if layout.roads is None or len(path) == 1:
        return np.asarray(layout.places[vertices])
    arcs = Arcs(vertices[:-1], vertices[1:])
    parts = parts_of(layout.places, arcs, shapes_between(layout.roads, arcs))
    return np.asarray(parts.points[np.append(parts.lines.tails, vertices[-1])])


def _mark_source(sheet: Sheet, network: Network, result: Result) -> None:
    spot = network.frame.at(network.places[[result.source]])[0]
    sheet.mark(spot, str(result.numbering.id_of(result.source)), "#000000", "o")
