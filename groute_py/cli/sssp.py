"""``groute-py sssp``: shortest paths from one source."""

from __future__ import annotations

from typing import Any

import click

from groute_py.cli.options import graph_argument, solve_options
from groute_py.cli.solve import solve


@click.command()
@graph_argument
@solve_options("sssp")
def sssp(graph: str, **given: Any) -> None:
    """Shortest paths from one source to every vertex of GRAPH.

    GRAPH is a file (known by its content: DIMACS, Matrix Market, edge lists, METIS, GAPBS, Galois,
    SciPy .npz, Parquet, dense matrices, extracts of OpenStreetMap, our .csr and .prepared; plain,
    .gz, .xz, .zst or .bz2), a generated graph (road:WxH, rmat:SCALE[,EDGEFACTOR], random:N,M), or
    one to download (dimacs:NY, snap:web-Google).
    """
    solve("sssp", graph, **given)
