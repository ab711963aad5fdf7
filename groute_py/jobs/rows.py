"""Rows of distances between vertices: from many sources to all vertices, or to some targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, Unpack

from groute_py.comm.base import Channel
from groute_py.engine.keywords import ApspKeywords
from groute_py.engine.option import takes
from groute_py.engine.options import Options
from groute_py.graph.csr import GraphLike
from groute_py.many.apsp import Ends, ManySources
from groute_py.many.delivery import Progress, collect
from groute_py.many.opened import Opened, Work, open_for
from groute_py.many.rows import SourceRows
from groute_py.many.sources import Vertices, indices_in

T = TypeVar("T")

Deliver = Callable[[Channel, ManySources, Progress | None], T]
"""Solves for rows, and brings them to their destination; collective."""


@takes(Options, "apsp")
def apsp(
    graph: GraphLike,
    *,
    sources: Vertices | None = None,
    **options: Unpack[ApspKeywords],
) -> SourceRows | None:
    """Shortest paths from all vertices, or from many sources, to all vertices.

    Under ``mpirun`` every rank calls this function; each solves an even part of the sources.
    Negative weights are replaced by Johnson's potentials (Johnson, 1977).

    The methods are ``floyd`` (blocked Floyd–Warshall: Floyd, 1962; Warshall, 1962), ``heap``
    (Dijkstra, 1959, with a heap: one source a warp or core), ``batch`` (near–far, one source a
    thread block or core), ``sweep`` (a contraction hierarchy, several sources a sweep: Delling et
    al., 2013) and ``single`` (near–far with the whole GPU, one source after another).

    Args:
        graph: as for `sssp`; every rank holds the whole graph.
        sources: ids of vertices, shape (k,); None for all.
        tail, head, weight, ignore_columns, comm: as for `sssp`.
        **options: how to solve, see `groute_py.engine.options.Options`;
            ``help(groute_py.apsp)`` lists them.

    Returns:
        A `SourceRows` on rank 0, with distances of shape (k, n) in the types of `sssp`; None on the
        other ranks.

    Raises:
        InputError: wrong arguments, the graph is not valid, or the rows do not fit in memory.
        NegativeCycleError: a negative cycle can be reached from a source.
        SetupError: the device or the MPI set-up cannot be used.
        RunError: a distance does not fit in 64 bits.

    >>> rows = apsp(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), predecessors=True, device="cpu")
    >>> rows.distances[0].tolist(), rows.path(0, 2)
    ([0, 4, 7], [0, 1, 2])
    """
    with open_for("apsp", graph, options) as opened:
        return opened.answer(apsp_job(sources, **opened.options.of_rows()))


def apsp_job(sources: Vertices | None, **how: Any) -> RowsJob[SourceRows | None]:
    """Whole rows in rank 0's memory; ``how`` as for `RowsJob`."""
    return RowsJob("apsp", sources, collect, destination="memory", **how)


@dataclass(frozen=True, eq=False)
class RowsJob(Generic[T]):
    """Rows from sources, whole or of the columns of some targets.

    ``destination``, a key of `groute_py.many.estimates.DELIVERY_RATE`, says at which rate the
    choice of a method expects whole rows to be delivered. The job is one of ``parts`` runs.
    """

    name: str
    sources: Vertices | None
    deliver: Deliver[T]
    targets: Vertices | None = None
    algorithm: str = "auto"
    predecessors: bool = False
    destination: str = "nowhere"
    parts: int = 1

    def shared_arguments(self) -> dict[str, Any]:
        how = {"algorithm": self.algorithm, "predecessors": self.predecessors}
        return {"function": self.name, **how}

    def check(self, options: Options) -> None:
        self._options(options).check(self.name)

    def run(self, opened: Opened, work: Work) -> T:
        opened.supply()

        def ends() -> Ends:
            graph, sources, targets = opened.plain_graph(opened.supply_direction), None, None
            if self.sources is not None:
                sources = indices_in(graph, self.sources)
            if self.targets is not None:
                targets = indices_in(graph, self.targets, "target")
            return Ends(sources, targets, self.parts)

        deadline = opened.deadline()
        options = self._options(opened.options)
        contracts = self.targets is None or options.predecessors or not opened.may_wait()
        many = opened.many_sources(ends, options, destination=self.destination, contracts=contracts)
        return self.deliver(opened.channel, many, opened.collective_watch(deadline, work.progress))

    def _options(self, options: Options) -> Options:
        carry = () if self.targets is None else options.carry
        predecessors = self.predecessors or bool(carry)
        return replace(options, algorithm=self.algorithm, predecessors=predecessors, carry=carry)
