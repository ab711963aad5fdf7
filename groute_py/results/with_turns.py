"""The answer of one source in a graph with turns, made of that in its expansion."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from groute_py.arguments import vertex_number
from groute_py.errors import InputError
from groute_py.graph.ids import Numbering
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

    def path_to(self, vertex: int) -> list[int]:
        """See `Result.path_to`; a path may pass a vertex more than once."""
        vertex = vertex_number("vertex", vertex)
        if not 0 <= vertex < len(self.distances):
            raise InputError(f"vertex {vertex} is out of range 0..{len(self.distances) - 1}")
        (end,) = self.layout.ends(np.array([vertex])).tolist()
        path: list[int] = self.layout.path(np.array(self.solved.path_to(end), np.int64)).tolist()
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


def solved_form(result: Result) -> Result:
    """Return the answer in the graph that was solved."""
    return result.solved if isinstance(result, TurnResult) else result
