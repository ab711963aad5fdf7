"""One centrality or measure of distances of an open graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from groute_py.centrality.dependencies import Accumulated, accumulated
from groute_py.centrality.distances import Reduced, reduced
from groute_py.centrality.scores import arc_scores, row_scores, vertex_scores
from groute_py.comm.agree import on_root
from groute_py.engine.options import Options
from groute_py.errors import InputError
from groute_py.many.sources import Vertices
from groute_py.solver.opened import Opened, Work

T = TypeVar("T")


@dataclass(frozen=True)
class Measure(Generic[T]):
    """A measure, and its answer from the sums that it is made of, normalized or not."""

    name: str
    answer: Callable[[Any, bool], T]
    of_paths: bool = False  # of all shortest paths, not of distances


CLOSENESS = Measure("closeness", lambda rows, norm: row_scores(rows, rows.closeness(norm)))
HARMONIC = Measure("harmonic", lambda rows, norm: row_scores(rows, rows.harmonic(norm)))
ECCENTRICITY = Measure("eccentricity", lambda rows, _: row_scores(rows, rows.rows.greatest))
DIAMETER = Measure[Any]("diameter", lambda rows, _: rows.rows.greatest[rows.farthest].item())
RADIUS = Measure[Any]("radius", lambda rows, _: rows.rows.greatest[rows.most_central].item())
MEAN = Measure[float]("mean", lambda rows, _: rows.mean()[0])
BETWEENNESS = Measure("betweenness", vertex_scores, of_paths=True)
EDGE_BETWEENNESS = Measure("edge_betweenness", arc_scores, of_paths=True)

OF_DISTANCES = CLOSENESS, HARMONIC, ECCENTRICITY, DIAMETER, RADIUS, MEAN
MEASURES = {one.name: one for one in (*OF_DISTANCES, BETWEENNESS, EDGE_BETWEENNESS)}
"""By the names of the functions of `groute_py.centrality`."""


@dataclass(frozen=True, eq=False)
class MeasureJob:
    """The sums that a measure, a key of `MEASURES`, is made of."""

    measure: str
    sources: Vertices | None = None
    endpoints: bool = False

    def shared_arguments(self) -> dict[str, Any]:
        return {"function": self.measure, "endpoints": self.endpoints}

    def check(self, options: Options) -> None:
        options.refuse_cutoff(self.measure)
        options.check("centrality")
        if MEASURES[self.measure].of_paths and options.reverse:
            raise InputError(f"{self.measure} is of paths in both directions; open without reverse")

    def run(self, opened: Opened, work: Work) -> Reduced | Accumulated | None:
        on_root(opened.channel, lambda: opened.options.refuse_turns(self.measure))
        if MEASURES[self.measure].of_paths:
            by_arc = self.measure == "edge_betweenness"
            how = {"by_arc": by_arc, "endpoints": self.endpoints, "errors": True}
            return accumulated(opened, self.sources, work, **how)
        result = reduced(opened, self.sources, self.measure, work)
        if self.measure == "radius":  # of which there is none where no source reaches all
            on_root(opened.channel, lambda: result is not None and result.most_central)
        return result


def scores_of(result: Any, measure: str, *, normalized: bool = False) -> Any:
    """Return the answer of the measure of a name, from its sums."""
    return MEASURES[measure].answer(result, normalized)


def measured(
    opened: Opened,
    measure: Measure[T],
    sources: Vertices | None,
    *,
    normalized: bool = False,
    endpoints: bool = False,
) -> T | None:
    """Answer as the function of `groute_py.centrality` does that has the name of the measure."""
    result: Any = opened.answer(MeasureJob(measure.name, sources, endpoints))
    return None if result is None else measure.answer(result, normalized)
