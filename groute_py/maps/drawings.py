"""Maps of an answer (distances, the tree, paths) and of a graph (its arcs, its parts)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.graph.csr import Graph
from groute_py.graph.geography import Shapes
from groute_py.graph.ids import Positions
from groute_py.maps import raster
from groute_py.maps.lines import (
    Floats,
    Ground,
    Pieces,
    ground_along,
    segments_of,
    shapes_between,
    whole_arcs,
)
from groute_py.maps.places import MapLayout
from groute_py.maps.raster import Frame
from groute_py.maps.sheet import (
    BLACK,
    FAINT,
    NETWORK,
    PARTS,
    ROADS,
    SCALE,
    SERIES,
    TREE_SCALE,
    Mark,
    Sheet,
)
from groute_py.partition.share import partition
from groute_py.results.result import Result

TRUNK = 0.005  # share of all vertices: arcs that lead to more of them are drawn thicker
BUSY = 0.5  # share of the greatest volume: links of more are drawn thicker


def draw_distances(result: Result, layout: MapLayout, unit: str, longest: int) -> Sheet:
    """Draw each reached vertex, or the arcs of its tree, in the colour of its distance."""
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
    sheet.marks([_source_mark(network, result)])
    return sheet


def draw_tree(result: Result, layout: MapLayout, unit: str, longest: int) -> Sheet:
    """Draw the shortest-path tree; an arc is the darker, the more vertices it leads to."""
    arcs = _needed_arcs(result)
    assert result.predecessors is not None
    network = _tree_network(result, layout, longest)
    sizes = descendants(result.predecessors).astype(np.float64)
    sheet = Sheet(network.frame, title_of("Shortest-path tree", result), reach_of(result, unit))
    image = network.most(sizes[arcs.heads], np.where(result.reached, sizes, -1))
    image = _thickened(image, TRUNK * sizes.max())
    way = "lead there" if result.reverse else "are reached"
    label = f"vertices that {way} through an arc (logarithmic)"
    sheet.scaled(image, TREE_SCALE, label, log=True)
    sheet.marks([_source_mark(network, result)])
    return sheet


def draw_paths(
    result: Result, targets: Sequence[int | str], layout: MapLayout, unit: str, longest: int
) -> Sheet:
    """Draw shortest paths to some vertices, over the network in gray."""
    _needed_arcs(result)
    network = _tree_network(result, layout, longest)
    ends = [result.numbering.index_of(vertex, "target") for vertex in targets]
    names = [str(result.numbering.id_of(end)) for end in ends]
    word = "to" if result.reverse else "from"
    source = result.numbering.id_of(result.source)
    title = f"Shortest path between {source} and {names[0]}"
    if len(targets) > 1:
        title = f"{len(targets)} shortest paths {word} {source}"
    paths = [result.positions_to(Positions(end)) for end in ends]
    for name, path in zip(names, paths, strict=True):
        if not path:
            raise InputError(f"there is no path to draw between {source} and {name}")
    note = "; ".join(
        f"{amount(result.distances[end].item(), unit)}, {len(path) - 1:,} arcs"
        for end, path in zip(ends[:3], paths[:3], strict=True)
    )
    sheet = Sheet(network.frame, title, note + ("; …" if len(targets) > 3 else ""))
    sheet.layer(network.covered(), NETWORK)
    for number, vertices in enumerate(map(np.array, paths)):
        points = ground_along(layout.places, layout.roads, vertices).path(vertices)
        sheet.path(network.frame.at(points), SERIES[number % len(SERIES)])
    marks = [
        Mark(network.frame.at(layout.places[end]), name, SERIES[number % len(SERIES)], "s")
        for number, (end, name) in enumerate(zip(ends, names, strict=True))
    ]
    sheet.marks([_source_mark(network, result), *marks])
    return sheet


def draw_network(graph: Graph, layout: MapLayout, longest: int) -> Sheet:
    """Draw all arcs of a graph, or its vertices if there are very many."""
    network = _network(graph, layout, longest)
    note = f"{graph.vertex_count:,} vertices, {graph.arc_count:,} arcs"
    sheet = Sheet(network.frame, graph.name, note)
    sheet.layer(network.covered(), ROADS)
    return sheet


def draw_parts(graph: Graph, parts: int, how: str, layout: MapLayout, longest: int) -> Sheet:
    """Draw the parts of a partition in colours, and the arcs between them in black.

    Colours are repeated if there are more parts than `PARTS` has.
    """
    cut, network = partition(graph.offsets, parts, how), _network(graph, layout, longest)
    owners = np.asarray(cut.owner(np.arange(graph.vertex_count)))
    tails = graph.tails()
    between = owners[tails] != owners[graph.heads]
    count, cut_count = graph.arc_count, int(np.count_nonzero(between))
    note = f"{cut_count:,} of {count:,} arcs ({100 * cut_count / max(count, 1):.2g} %) lie between"
    sheet = Sheet(network.frame, f"{graph.name} in {parts} parts (--partition {how})", note)
    colors = owners % len(PARTS)
    black = float(len(PARTS))  # the greatest, so it lies above
    image = network.most(np.where(between, black, colors[tails]), colors.astype(np.float64))
    for number, color in enumerate((*PARTS, BLACK)):
        sheet.layer(image == number, color)
    if parts <= len(PARTS):
        entries = [(PARTS[part], f"part {part}") for part in range(parts)]
    else:
        entries = [(PARTS[0], f"every {len(PARTS)}th part")]
    sheet.legend(entries if network.arcs is None else [*entries, (BLACK, "between parts")])
    return sheet


def draw_flows(
    graph: Graph, volumes: NDArray[np.float64], layout: MapLayout, longest: int
) -> Sheet:
    """Draw each link in the colour of the greater volume of its directions, over all links."""
    network = _network(graph, layout, longest)
    greatest = volumes.max(initial=0)
    note = f"{graph.arc_count:,} links, greatest volume {greatest:,.6g}"
    sheet = Sheet(network.frame, f"Flows on {graph.name}", note)
    sheet.layer(network.covered(), FAINT)
    image = network.most(np.where(volumes > 0, volumes, -1), np.full(graph.vertex_count, -1.0))
    image = _thickened(image, BUSY * greatest)
    if np.isfinite(image).any():
        sheet.scaled(image, TREE_SCALE, "volume of a link", log=False)
    return sheet


def _thickened(image: Floats, least: float) -> Floats:
    """An image whose values from the ``least`` on are drawn thicker."""
    wide = raster.spread(np.where(image >= least, image, -1), 3, np.maximum)
    return np.fmax(image, np.where(wide < 0, np.nan, wide))


def title_of(what: str, result: Result) -> str:
    """The title of a picture, which names the source."""
    word = "to" if result.reverse else "from"
    return f"{what} {word} vertex {result.numbering.id_of(result.source)}"


def reach_of(result: Result, unit: str) -> str:
    """The number of vertices that are reached, and the farthest distance, in words."""
    reached, count = result.distances[result.reached], len(result.distances)
    text = f"{len(reached):,} of {count:,} vertices reached"
    return text if not len(reached) else f"{text}; farthest: {amount(reached.max().item(), unit)}"


def amount(value: float, unit: str) -> str:
    """A distance with its unit."""
    return f"{value:,} {unit}" if isinstance(value, int) else f"{value:,.6g} {unit}"


def descendants(predecessors: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of vertices in the subtree at each vertex, itself included.

    Leaves are taken away level by level, so vertices on a cycle, of a damaged file, keep theirs.
    """
    parents = predecessors >= 0
    children = np.bincount(predecessors[parents], minlength=len(predecessors))
    sizes = np.ones(len(predecessors), np.int64)
    leaves = np.flatnonzero(parents & (children == 0))
    while len(leaves):
        above = predecessors[leaves]
        np.add.at(sizes, above, sizes[leaves])
        np.subtract.at(children, above, 1)
        bare = np.unique(above[children[above] == 0])
        leaves = bare[parents[bare]]
    return sizes


