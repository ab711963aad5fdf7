"""What holds for every graph that a reader returns."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from groute_py import Graph, PreparedGraph, read_graph, write_graph
from groute_py.graph.arrays import WEIGHT_TYPES
from groute_py.graph.hierarchy.hierarchy import Hierarchy

LARGEST = 2**63 - 1


class BrokenRuleError(AssertionError):
    """A reader has returned a graph that breaks a rule; the message names it."""


def require(holds: object, rule: str) -> None:
    """Raise `BrokenRuleError` unless the rule holds."""
    if not holds:
        raise BrokenRuleError(rule)


def check_graph(graph: Graph) -> None:
    """Check arrays, ids and name; shares no code with the checks of `Graph`."""
    offsets, heads, weights = graph.offsets, graph.heads, graph.weights
    require(offsets.dtype == np.int64 and offsets.ndim == 1 and len(offsets), "offsets are int64")
    count = len(offsets) - 1
    require(offsets[0] == 0 and offsets[-1] == len(heads), "offsets go from 0 to the arc count")
    require((np.diff(offsets) >= 0).all(), "offsets never decrease")
    require(heads.dtype in (np.int32, np.int64) and heads.ndim == 1, "heads are int32 or int64")
    require(((heads >= 0) & (heads < count)).all(), "heads are vertices")
    require(weights.dtype in WEIGHT_TYPES and weights.shape == heads.shape, "one weight an arc")
    require(np.isfinite(weights).all(), "weights are finite")
    require(isinstance(graph.name, str), "the name is text")
    _check_ids(graph, count)
    _check_more(graph, count)
    if isinstance(graph, PreparedGraph):
        _check_hierarchy(graph.hierarchy, count)


def check_round_trip(graph: Graph, folder: Path) -> None:
    """Check that the native file of the graph holds the same graph."""
    path = folder / "again.csr"
    write_graph(graph, path)
    require_same(read_graph(path, cache=False), graph, "the native file holds another graph")
    path.unlink()


def require_same(graph: Graph, other: Graph, rule: str) -> None:
    """Require equal arrays, types and ids."""
    for name in ("offsets", "heads", "weights"):
        one, two = getattr(graph, name), getattr(other, name)
        require(one.dtype == two.dtype and np.array_equal(one, two), f"{rule}: {name}")
    require((graph.ids is None) == (other.ids is None), f"{rule}: ids")
    if graph.ids is not None and other.ids is not None:
        require(graph.ids.tolist() == other.ids.tolist(), f"{rule}: ids")
    require(graph.first_id == other.first_id, f"{rule}: first_id")
    require(graph.attribution == other.attribution, f"{rule}: attribution")
    require(list(graph.columns) == list(other.columns), f"{rule}: columns")
    pairs = [(graph.columns[name], other.columns[name]) for name in graph.columns]
    pairs += zip(graph.shapes or (), other.shapes or (), strict=True)
    if graph.coordinates is not None and other.coordinates is not None:
        pairs.append((graph.coordinates, other.coordinates))
    require(all(np.array_equal(one, two) for one, two in pairs), f"{rule}: coordinates or shapes")


def _check_more(graph: Graph, count: int) -> None:
    """What belongs to vertices and arcs beside the three arrays."""
    places = graph.coordinates
    require(places is None or places.shape == (count, 2), "a place for each vertex")
    require(places is None or np.isfinite(places).all(), "places are finite")
    for column in graph.columns.values():
        require(column.shape == graph.heads.shape, "a weight for each arc in each column")
        require(np.isfinite(column).all(), "weights of columns are finite")
    for arc in range(graph.arc_count if graph.shapes is not None else 0):
        assert graph.shapes is not None
        require(np.isfinite(graph.shapes.of(arc)).all(), "points of shapes are finite")


def _check_hierarchy(result: Hierarchy, count: int) -> None:
    """What keeps searches within the arrays, arc by arc."""
    require(sorted(result.vertices.tolist()) == list(range(count)), "each vertex has a place")
    levels, offsets, heads = list(result.levels), result.offsets.tolist(), result.heads.tolist()
    require(levels == sorted(levels) and levels[-1] == count, "levels rise to the vertex count")
    require(len(offsets) == count + 1 and offsets[-1] == len(heads), "a row for each place")
    for low, high in pairwise(levels):
        for place in range(low, high):
            row = heads[offsets[place] : offsets[place + 1]]
            require(all(0 <= head < low for head in row), "arcs lead upward")
    for weights in (result.down, result.up):
        require(weights.shape == (len(heads),), "a weight for each arc in each direction")
    core = levels[1]
    ends, core_heads = result.core_offsets.tolist(), result.core_heads.tolist()
    require(ends[0] == 0 and ends == sorted(ends), "offsets of the core rise from 0")
    require(len(ends) == core + 1 and ends[-1] == len(core_heads), "a row for each of the core")
    require(all(0 <= head < core for head in core_heads), "arcs of the core stay in it")
    require(result.core_weights.shape == (len(core_heads),), "a weight for each of these")
    for weights in (result.down, result.up, result.core_weights):
        require(weights.dtype in (np.int32, np.int64), "weights are int32 or int64")
        require((weights >= 0).all(), "weights are not negative")


def _check_ids(graph: Graph, count: int) -> None:
    first, ids = graph.first_id, graph.ids
    require(type(first) is int, "first_id is an integer")
    if ids is None:
        last = first + max(count - 1, 0)
        require(first >= -LARGEST - 1 and last <= LARGEST, "ids fit in 64 bits")
        return
    require(ids.dtype == np.int64 or ids.dtype.kind == "U", "ids are int64 or text")
    require(ids.shape == (count,), "one id a vertex")
    known = ids.tolist()
    require(len(set(known)) == count, "ids are distinct")
    for name in known if ids.dtype.kind == "U" else []:
        require("\0" not in name, "names hold no null character")
        require(name.encode("utf-8", "replace").decode() == name, "names are Unicode")
    for vertex in (0, count - 1) if count else ():
        result = graph.numbering.index_of(graph.numbering.id_of(vertex))
        require(result == vertex, "an id leads back to its vertex")
