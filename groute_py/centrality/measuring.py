"""Centralities of a graph that rank 0 has, whatever it was read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.accumulation import accumulated
from groute_py.centrality.choices import Choices, Load
from groute_py.centrality.distances import Reduced, reduced
from groute_py.centrality.scores import (
    ArcScores,
    Scores,
    arc_scores,
    row_scores,
    vertex_scores,
)
from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.graph.csr import Graph
from groute_py.many.apsp import Progress


@dataclass(frozen=True, eq=False)
class Measuring:
    """What a centrality is asked of; `groute_py.centrality` describes the methods.

    They are collective; the answer is on rank 0, None elsewhere.

    Args:
        channel: connects the ranks.
        load: gives the graph and the sources; called on rank 0.
        choices: the same on every rank, but for the device.
        progress: takes how many sources are done, and of how many; what it raises ends the job.
    """

    channel: Channel
    load: Load
    choices: Choices
    progress: Progress | None = None

    def closeness(self, *, normalized: bool = False) -> Scores | None:
        found = self._reduced("closeness")
        return None if found is None else row_scores(found, found.closeness(normalized=normalized))

    def harmonic(self, *, normalized: bool = False) -> Scores | None:
        found = self._reduced("harmonic")
        return None if found is None else row_scores(found, found.harmonic(normalized=normalized))

    def eccentricity(self) -> Scores | None:
        found = self._reduced("eccentricity")
        return None if found is None else row_scores(found, found.rows.greatest)

    def diameter(self) -> Any:
        found = self._reduced("diameter")
        return None if found is None else found.rows.greatest[found.farthest].item()

    def radius(self) -> Any:
        found = self._reduced("radius")

        def least() -> Any:
            assert found is not None
            return found.rows.greatest[found.most_central].item()

        radius = on_root(self.channel, least)  # every rank learns that there is none
        return None if found is None else radius

    def mean(self) -> float | None:
        found = self._reduced("mean")
        return None if found is None else found.mean()[0]

    def betweenness(self, *, normalized: bool = False, endpoints: bool = False) -> Scores | None:
        asked = self.channel, self.load, self.choices
        found = accumulated(*asked, endpoints=endpoints, errors=True, progress=self.progress)
        return None if found is None else vertex_scores(found, normalized=normalized)

    def edge_betweenness(self, *, normalized: bool = False) -> ArcScores | None:
        kept: list[Graph] = []

        def load() -> tuple[Graph, NDArray[np.int64] | None]:
            graph, sources = self.load()
            kept.append(graph)
            return graph, sources

        asked = self.channel, load, self.choices
        found = accumulated(*asked, by_arc=True, errors=True, progress=self.progress)
        return None if found is None else arc_scores(kept[0], found, normalized=normalized)

    def _reduced(self, measure: str) -> Reduced | None:
        asked = self.channel, self.load, self.choices, measure
        return reduced(*asked, progress=self.progress)
