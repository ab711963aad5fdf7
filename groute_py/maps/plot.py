"""The public function that draws an answer, a graph, telemetry or a trace into a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, check_choice, check_truth, check_whole_number, file_path
from groute_py.graph.csr import Graph
from groute_py.graph.units import shown_unit
from groute_py.maps import drawings
from groute_py.maps.charts import TITLES, draw_convergence, draw_histogram, draw_time_line
from groute_py.maps.places import layout_in, layout_of
from groute_py.maps.saved import TimeLine, saved_in
from groute_py.maps.sheet import LONGEST, add_attribution, check_picture, save_picture, styled
from groute_py.partition.share import partitioners
from groute_py.results.distances import shown_distances
from groute_py.results.result import Result
from groute_py.source.graph_source import GraphSource

SIZES = range(200, 20_001)  # pixels that the longer side may have


@runtime_checkable
class Flows(Protocol):
    """An assignment, `groute_py.Assignment`."""

    graph: Graph
    volumes: NDArray[np.float64]
    history: Sequence[Any]


USUAL_UNIT = "units of weight"  # the unit in a legend where none is known


@dataclass(frozen=True)
class Wish:
    """The way to draw something; the attributes are arguments of `plot`."""

    coordinates: Any = None
    tree: bool = False
    paths: Sequence[int | str] = ()
    parts: int | None = None
    partition: str = "arcs"
    unit: str = USUAL_UNIT
    size: int = LONGEST
    planar: bool = False

    def check(self) -> None:
        """Raise `InputError` for what cannot be drawn of anything."""
        check_choice("partition", self.partition, partitioners())
        check_whole_number("size", self.size)
        check_truth("planar", self.planar)
        check_truth("tree", self.tree)
        if self.partition != "arcs" and self.parts is None:
            raise InputError(f"partition {self.partition} is of parts; say how many parts")
        if self.size not in SIZES:
            raise InputError(f"size {self.size} is not in {SIZES.start}..{SIZES.stop - 1} pixels")
        if sum((self.tree, len(self.paths) > 0, self.parts is not None)) > 1:
            raise InputError("a picture shows the tree, paths or parts; draw one of them")

    def refuse(self, what: str, *names: str) -> None:
        """Raise `InputError` if one of some attributes is set, which cannot be drawn of this."""
        for name in names:
            value = getattr(self, name)
            if not (value is None or value is False or value == ()):
                raise InputError(f"{name} cannot be drawn of {what}; drop it")


def plot(
    what: Any,
    output: str | Path,
    *,
    coordinates: Any = None,
    tree: bool = False,
    paths: Sequence[int | str] = (),
    parts: int | None = None,
    partition: str = "arcs",
    unit: str = USUAL_UNIT,
    size: int = LONGEST,
    planar: bool = False,
) -> None:
    """Draw an answer or a graph as a map, or an answer without coordinates as a histogram.

    An answer is drawn as its distances, or as its tree or some paths. A graph is drawn as its arcs,
    or as the parts of a partition; an assignment as its flows, or without coordinates as the gap
    over time. Drawn are the arcs of up to four million vertices; of more, each
    pixel has the mean of its vertices.

    Args:
        what: a `Result`; an `Assignment`; a graph, as for `groute_py.sssp`; the path of a saved
            result (``.npz``, ``.npy``, ``.csv`` or ``.parquet``), of a graph file, or of the file
            of ``--telemetry`` or ``--trace``.
        output: the file, ``.png`` or ``.svg``; it is complete or absent.
        coordinates: a DIMACS ``.co`` or a TNTP ``_node.tntp`` file, compressed or not; the file of
            a graph that has coordinates, or such a `Graph`; the spec ``"road:WxH"`` of a grid; or
            numbers of shape (n, 2), x and y. A graph's own, or the file beside it, are taken where
            this is None.
        tree: draw how many vertices are reached through each arc of the shortest-path tree.
        paths: draw the shortest paths to these vertices, by their ids.
        parts: draw a graph in so many parts.
        partition: what the parts have equally many of: ``"arcs"`` or ``"vertices"``; or
            ``"first"``.
        unit: of the weights, for the legend; by default that of the answer, if it is known.
        size: pixels of the longer side of a map, or the width of a chart; 200 to 20000.
        planar: whether coordinates are x and y on a plane; else whole numbers are millionths of a
            degree and others degrees, as far as they are in the range.

    Raises:
        InputError: the arguments do not go together, or the file cannot be written.
        SetupError: Matplotlib is not installed: ``pip install groute-py[plot]``.

    >>> plot("road:30x20", "/tmp/town.co")
    Traceback (most recent call last):
        ...
    groute_py.errors.InputError: /tmp/town.co: unknown suffix '.co'; a picture is .png, .svg
    """
    wish = Wish(coordinates, tree, tuple(paths), parts, partition, unit, size, planar)
    wish.check()
    path = file_path("output", output)
    check_picture(path)
    draw(subject_of(what), what, wish, path)


def subject_of(what: Any) -> Any:
    """The answer that is drawn, or the one that a file holds; None for a graph."""
    if isinstance(what, str | Path):
        return saved_in(what)
    return what if isinstance(what, Result | TimeLine | Flows) else None


def draw(subject: Any, source: Any, wish: Wish, path: Path) -> None:
    """Draw a `Result`, `TimeLine`, `Flows` or `Graph`; for None the graph of the source."""
    with styled():
        if isinstance(subject, Result):
            title, figure = _of_result(subject, wish)
        elif isinstance(subject, TimeLine):
            wish.refuse(f"a {subject.kind} file", "coordinates", "planar", "tree", "paths", "parts")
            title, figure = TITLES[subject.kind], draw_time_line(subject, wish.size)
        elif isinstance(subject, Flows):
            title, figure = _of_flows(subject, wish)
        else:
            graph = GraphSource(source).graph() if subject is None else subject
            title, figure = _of_graph(graph, source, wish)
        save_picture(figure, title, path)


def _of_result(result: Result, wish: Wish) -> tuple[str, Any]:
    wish.refuse("a result", "parts")
    own = result.units.get("", "")
    if wish.unit == USUAL_UNIT and own:
        wish = replace(wish, unit=shown_unit(own))
        result = replace(result, distances=shown_distances(result.distances, own))
    if not len(result.distances):
        raise InputError("a result without vertices cannot be drawn")
    if wish.coordinates is None:
        if wish.tree or wish.paths:
            raise InputError("a tree and paths are drawn over places; give coordinates")
        wish.refuse("a histogram", "planar")
        figure = draw_histogram(result, wish.unit, wish.size)
        add_attribution(figure, result.attribution)
        return "Distances", figure
    layout = layout_of(wish.coordinates, len(result.distances))._replace(planar=wish.planar)
    if wish.paths:
        sheet = drawings.draw_paths(result, wish.paths, layout, wish.unit, wish.size)
    elif wish.tree:
        sheet = drawings.draw_tree(result, layout, wish.unit, wish.size)
    else:
        sheet = drawings.draw_distances(result, layout, wish.unit, wish.size)
    sheet.add_attribution(result.attribution or layout.attribution)
    return sheet.title, sheet.figure


def _of_flows(flows: Flows, wish: Wish) -> tuple[str, Any]:
    wish.refuse("an assignment", "tree", "paths", "parts")
    if wish.coordinates is None:
        wish.refuse("a chart of the gap", "planar")
        return TITLES["history"], draw_convergence(flows.history, wish.size)
    graph = flows.graph
    layout = layout_of(wish.coordinates, graph.vertex_count)._replace(planar=wish.planar)
    sheet = drawings.draw_flows(graph, flows.volumes, layout, wish.size)
    sheet.add_attribution(graph.attribution or layout.attribution)
    return sheet.title, sheet.figure


def _of_graph(graph: Graph, source: Any, wish: Wish) -> tuple[str, Any]:
    wish.refuse("a graph", "tree", "paths")
    graph = graph.to_host()
    if not graph.vertex_count:
        raise InputError(f"{graph.name} has no vertices to draw")
    layout = layout_in(graph, source, wish.coordinates)._replace(planar=wish.planar)
    if wish.parts is None:
        sheet = drawings.draw_network(graph, layout, wish.size)
    else:
        sheet = drawings.draw_parts(graph, wish.parts, wish.partition, layout, wish.size)
    sheet.add_attribution(graph.attribution or layout.attribution)
    return sheet.title, sheet.figure
