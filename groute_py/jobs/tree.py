"""Shortest paths from one source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from groute_py.comm.agree import at_root, on_root
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver, ends_of
from groute_py.results.result import Result
from groute_py.solver.opened import Opened, Work
from groute_py.source.whole import Whole


@dataclass(frozen=True, eq=False)
class TreeJob:
    """Shortest paths from a source, and as many solves as are wanted.

    Attributes:
        source, targets: as for `groute_py.sssp`.
        name: of the function or method.
        brings_tree: whether predecessors come to the answer too.
    """

    source: Any
    targets: Sequence[int] = ()
    name: str = "sssp"
    brings_tree: bool = True

    def alike(self) -> dict[str, Any]:
        return {"function": self.name}

    def check(self, options: Options) -> None:
        ends_of(self.source, self.targets)
        if self._drops_weights(options):
            options.refuse_cutoff(self.name)

    def run(self, opened: Opened, work: Work) -> Result | None:
        solver = opened.trees
        if self._drops_weights(opened.options):
            on_root(opened.channel, lambda: opened.options.refuse_turns(self.name))
            opened.make_room()
            solver = opened.part(self.name, lambda: _without_weights(opened))
        return solver.sssp(self.source, self.targets, brings_tree=self.brings_tree)

    def _drops_weights(self, options: Options) -> bool:
        return self.name == "bfs" and not options.hops


def _without_weights(opened: Opened) -> SourceSolver:
    """The graph once more, to count arcs; collective."""
    options = replace(opened.options.restricted("bfs"), algorithm="bfs", hops=True)
    unit = at_root(opened.channel, lambda: opened.graph().with_unit_weights())
    return SourceSolver(Whole(unit), opened.channel, options)
