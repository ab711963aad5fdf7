"""The default device of several solves on one graph: the CPU for small graphs."""

from __future__ import annotations

from dataclasses import replace

from groute_py.engine.options import Options
from groute_py.graph.csr import Graph

SMALL = 1 << 18
"""Arcs up to which the CPU has an answer before a GPU has the graph: some ten milliseconds."""


def placed(graph: Graph, options: Options) -> Options:
    """The options of one rank, with the device chosen by the graph where they say ``auto``.

    An answer that is to stay on a GPU is made there.

    >>> placed(Graph.from_arrays([0, 0], [], []), Options()).device
    'cpu'
    """
    if options.device == "auto" and options.download and graph.arc_count <= SMALL:
        return replace(options, device="cpu")
    return options
