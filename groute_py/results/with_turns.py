"""The answer of one source in a graph with turns, made of that in its expansion."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from groute_py.graph.ids import Numbering, Positions
from groute_py.results.result import Result
from groute_py.turns.layout import Layout


@dataclass(frozen=True, eq=False)
class TurnResult(Result):
    """A `Result` that has paths, but no predecessors.

    A path to a vertex by way of another need not begin with a shortest path to that one, so there
    is no tree. See `groute_py.turns.expanded`.
    """

    solved: Result = field(kw_only=True)
    layout: Layout = field(kw_only=True)

    def positions_to(self, vertex: int | str | Positions) -> list[int]:
        """See `Result.positions_to`; a path may pass a vertex more than once."""
        (end,) = self.layout.ends(np.array([self.numbering.index_of(vertex)])).tolist()
        states = np.array(self.solved.positions_to(Positions(end)), np.int64)
        path: list[int] = self.layout.path(states).tolist()
        return path


def in_vertices(result: Result, layout: Layout, source: int, numbering: Numbering) -> Result:
    """Return the answer that a user gets."""
    if not layout.is_expanded:
        return result
    places = result.coordinates
    return TurnResult(
        source,
        layout.at_ends(result.distances),
        None,
        result.statistics,
        numbering.first,
        numbering.ids,
        result.reverse,
        None if places is None else places[: layout.vertex_count],
        result.attribution,
        solved=result,
        layout=layout,
    )


def solved_result(result: Result) -> Result:
    """Return the answer in the graph that was solved."""
    return result.solved if isinstance(result, TurnResult) else result
