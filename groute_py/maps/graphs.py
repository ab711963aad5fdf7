"""Maps of a graph: its arcs, and the parts of a partition."""

from __future__ import annotations

import numpy as np

from groute_py.graph.csr import Graph
from groute_py.maps.bends import shapes_between
from groute_py.maps.layout import Layout
from groute_py.maps.network import Network
from groute_py.maps.raster import Arcs
from groute_py.maps.sheet import Sheet
from groute_py.maps.style import BLACK, PARTS, ROADS
from groute_py.partition.choose import partition


def arcs_of(graph: Graph) -> Arcs:
    """All arcs of a graph in host memory."""
    tails = graph.tails()
    return Arcs(tails, graph.heads.astype(np.int64, copy=False))


def _network(graph: Graph, layout: Layout, longest: int) -> Network:
    """The network of all arcs, along the graph's own shapes or those of its layout."""
    arcs, shapes = arcs_of(graph), None
    if layout.roads is not None:
        is_own = layout.roads is graph
        shapes = graph.shapes if is_own else shapes_between(layout.roads, arcs)
    return Network(layout.places, arcs, longest, shapes, planar=layout.planar)


def draw_network(graph: Graph, layout: Layout, longest: int) -> Sheet:
    """All arcs of a graph, or its vertices if there are very many."""
    network = _network(graph, layout, longest)
    note = f"{graph.vertex_count:,} vertices, {graph.arc_count:,} arcs"
    sheet = Sheet(network.frame, graph.name, note)
    sheet.layer(network.covered(), ROADS)
    return sheet


def draw_parts(graph: Graph, parts: int, how: str, layout: Layout, longest: int) -> Sheet:
    """The parts of a partition in colours, and the arcs between them in black.

    Args:
        graph: in host memory.
        parts: how many; colours are repeated if there are more than `PARTS` has.
        how: a name in `groute_py.partition.choose.partitioners`.
        layout: of the vertices.
        longest: pixels of the longer side.
    """
    cut, network = partition(graph.offsets, parts, how), _network(graph, layout, longest)
    arcs = arcs_of(graph)
    owners = np.asarray(cut.owner(np.arange(graph.vertex_count)))
    between = owners[arcs.tails] != owners[arcs.heads]
    count, cut_count = graph.arc_count, int(np.count_nonzero(between))
    note = f"{cut_count:,} of {count:,} arcs ({100 * cut_count / max(count, 1):.2g} %) lie between"
    sheet = Sheet(network.frame, f"{graph.name} in {parts} parts (--partition {how})", note)
    colors = owners % len(PARTS)
    black = float(len(PARTS))  # the greatest, so it lies above
    image = network.most(np.where(between, black, colors[arcs.tails]), colors.astype(np.float64))
    for number, color in enumerate((*PARTS, BLACK)):
        sheet.layer(image == number, color)
    if parts <= len(PARTS):
        entries = [(PARTS[part], f"part {part}") for part in range(parts)]
    else:
        entries = [(color, f"every {len(PARTS)}th part") for color in PARTS[:1]]
    sheet.legend(entries if network.arcs is None else [*entries, (BLACK, "between parts")])
    return sheet
