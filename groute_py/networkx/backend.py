"""The backend (entry point `networkx.backends`): conversions, dispatch decisions, the functions.

Each name in `info.FUNCTIONS` is an attribute of this module. Arguments, return values and
exceptions of the functions are those of NetworkX's functions of the same names, with these rules:

* Lengths are Python ints for integer weights, exact in 64 bits, and floats otherwise.
* ``nx.NodeNotFound``: a source or target is not a node. ``nx.NetworkXNoPath``: no path leads to it.
* ``nx.NetworkXUnbounded``: a negative cycle can be reached.
* NotImplementedError: weights or lengths that no machine number holds; NetworkX then runs its own
  function, if it may.
"""

from __future__ import annotations

from typing import Any

from groute_py.networkx import centrality as centrality  # each registers its functions
from groute_py.networkx import dense as dense
from groute_py.networkx import paths as paths
from groute_py.networkx.graph import BY_NAME, convert_from_nx, convert_to_nx

__all__ = ["can_run", "convert_from_nx", "convert_to_nx", "should_run"]

SMALL = 1000  # up to this many edges NetworkX's own functions are at least as fast


def can_run(name: str, args: Any, kwargs: dict[str, Any]) -> bool | str:
    """True, or the reason why the backend cannot run the call: the weight is a function."""
    if any(callable(value) for value in (*args[1:], *kwargs.values())):
        return "a weight that is a Python function cannot be run"
    return True


def should_run(name: str, args: Any, kwargs: dict[str, Any]) -> bool | str:
    """True, or a reason not to run; NetworkX asks before it converts a graph automatically."""
    graph = args[0] if args else kwargs["G"]
    if hasattr(graph, "number_of_edges") and graph.number_of_edges() <= SMALL:
        return f"a graph of at most {SMALL} edges is solved faster than converted"
    return True


def __getattr__(name: str) -> Any:
    """Return NetworkX's function of this name."""
    if name not in BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return BY_NAME[name]