def _tree_arcs(result: Result) -> Pieces | None:
    """The arcs of the shortest-path tree; None without predecessors."""
    if result.predecessors is None:
        return None
    heads = np.flatnonzero(result.predecessors >= 0)
    return whole_arcs(result.predecessors[heads], heads)


def _needed_arcs(result: Result) -> Pieces:
    arcs = _tree_arcs(result)
    if arcs is None:
        raise InputError("no tree and no paths without predecessors; solve with them")
    if not len(arcs):
        raise InputError("no vertex is reached but the source, so there is no tree to draw")
    return arcs


def _tree_network(result: Result, layout: MapLayout, longest: int) -> Network:
    """The network of the tree's arcs, if there is a tree."""
    arcs, shapes = _tree_arcs(result), None
    if arcs is not None and layout.roads is not None:
        shapes = shapes_between(layout.roads, arcs.tails, arcs.heads, is_reversed=result.reverse)
    return Network(layout.places, arcs, longest, shapes, planar=layout.planar)


def _network(graph: Graph, layout: MapLayout, longest: int) -> Network:
    """The network of all arcs, along the graph's own shapes or those of its layout."""
    arcs, shapes = whole_arcs(graph.tails(), graph.heads), None
    if layout.roads is not None:
        is_own = layout.roads is graph
        shapes = graph.shapes if is_own else shapes_between(layout.roads, arcs.tails, arcs.heads)
    return Network(layout.places, arcs, longest, shapes, planar=layout.planar)


