"""The file of coordinates that lies beside a graph file."""

from __future__ import annotations

from dataclasses import replace

from groute_py.engine.options import Options
from groute_py.interop.graph_like import GraphLike
from groute_py.io.coordinates import coordinates_beside


def with_coordinates(options: Options, graph: GraphLike) -> Options:
    """The options, with the coordinate file beside the graph file if none is named."""
    return replace(options, coordinates=options.coordinates or coordinates_beside(graph))
