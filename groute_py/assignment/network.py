"""The network and the classes of travellers of an assignment, from what a user gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.demand import ROW_BYTES, Classes, Trips, UserClass, trips_of
from groute_py.assignment.link_costs import LinkTimes, bpr_of, checked_values
from groute_py.device.loading import Origins
from groute_py.errors import FormatError, GraphError, InputError, quote, quoted
from groute_py.graph.csr import Graph
from groute_py.io.text.lines import csv_rows

BALANCE = 1e-6
"""Share of all trips by which flows to begin at may miss the trips at a vertex."""


class PathFigures(NamedTuple):
    """Figures that a loading of c classes has besides the flows of m links.

    A loading has, behind these flows: s times those through a selection, s times the trips through
    it between z zones, and q sums of values of links along the paths between zones.
    """

    zones: NDArray[np.int64]  # int64, (z,): vertices of the graph, ascending
    pairs: Origins  # of all zones, without trips
    places: list[NDArray[np.int64]]  # by class, of each of its trips in (z, z), flat
    selections: NDArray[np.float64]  # float64, (s, m): 1 for the links of each
    values: NDArray[np.float64]  # float64, (c, q, m): fixed costs, then columns

    @property
    def matrix_count(self) -> int:
        """The number of matrices of a class, s + q."""
        return int(len(self.selections) + self.values.shape[1])

    @property
    def width(self) -> int:
        """The number of figures of a class."""
        return int(self.selections.size + len(self.zones) ** 2 * self.matrix_count)


class TrafficNetwork(NamedTuple):
    """A network with travellers."""

    graph: Graph  # of m arcs
    through: Graph  # of the same arcs, where paths begin and end at two vertices of each zone
    times: LinkTimes
    names: list[str]  # of the classes
    classes: Classes  # with trips between vertices of ``through``
    figures: PathFigures | None = None  # that are asked for of paths


def network_of(
    graph: Graph, demand: Any, times: LinkTimes | None, first_through: int | None
) -> TrafficNetwork:
    """Return the network of the arguments of `groute_py.assign`, which lists the errors."""
    times = bpr_of(graph) if times is None else times
    links = np.shape(getattr(times, "capacities", 1.0))
    if links not in ((), (graph.arc_count,)):
        count = f"{quoted(graph.name)} has {graph.arc_count:,} links"
        raise GraphError(f"times are of {links[0]:,} links, and {count}; give one for each")
    names, classes = _classes(demand, graph)
    zones = _zones(graph, first_through)
    through, classes = _without_through_zones(graph, classes, zones)
    return TrafficNetwork(graph, through, times, names, classes)


def _classes(demand: Any, graph: Graph) -> tuple[list[str], Classes]:
    """The classes of travellers and their names."""
    by_name = demand if isinstance(demand, Mapping) else {"all": demand}
    if not by_name:
        raise InputError("there is no class of travellers")
    classes = [
        some if isinstance(some, UserClass) else UserClass(some) for some in by_name.values()
    ]
    fixed = np.zeros((len(classes), graph.arc_count))
    for name, some, costs in zip(by_name, classes, fixed, strict=True):
        if not (np.isfinite(some.pce) and some.pce > 0):
            raise InputError(f"class {quote(str(name))}: pce must be positive, not {some.pce}")
        for title, factor in some.factors.items():
            if title not in graph.columns:
                raise GraphError(f"{quoted(graph.name)} has no column {quote(title)}")
            costs += checked_values(
                f"{title} times {factor}", factor * graph.columns[title], len(costs)
            )
    trips = [trips_of(some.demand, graph) for some in classes]
    return list(map(str, by_name)), Classes(trips, fixed, np.array([some.pce for some in classes]))


def _zones(graph: Graph, first_through: int | None) -> int:
    """Return how many vertices from 0 are zones that no path leads through."""
    if first_through is None:
        first_through = graph.reading.first_through if graph.reading is not None else None
    if first_through is None:
        return 0
    if graph.ids is not None or not 0 <= first_through - graph.first_id <= graph.vertex_count:
        raise InputError(f"first_through: {first_through} is no vertex that counts from the first")
    return first_through - graph.first_id


def _without_through_zones(graph: Graph, classes: Classes, zones: int) -> tuple[Graph, Classes]:
    """A graph of the same arcs where zones are two vertices, of which paths end at the second."""
    if not zones:
        return graph, classes
    heads, count = graph.heads.astype(np.int64), graph.vertex_count
    offsets = np.append(graph.offsets, np.full(zones, graph.arc_count))
    split = Graph.from_arrays(
        offsets, np.where(heads < zones, heads + count, heads), graph.weights, name=graph.name
    )
    return split, classes._replace(trips=[_ending_at(some, zones, count) for some in classes.trips])


def _ending_at(trips: Trips, zones: int, count: int) -> Trips:
    ends = trips.origins.destinations
    return replace(
        trips,
        origins=trips.origins._replace(destinations=np.where(ends < zones, ends + count, ends)),
    )


def _saved(path: Path, network: TrafficNetwork) -> NDArray[np.float64]:
    """Flows of a table that `Assignment.save` has written, shape (c, m)."""
    rows = csv_rows(path, "flows", ROW_BYTES)
    line, titles = next(rows, (1, []))
    names, pce = network.names, network.classes.pce
    own = [f"flow_{name}" for name in names] if len(names) > 1 else ["volume"]
    if missing := [title for title in own if title not in titles]:
        raise FormatError(path, f"there is no column {', '.join(map(quote, missing))}", line=line)
    flows = []
    for line, row in rows:
        try:
            flows.append([float(row[titles.index(title)]) for title in own])
        except (IndexError, ValueError):
            raise FormatError(
                path, f"expected flows, got {quote(','.join(row))}", line=line
            ) from None
    return np.array(flows).reshape(-1, len(own)).T / (pce if len(names) == 1 else 1.0)


def start_of(start: Any, network: TrafficNetwork) -> NDArray[np.float64]:
    """Flows to begin at, shape (c, m), from such an array, an `Assignment`, or a table of one."""
    classes = network.classes
    if isinstance(start, str | Path):
        start = _saved(Path(start), network)
    flows = np.asarray(getattr(start, "class_flows", start), np.float64)
    flows = np.atleast_2d(flows)
    if flows.shape != classes.fixed.shape:
        raise InputError(f"start: flows have shape {flows.shape}, not {classes.fixed.shape}")
    if not (np.isfinite(flows) & (flows >= 0)).all():
        raise InputError("start: a flow is negative, missing or infinite")
    return flows


def check_balance(network: TrafficNetwork, flows: NDArray[Any], loading: NDArray[Any]) -> None:
    """Raise `InputError` for flows to begin at that begin or end elsewhere than a loading's."""
    graph, count = network.graph, network.graph.vertex_count
    for own, other, trips in zip(flows, loading, network.classes.trips, strict=True):
        tails, heads = (np.bincount(v, own - other, count) for v in (graph.tails(), graph.heads))
        balance = (tails - heads).astype(np.float64)  # integers of nothing
        worst = int(np.abs(balance).argmax())
        if abs(balance[worst]) > BALANCE * max(trips.origins.trips.sum(), 1.0):
            vertex = graph.numbering.id_of(worst)
            raise InputError(
                f"start: flows at vertex {quoted(vertex)} miss the trips by {balance[worst]:g}; "
                "flows begin at those of the same trips"
            )
