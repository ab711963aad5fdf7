"""Shortest paths on graphs of up to billions of arcs, on one GPU or many.

>>> import groute_py
>>> graph = groute_py.generate("road:20x20")
>>> result = groute_py.sssp(graph, 0, device="cpu")
>>> int(result.distances[0])
0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groute_py.system.linux import check_system

check_system()

if TYPE_CHECKING:
    from groute_py.api import bfs, prepare, sssp
    from groute_py.api import open as open
    from groute_py.assignment.answer import Assignment
    from groute_py.assignment.assign import assign
    from groute_py.assignment.demand import UserClass
    from groute_py.assignment.link_costs import BPR, Conical
    from groute_py.errors import (
        FormatError,
        GraphError,
        GrouteError,
        InputError,
        InterruptedRun,
        NegativeCycleError,
        RunError,
        SetupError,
        TimeLimitError,
        VerificationError,
    )
    from groute_py.graph.csr import Graph
    from groute_py.graph.generate import generate
    from groute_py.graph.ids import Positions
    from groute_py.hierarchy.prepared import PreparedGraph
    from groute_py.interop.tables import graph_from_table
    from groute_py.io.graph_file import read_graph
    from groute_py.io.registry import write_graph
    from groute_py.jobs.facilities import NearestFacilities
    from groute_py.jobs.isochrone import isochrone
    from groute_py.jobs.isochrones import Isochrones
    from groute_py.jobs.matrix import Matrix, matrix
    from groute_py.jobs.nearest import nearest
    from groute_py.jobs.route import route
    from groute_py.jobs.routes import Routes
    from groute_py.jobs.rows import apsp
    from groute_py.jobs.solver import Solver
    from groute_py.many.customized import Customized, customize
    from groute_py.many.rows import SourceRows
    from groute_py.maps.plot import plot
    from groute_py.maps.snap import Points, Snaps, snap
    from groute_py.results.result import UNREACHED, Result, read_result
    from groute_py.verification import verify

__version__ = "0.2.0"

_HOMES = {
    "Assignment": "groute_py.assignment.answer",
    "assign": "groute_py.assignment.assign",
    "UserClass": "groute_py.assignment.demand",
    "BPR": "groute_py.assignment.link_costs",
    "Conical": "groute_py.assignment.link_costs",
    "apsp": "groute_py.jobs.rows",
    "bfs": "groute_py.api",
    "open": "groute_py.api",
    "prepare": "groute_py.api",
    "sssp": "groute_py.api",
    "Solver": "groute_py.jobs.solver",
    "FormatError": "groute_py.errors",
    "GraphError": "groute_py.errors",
    "GrouteError": "groute_py.errors",
    "InputError": "groute_py.errors",
    "InterruptedRun": "groute_py.errors",
    "NegativeCycleError": "groute_py.errors",
    "RunError": "groute_py.errors",
    "SetupError": "groute_py.errors",
    "TimeLimitError": "groute_py.errors",
    "VerificationError": "groute_py.errors",
    "Graph": "groute_py.graph.csr",
    "PreparedGraph": "groute_py.hierarchy.prepared",
    "graph_from_table": "groute_py.interop.tables",
    "read_graph": "groute_py.io.graph_file",
    "write_graph": "groute_py.io.registry",
    "generate": "groute_py.graph.generate",
    "Isochrones": "groute_py.jobs.isochrones",
    "Matrix": "groute_py.jobs.matrix",
    "NearestFacilities": "groute_py.jobs.facilities",
    "Routes": "groute_py.jobs.routes",
    "Points": "groute_py.maps.snap",
    "Positions": "groute_py.graph.ids",
    "Snaps": "groute_py.maps.snap",
    "isochrone": "groute_py.jobs.isochrone",
    "matrix": "groute_py.jobs.matrix",
    "nearest": "groute_py.jobs.nearest",
    "route": "groute_py.jobs.route",
    "snap": "groute_py.maps.snap",
    "Customized": "groute_py.many.customized",
    "customize": "groute_py.many.customized",
    "SourceRows": "groute_py.many.rows",
    "plot": "groute_py.maps.plot",
    "UNREACHED": "groute_py.results.result",
    "Result": "groute_py.results.result",
    "read_result": "groute_py.results.result",
    "verify": "groute_py.verification",
}

# `open` is left out: a star import would hide the built-in
__all__ = [
    "BPR",
    "UNREACHED",
    "Assignment",
    "Conical",
    "Customized",
    "FormatError",
    "Graph",
    "GraphError",
    "GrouteError",
    "InputError",
    "InterruptedRun",
    "Isochrones",
    "Matrix",
    "NearestFacilities",
    "NegativeCycleError",
    "Points",
    "Positions",
    "PreparedGraph",
    "Result",
    "Routes",
    "RunError",
    "SetupError",
    "Snaps",
    "Solver",
    "SourceRows",
    "TimeLimitError",
    "UserClass",
    "VerificationError",
    "apsp",
    "assign",
    "bfs",
    "customize",
    "generate",
    "graph_from_table",
    "isochrone",
    "matrix",
    "nearest",
    "plot",
    "prepare",
    "read_graph",
    "read_result",
    "route",
    "snap",
    "sssp",
    "verify",
    "write_graph",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    if name in ("PreparedGraph", "read_graph"):
        import_module("groute_py.engine.preparing")  # by which a prepared graph is contracted anew
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
