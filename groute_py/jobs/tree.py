"""Shortest paths from one source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from groute_py.comm.agree import at_root, on_root
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.errors import InputError, quote
from groute_py.graph.ids import Positions
from groute_py.many.carry import Carrier, with_sums
from groute_py.many.sources import Vertex, Vertices
from groute_py.results.result import Result
from groute_py.solver.opened import Opened, Work
from groute_py.source.whole import GraphSupply


@dataclass(frozen=True, eq=False)
class TreeJob:
    """Shortest paths from a source; with ``brings_tree`` the answer has predecessors."""

    source: Vertex
    targets: Vertices = ()
    name: str = "sssp"
    brings_tree: bool = True

    def shared_arguments(self) -> dict[str, Any]:
        source: Any = repr(self.source) if isinstance(self.source, Positions) else self.source
        source = None if callable(source) else source
        return {"function": self.name, "source": source, "targets": _comparable(self.targets)}

    def check(self, options: Options) -> None:
        if isinstance(self.source, Iterable) and not isinstance(self.source, str):
            raise InputError(
                f"source {quote(self.source)} is no id of a vertex; for several sources take apsp"
            )
        _comparable(self.targets)
        if self._drops_weights(options):
            options.refuse_cutoff(self.name)
        if options.carry and not options.predecessors:
            raise InputError("carry (--with) needs the tree; leave out predecessors=False")

    def run(self, opened: Opened, work: Work) -> Result | None:
        solver = opened.source_solver
        if self._drops_weights(opened.options):
            on_root(opened.channel, lambda: opened.options.refuse_turns(self.name))
            opened.make_room()
            solver = opened.memo(self.name, lambda: _without_weights(opened))
        source, targets = on_root(opened.channel, lambda: self._ends(opened))
        brings_tree = self.brings_tree or bool(opened.options.carry)
        carrier = at_root(opened.channel, opened.carrier)
        result = solver.sssp(source, targets, brings_tree=brings_tree)
        return at_root(opened.channel, lambda: _with_sums(result, carrier))

    def _ends(self, opened: Opened) -> tuple[int, list[int]]:
        """The positions of the source and the targets, on rank 0."""
        numbering, name = opened.source_solver.numbering, opened.source_solver.facts.name
        assert numbering is not None

        def positions(ends: Any, role: str) -> list[int]:
            if callable(ends):
                vertices = ends(opened.graph())
            else:
                vertices = numbering.indices_of(ends, role, name)
            return list(map(int, vertices.reshape(-1)))

        is_one = callable(self.source) or isinstance(self.source, Positions)
        sources = positions(self.source if is_one else [self.source], "source")
        if len(sources) != 1:
            raise InputError(f"{len(sources)} sources; one is expected, and apsp is for several")
        targets: Any = self.targets
        is_list = not (callable(targets) or isinstance(targets, Positions))
        return sources[0], positions(list(targets) if is_list else targets, "target")

    def _drops_weights(self, options: Options) -> bool:
        return self.name == "bfs" and not options.hops


def _with_sums(result: Result | None, carrier: Carrier | None) -> Result | None:
    if result is None or carrier is None:
        return result
    assert result.predecessors is not None
    every = np.arange(len(result.distances))
    return with_sums(result, carrier.along_tree(result.predecessors, result.reached, every))


def _without_weights(opened: Opened) -> SourceSolver:
    """The graph once more, to count arcs; collective."""
    options = replace(opened.options.restricted("bfs"), algorithm="bfs", hops=True)
    unit = at_root(opened.channel, lambda: opened.graph().with_unit_weights())
    return SourceSolver(GraphSupply(unit), opened.channel, options)


def _comparable(targets: Any) -> Any:
    """Return targets as ranks compare them; None for a locator, which only rank 0 calls."""
    if callable(targets):
        return None
    if isinstance(targets, Positions):
        return repr(targets)
    try:
        if not isinstance(targets, str | Iterator):
            return list(targets)
    except TypeError:  # as of an array without dimensions
        pass
    raise InputError(f"targets {quote(targets)}: a sequence of ids is expected")
