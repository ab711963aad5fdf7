"""A solver's recipe: the file, the columns and the options by which another process opens it."""

from __future__ import annotations

import os
import platform
import secrets
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from groute_py.comm.base import SoloChannel
from groute_py.engine.option_values import SHORTEST
from groute_py.engine.options import Options
from groute_py.errors import FormatError, InputError
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.hierarchy.prepared import PreparedGraph, file_of_prepared
from groute_py.io.file_head import Source
from groute_py.io.formats import native, prepared
from groute_py.io.registry import write_graph
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.many.opened import Opened, source_of
from groute_py.system.own_files import scratch_folder

MOST_REOPENED = 4
"""Solvers that a process keeps for the next copy of the same recipe: those used last."""

OPENING = RLock()

_reopened_here: dict[tuple[int, bytes], Any] = {}
"""The solvers of recipes, by the process, which may be a fork of another; those used last at the
end."""


def reopened(recipe: bytes, kind: type[Any]) -> Any:
    """Return this process's solver of a recipe, which is opened when it is first used."""
    with OPENING:
        key = os.getpid(), recipe
        solver = _reopened_here.pop(key, None)
        is_closed = solver is not None and "_opened" in vars(solver) and solver._opened.is_closed
        if solver is None or is_closed or solver._recipe != recipe:  # `update` changes it
            solver = object.__new__(kind)
            solver._recipe = recipe
        _reopened_here[key] = solver
        for oldest in list(_reopened_here)[:-MOST_REOPENED]:
            del _reopened_here[oldest]
        return solver


class Recipe(NamedTuple):
    """A way to open a graph again; one in memory is in a temporary file of its process."""

    path: Path
    state: Source  # of the file
    columns: Columns
    options: Options

    @classmethod
    def of(cls, opened: Opened) -> Recipe:
        """The recipe of a graph that is open on one rank; several are an `InputError`."""
        if (ranks := opened.channel.size) > 1:
            raise InputError(
                f"a solver of {ranks} ranks cannot be pickled, as another process is none of "
                "them; open it on each rank by itself, with comm=MPI.COMM_SELF"
            )
        with opened.alone():
            options, file = opened.options_again, opened.source.file
            if file is None:
                options = options.with_coordinates(opened.origin.what)
                path, columns = _file_of(_forward(opened)), BY_TITLE
                state = Source.of(path)
            else:
                path, state, columns = file.path, file.state, opened.source.columns
            names = {name: _absolute(getattr(options, name)) for name in ("turns", "coordinates")}
            return cls(path, state, columns, replace(options, **names))

    def open(self) -> Opened:
        """Open the graph on this process alone; `InputError` if the file is another, or gone."""
        try:
            problem = "was changed" if Source.of(self.path) != self.state else None
        except FormatError as error:
            problem = str(error).removeprefix(f"{self.path}: ")
        if problem is not None:
            raise InputError(
                f"{self.path}: {problem} (seen from {platform.node()}) since the solver was "
                "pickled; put the graph where every process sees it, and open it again"
            )
        source = source_of(self.path, self.options, self.columns)
        return Opened(source, SoloChannel(), self.options)


def _forward(opened: Opened) -> Graph:
    """The graph as it was given, without turns, and with its own weights."""
    is_plain = opened.options.turns is None and opened.options.objective == SHORTEST
    if is_plain and opened.supply_direction is Direction.FORWARD:
        return opened.forward()
    given: dict[str, Any] = {"turns": None, "objective": SHORTEST, "direction": Direction.FORWARD}
    graph = replace(opened.source, **given).graph()
    if graph.arc_ids is not None:
        raise InputError("turns between arcs need the file of the graph; write it, and open that")
    return graph


def _file_of(graph: Graph) -> Path:
    """A file that has the graph; that of a prepared one may be another than was mapped."""
    if (file := file_of_prepared(graph)) is not None and prepared.is_as_mapped(file):
        return file.path
    suffix = prepared.SUFFIX if isinstance(graph, PreparedGraph) else native.SUFFIX
    path = scratch_folder() / f"{secrets.token_hex(8)}{suffix}"
    write_graph(graph.to_host(), path)
    return path


def _absolute(value: Any) -> Any:
    """A path wherever the process is; anything else as it is."""
    return Path(value).absolute() if isinstance(value, str | os.PathLike) else value
