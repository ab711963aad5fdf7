"""The centralities of a graph that stays loaded, and what all its jobs begin with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.choices import Choices
from groute_py.centrality.measuring import Measuring
from groute_py.centrality.scores import ArcScores, Scores
from groute_py.comm.agree import on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.errors import InputError, everywhere
from groute_py.graph.csr import Graph
from groute_py.jobs.deadline import deadline_in, refuse_late
from groute_py.many.apsp import Progress
from groute_py.many.sources import as_vertices
from groute_py.source.base import Supply

Vertices = Sequence[int] | NDArray[Any] | None


class CentralitySolver(SourceSolver):
    """A solver that keeps the whole graph on rank 0, too, once a job needs it.

    Args:
        supply, channel, options: as for `groute_py.engine.solver.SourceSolver`.
    """

    def __init__(self, supply: Supply, channel: Channel, options: Options) -> None:
        super().__init__(supply, channel, options)
        self._supply, self._options = supply, options
        self._whole: Graph | None = None

    def closeness(self, sources: Vertices = None, *, normalized: bool = False) -> Scores | None:
        """See `groute_py.centrality.closeness`."""
        with self._measuring("closeness", sources) as measuring:
            return measuring.closeness(normalized=normalized)

    def harmonic(self, sources: Vertices = None, *, normalized: bool = False) -> Scores | None:
        """See `groute_py.centrality.harmonic`."""
        with self._measuring("harmonic", sources) as measuring:
            return measuring.harmonic(normalized=normalized)

    def eccentricity(self, sources: Vertices = None) -> Scores | None:
        """See `groute_py.centrality.eccentricity`."""
        with self._measuring("eccentricity", sources) as measuring:
            return measuring.eccentricity()

    def diameter(self, sources: Vertices = None) -> Any:
        """See `groute_py.centrality.diameter`."""
        with self._measuring("diameter", sources) as measuring:
            return measuring.diameter()

    def radius(self, sources: Vertices = None) -> Any:
        """See `groute_py.centrality.radius`."""
        with self._measuring("radius", sources) as measuring:
            return measuring.radius()

    def mean(self, sources: Vertices = None) -> float | None:
        """See `groute_py.centrality.mean`."""
        with self._measuring("mean", sources) as measuring:
            return measuring.mean()

    def betweenness(
        self, sources: Vertices = None, *, normalized: bool = False, endpoints: bool = False
    ) -> Scores | None:
        """See `groute_py.centrality.betweenness`; an error with ``reverse``."""
        with self._measuring("betweenness", sources, one_way=True) as measuring:
            return measuring.betweenness(normalized=normalized, endpoints=endpoints)

    def edge_betweenness(
        self, sources: Vertices = None, *, normalized: bool = False
    ) -> ArcScores | None:
        """See `groute_py.centrality.edge_betweenness`; an error with ``reverse``."""
        with self._measuring("edge_betweenness", sources, one_way=True) as measuring:
            return measuring.edge_betweenness(normalized=normalized)

    @contextmanager
    def _measuring(
        self, method: str, sources: Vertices, *, one_way: bool = False
    ) -> Iterator[Measuring]:
        """For a centrality, which the block asks for."""
        with self.alone(), self.turned_back():
            self._begin(method)
            self._refuse_turns(method)
            if one_way and self._options.reverse:
                raise everywhere(
                    InputError(f"{method} is of paths in both directions; open without reverse")
                )

            def load() -> tuple[Graph, NDArray[np.int64] | None]:
                return self._own_graph(), None if sources is None else as_vertices(sources)

            choices = Choices(weighted=not self._options.hops, device=self._options.device)
            yield Measuring(self._channel, load, choices, self._clock())

    def _begin(self, method: str, **asked: Any) -> None:
        refuse_difference(self._channel, {"method": method, **asked})
        if self._options.cutoff is not None:
            raise everywhere(
                InputError(f"cutoff: for sssp and nearest, not for {method}; open without it")
            )

    def _refuse_turns(self, method: str) -> None:
        """Raise an error if rank 0, whose turns count, has any. Collective."""

        def check() -> None:
            if self._options.turns is not None:
                raise InputError(f"turns: not for {method}; open without them")

        on_root(self._channel, check)

    def _own_graph(self) -> Graph:
        """The whole graph on rank 0, with weights of 1 where arcs are counted."""
        if self._whole is None:
            graph = self._supply.graph()
            self._whole = graph.with_unit_weights() if self._options.hops else graph.to_host()
        return self._whole

    def _deadline(self) -> float:
        return deadline_in(self._options.time_limit_s)

    def _clock(self) -> Progress:
        """What ends a job of this rank at the deadline, between two of its sources."""
        return partial(refuse_late, self._deadline())
