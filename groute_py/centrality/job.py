"""One centrality or measure of distances of an open graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from groute_py.centrality.dependencies import Accumulated, accumulated
from groute_py.centrality.distances import Reduced, reduced
from groute_py.centrality.scores import ArcScores, Scores, arc_scores, row_scores, vertex_scores
from groute_py.comm.agree import on_root
from groute_py.engine.options import Options
from groute_py.errors import InputError
from groute_py.many.sources import Vertices
from groute_py.solver.opened import Opened, Work

VERTICES = ("closeness", "harmonic", "eccentricity")
COUNTED = ("betweenness", "edge_betweenness")
NUMBERS = ("diameter", "radius", "mean")
MEASURES = (*VERTICES, *COUNTED, *NUMBERS)
"""Measures of single rows of distances, of all shortest paths, and of all distances together."""


@dataclass(frozen=True, eq=False)
class MeasureJob:
    """A measure, by the sums that it is made of.

    Attributes:
        measure: one of `MEASURES`.
        sources: None for all vertices.
        endpoints: as for `groute_py.centrality.betweenness`.
    """

    measure: str
    sources: Vertices | None = None
    endpoints: bool = False

    def alike(self) -> dict[str, Any]:
        return {"function": self.measure, "endpoints": self.endpoints}

    def check(self, options: Options) -> None:
        options.refuse_cutoff(self.measure)
        options.check("centrality")
        if self.measure in COUNTED and options.reverse:
            raise InputError(f"{self.measure} is of paths in both directions; open without reverse")

    def run(self, opened: Opened, work: Work) -> Reduced | Accumulated | None:
        on_root(opened.channel, lambda: opened.options.refuse_turns(self.measure))
        if self.measure in COUNTED:
            by_arc = self.measure == "edge_betweenness"
            how = {"by_arc": by_arc, "endpoints": self.endpoints, "errors": True}
            return accumulated(opened, self.sources, work, **how)
        found = reduced(opened, self.sources, self.measure, work)
        if self.measure == "radius":  # of which there is none where no source reaches all
            on_root(opened.channel, lambda: found is not None and found.most_central)
        return found


def scores_of(found: Any, measure: str, *, normalized: bool = False) -> Scores | ArcScores:
    """The values of vertices or arcs; ``found`` is that of `MeasureJob`."""
    if measure == "betweenness":
        return vertex_scores(found, normalized=normalized)
    if measure == "edge_betweenness":
        return arc_scores(found, normalized=normalized)
    if measure == "eccentricity":
        return row_scores(found, found.rows.greatest)
    return row_scores(found, getattr(found, measure)(normalized=normalized))


def measured(
    opened: Opened,
    measure: str,
    sources: Vertices | None,
    *,
    normalized: bool = False,
    endpoints: bool = False,
) -> Any:
    """Answer as the function of `groute_py.centrality` does that has the name of the measure."""
    found: Any = opened.answer(MeasureJob(measure, sources, endpoints))
    if found is None:
        return None
    if measure == "mean":
        return found.mean()[0]
    if measure in NUMBERS:
        row = found.farthest if measure == "diameter" else found.most_central
        return found.rows.greatest[row].item()
    return scores_of(found, measure, normalized=normalized)
