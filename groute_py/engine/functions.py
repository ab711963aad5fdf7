"""The functions of Python by the options that they take."""

from __future__ import annotations

EVERYWHERE = ("bfs", "sssp", "open")
"""The functions that take options of one source; each takes those of the one before."""

ONE_SOURCE = ("sssp", "open")
"""The functions that take what `groute_py.bfs` has no use for."""

NEAREST_TOO = (*EVERYWHERE, "nearest")
REACH_TOO = (*NEAREST_TOO, "isochrone")
"""The functions that take what `groute_py.nearest` takes, and what `groute_py.isochrone` takes."""

ROWS = ("apsp", "matrix")
"""The functions that solve for rows of distances."""

ROUTES_TOO = (*ROWS, "route")
MEASURES_TOO = (*ROUTES_TOO, "centrality")
"""Functions that take the options of `groute_py.route`, and those of all centralities."""

OF_NAMES, OF_EXPRESSIONS = ("sssp", "nearest", *ROUTES_TOO), ("sssp",)
"""The functions of jobs that answer for named objectives, and for expressions."""
