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
    from groute_py.assignment.answer import Assignment as Assignment
    from groute_py.assignment.demand import UserClass as UserClass
    from groute_py.assignment.job import assign as assign
    from groute_py.assignment.link_costs import BPR as BPR
    from groute_py.assignment.link_costs import Conical as Conical
    from groute_py.errors import FormatError as FormatError
    from groute_py.errors import GraphError as GraphError
    from groute_py.errors import GrouteError as GrouteError
    from groute_py.errors import InputError as InputError
    from groute_py.errors import InterruptedRun as InterruptedRun
    from groute_py.errors import NegativeCycleError as NegativeCycleError
    from groute_py.errors import RunError as RunError
    from groute_py.errors import SetupError as SetupError
    from groute_py.errors import TimeLimitError as TimeLimitError
    from groute_py.errors import VerificationError as VerificationError
    from groute_py.graph.csr import Graph as Graph
    from groute_py.graph.generate import generate as generate
    from groute_py.graph.hierarchy.prepared import PreparedGraph as PreparedGraph
    from groute_py.graph.ids import Positions as Positions
    from groute_py.grids.cost_distance import CostDistance as CostDistance
    from groute_py.grids.cost_distance import cost_distance as cost_distance
    from groute_py.interop.tables import graph_from_table as graph_from_table
    from groute_py.io.graph_file import read_graph as read_graph
    from groute_py.io.registry import write_graph as write_graph
    from groute_py.jobs.accessibility import Accessibility as Accessibility
    from groute_py.jobs.accessibility import accessibility as accessibility
    from groute_py.jobs.facilities import NearestFacilities as NearestFacilities
    from groute_py.jobs.isochrone import isochrone as isochrone
    from groute_py.jobs.isochrones import Isochrones as Isochrones
    from groute_py.jobs.matrix import Matrix as Matrix
    from groute_py.jobs.matrix import matrix as matrix
    from groute_py.jobs.nearest import nearest as nearest
    from groute_py.jobs.prepare import prepare as prepare
    from groute_py.jobs.route import route as route
    from groute_py.jobs.routes import Routes as Routes
    from groute_py.jobs.rows import apsp as apsp
    from groute_py.jobs.solver import Solver as Solver
    from groute_py.jobs.solver import open as open
    from groute_py.jobs.tree import bfs as bfs
    from groute_py.jobs.tree import sssp as sssp
    from groute_py.many.customized import Customized as Customized
    from groute_py.many.customized import customize as customize
    from groute_py.many.rows import SourceRows as SourceRows
    from groute_py.maps.feet import add_points as add_points
    from groute_py.maps.plot import plot as plot
    from groute_py.maps.snap import Points as Points
    from groute_py.maps.snap import Snaps as Snaps
    from groute_py.maps.snap import snap as snap
    from groute_py.results.distances import UNREACHED as UNREACHED
    from groute_py.results.result import Result as Result
    from groute_py.results.result import read_result as read_result
    from groute_py.results.verification import verify as verify

__version__ = "0.2.0"

_NAMES = {
    "jobs.prepare": "prepare",
    "assignment.answer": "Assignment",
    "assignment.job": "assign",
    "assignment.demand": "UserClass",
    "assignment.link_costs": "BPR Conical",
    "errors": "FormatError GraphError GrouteError InputError InterruptedRun NegativeCycleError "
    "RunError SetupError TimeLimitError VerificationError",
    "graph.csr": "Graph",
    "graph.generate": "generate",
    "graph.ids": "Positions",
    "graph.hierarchy.prepared": "PreparedGraph",
    "grids.cost_distance": "CostDistance cost_distance",
    "interop.tables": "graph_from_table",
    "io.graph_file": "read_graph",
    "io.registry": "write_graph",
    "jobs.accessibility": "Accessibility accessibility",
    "jobs.facilities": "NearestFacilities",
    "jobs.isochrone": "isochrone",
    "jobs.isochrones": "Isochrones",
    "jobs.matrix": "Matrix matrix",
    "jobs.nearest": "nearest",
    "jobs.route": "route",
    "jobs.routes": "Routes",
    "jobs.rows": "apsp",
    "jobs.solver": "Solver open",
    "jobs.tree": "bfs sssp",
    "many.customized": "Customized customize",
    "many.rows": "SourceRows",
    "maps.feet": "add_points",
    "maps.plot": "plot",
    "maps.snap": "Points Snaps snap",
    "results.distances": "UNREACHED",
    "results.result": "Result read_result",
    "results.verification": "verify",
}
"""The public names, by the modules that have them."""

_HOMES = {name: f"groute_py.{home}" for home, names in _NAMES.items() for name in names.split()}

# `open` is left out: a star import would hide the built-in
__all__ = sorted(_HOMES.keys() - {"open"})


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package costs nothing."""
    from importlib import import_module

    if name in ("centrality", "csgraph"):
        return import_module(f"groute_py.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    if name in ("PreparedGraph", "read_graph"):
        import_module("groute_py.engine.preparing")  # by which a prepared graph is contracted anew
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
