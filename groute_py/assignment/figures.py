"""Figures of the paths that travellers use: skims, and trips through selected links.

They are sums over paths, and so are linear in the loadings. The method moves them as it moves the
flows of links, and they belong to the very paths that the flows are made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.network import PathFigures, TrafficNetwork
from groute_py.device.loading import Origins
from groute_py.errors import GraphError, InputError, check_kind, plain, quote, quoted
from groute_py.graph.csr import Graph
from groute_py.system.memory_limits import check_room

Selections = Mapping[str, Sequence[tuple[Any, Any]]]
"""Pairs (tail, head) of ids by the name of a selection."""

OWN = ("cost", "time")  # names of skims that are no columns of the graph

COPIES = 8
"""Arrays of all figures at once: flows, targets, loadings, and what lies between them."""


def figures_of(
    network: TrafficNetwork, skims: Sequence[str], select: Selections
) -> PathFigures | None:
    """Return the figures that are asked for, if any."""
    if not skims and not select:
        return None
    graph, classes = network.graph, network.classes
    count, split = graph.vertex_count, network.through.vertex_count - graph.vertex_count
    ends = [(some.origins.origins, some.origins.destinations) for some in classes.trips]
    whole = [np.where(place >= count, place - count, place) for both in ends for place in both]
    zones = np.unique(np.concatenate(whole))
    columns = [_column(graph, name) for name in skims if name not in OWN]
    selections = np.array([_links(graph, name, some) for name, some in select.items()])
    values = [[fixed, *columns] if skims else [] for fixed in classes.fixed]
    z = len(zones)
    figures = PathFigures(
        zones,
        Origins(
            zones,
            np.arange(z + 1) * z,
            np.tile(np.where(zones < split, zones + count, zones), z),
            np.empty(0),
        ),
        [_places(zones, some.origins, count) for some in classes.trips],
        selections.reshape(len(select), graph.arc_count),
        np.array(values).reshape(len(ends), len(values[0]), graph.arc_count),
    )
    check_room(8 * COPIES * len(ends) * figures.width, f"figures of {z:,} zones")
    return figures


def _column(graph: Graph, name: str) -> NDArray[np.float64]:
    if name not in graph.columns:
        known = ", ".join([*OWN, *graph.columns])
        raise GraphError(f"{quoted(graph.name)} has no column {quote(name)}; skims are {known}")
    return np.asarray(graph.columns[name], np.float64)


def selections_in(select: Any) -> Selections:
    """Selections as plain values, which can be compared; `InputError` for what is none."""
    check_kind("select", select, Mapping, "a mapping of names to links")
    return {str(name): _pairs(name, ends) for name, ends in select.items()}


def _pairs(name: Any, ends: Any) -> list[tuple[Any, Any]]:
    try:
        return [(plain(tail), plain(head)) for tail, head in ends]
    except (TypeError, ValueError):
        raise InputError(
            f"select {quote(name)}: links are pairs (tail, head), not {quote(ends)}"
        ) from None


def _links(graph: Graph, name: str, pairs: Sequence[Any]) -> NDArray[np.float64]:
    """Return 1 for the links between pairs of ids, shape (m,)."""
    chosen = np.zeros(graph.arc_count)
    for pair in pairs:
        tail, head = graph.numbering.indices_of(list(pair), f"select {name}: end", graph.name)
        row = slice(graph.offsets[tail], graph.offsets[tail + 1])
        if not (is_there := graph.heads[row] == head).any():
            names = " to ".join(quoted(end) for end in pair)
            raise InputError(f"select {quote(name)}: no link leads from {names}")
        chosen[row][is_there] = 1
    return chosen


def _places(zones: NDArray[np.int64], trips: Origins, count: int) -> NDArray[np.int64]:
    """The place of each pair of ends in a flat matrix of zones."""
    ends = np.where(trips.destinations >= count, trips.destinations - count, trips.destinations)
    rows = np.repeat(np.searchsorted(zones, trips.origins), np.diff(trips.starts))
    return np.asarray(rows * len(zones) + np.searchsorted(zones, ends), np.int64)


def figures_in(
    network: TrafficNetwork,
    skims: Sequence[str],
    select: Selections,
    flows: NDArray[np.float64],
    least: NDArray[np.float64],
) -> tuple[dict[str, NDArray[np.float64]], NDArray[Any], dict[str, NDArray[np.float64]]]:
    """Return flows through selections, ids of zones, and matrices of zones, from flows (c, …).

    ``least`` are the costs of the cheapest paths, shape (c, z²).
    """
    if (figures := network.figures) is None:
        return {}, np.empty(0, np.int64), {}
    z, m = len(figures.zones), network.graph.arc_count
    begin = m + figures.selections.size
    columns = [name for name in skims if name not in OWN]
    selected, matrices = dict[str, NDArray[np.float64]](), dict[str, NDArray[np.float64]]()
    for name, row, costs in zip(network.names, flows, least, strict=True):
        end = f"_{name}" if len(flows) > 1 else ""
        through = row[m:begin].reshape(len(select), m)
        sums = row[begin:].reshape(figures.matrix_count, z, z)
        for place, title in enumerate(select):
            selected[f"{title}{end}"] = through[place]
            matrices[f"trips_{title}{end}"] = sums[place]
        if not skims:
            continue
        fixed, *values = sums[len(select) :]
        cost = costs.reshape(z, z)
        known = {"cost": cost, "time": cost - fixed, **dict(zip(columns, values, strict=True))}
        for title in skims:
            skim = np.where(np.isfinite(cost), known[title], np.inf)
            np.fill_diagonal(skim, 0)
            matrices[f"{title}{end}"] = skim
    return selected, network.graph.numbering.ids_of(figures.zones), matrices