def _source_mark(network: Network, result: Result) -> Mark:
    spot = network.frame.at(network.places[result.source])
    return Mark(spot, str(result.numbering.id_of(result.source)), BLACK, "o")


LINES_UP_TO = 1 << 22
"""Vertices up to which arcs are drawn; with more, the vertices cover the picture."""

COARSEST = 60  # pixels of the longer side, however few vertices there are without arcs


class Network:
    """The vertices of a graph and the arcs between them; None where arcs would not be seen."""

    def __init__(
        self,
        places: Floats,
        arcs: Pieces | None,
        longest: int,
        shapes: Shapes | None = None,
        *,
        planar: bool = False,
    ) -> None:
        stretch = 1.0 if planar else raster.stretch_of(places)
        self.places, self.arcs = places, None
        self.frame = Frame.around(places, longest, stretch)
        if arcs is not None and len(places) <= LINES_UP_TO:
            self._segments = segments_of(arcs, Ground(places, shapes, (stretch, 1.0)))
            if shapes is not None:
                points = np.concatenate([places, self._segments.ends.reshape(-1, 2)])
                self.frame = Frame.around(points, longest, stretch)
            self.arcs = arcs if self.frame.can_draw(self._segments.ends) else None
        apart = np.sqrt(self.frame.width * self.frame.height / max(len(places), 1))
        self._thick = int(np.clip(apart / 5, 1, longest / 200 + 1))
        # coarse, so that vertices without arcs touch
        side = np.clip(longest / max(apart, 1), min(COARSEST, longest), longest)
        self._coarse = Frame.around(places, int(side), stretch)

    def mean(self, values: Floats, valid: NDArray[np.bool_]) -> Floats:
        """The mean of valid values of vertices, shape (n,), in each pixel; NaN without any."""
        if self.arcs is None:
            some = slice(None) if valid.all() else valid
            return self._enlarged(
                raster.mean_of_points(self._coarse, self.places[some], values[some])
            )
        lines, shares, arcs = self._segments
        low, high = values[self.arcs.tails], values[self.arcs.heads]
        some = (valid[self.arcs.tails] & valid[self.arcs.heads])[arcs]
        arcs = arcs[some]
        along = low[arcs, np.newaxis] + (high - low)[arcs, np.newaxis] * shares[some]
        return raster.mean_of_lines(self.frame, lines[some], along, self._thick)

    def most(self, of_arcs: Floats, of_vertices: Floats) -> Floats:
        """The greatest value in each pixel, of arcs or else of vertices; −1 is none; else NaN."""
        if self.arcs is None:
            return self._enlarged(raster.most_of_points(self._coarse, self.places, of_vertices))
        lines, _, arcs = self._segments
        return raster.most_of_lines(self.frame, lines, of_arcs[arcs], self._thick)

    def covered(self) -> NDArray[np.bool_]:
        """The pixels of the network; bool, shape (height, width)."""
        zeros = np.zeros(0 if self.arcs is None else len(self.arcs))
        return ~np.isnan(self.most(zeros, np.zeros(len(self.places))))

    def around(self, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The pixels of some vertices; bool, shape (height, width)."""
        spots = raster.most_of_points(self._coarse, self.places, np.where(which, 0.0, -1.0))
        return self._enlarged(~np.isnan(spots))

    def _enlarged(self, image: NDArray[Any]) -> NDArray[Any]:
        """An image of the frame's size, made of larger squares where vertices are few."""
        rows = np.arange(self.frame.height) * image.shape[0] // self.frame.height
        columns = np.arange(self.frame.width) * image.shape[1] // self.frame.width
        return image[np.ix_(rows, columns)]
