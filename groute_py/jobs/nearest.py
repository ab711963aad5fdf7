"""For each vertex the nearest of several facilities, by one solve from all of them.

`groute_py.jobs.k_nearest` has the k nearest.

The solve begins at the root, an extra vertex with an arc of weight 0 to each facility. The owner of
a vertex, its nearest facility, follows from the distances alone: see
`groute_py.kernels.cpu.owners`. On one rank a prepared graph is swept from all facilities, without a
root: see `groute_py.jobs.nearest_sweep`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import at_root
from groute_py.device.base import unreached
from groute_py.engine.keywords import NearestKeywords
from groute_py.engine.memory.host import bytes_of, refuse_beyond
from groute_py.engine.option import takes
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.errors import InputError, NegativeCycleError, RunError, check_k, check_truth
from groute_py.graph.csr import Graph, GraphLike
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Size
from groute_py.graph.hierarchy.prepared import without_hierarchy
from groute_py.graph.turns.expanded import layout_of
from groute_py.jobs.facilities import NearestFacilities, at_vertices, by_id, cycle_of_input, to_gpu
from groute_py.jobs.k_nearest import k_nearest
from groute_py.jobs.nearest_sweep import MOST_ROOTED_BY_HIERARCHY, sweep_from
from groute_py.many.carry import Carrier, Sums, with_sums
from groute_py.many.johnson import origins_of, rooted
from groute_py.many.opened import Opened, Work, open_for
from groute_py.many.sources import Vertices, vertices_in
from groute_py.results.answer import about
from groute_py.results.result import Result
from groute_py.results.tables import attributes_of


@takes(Options, "nearest")
def nearest(
    graph: GraphLike,
    facilities: Vertices,
    *,
    vertices: Vertices | None = None,
    k: int = 1,
    to_facility: bool = False,
    **options: Unpack[NearestKeywords],
) -> NearestFacilities | None:
    """The nearest of several facilities for each vertex, its distance, and the path's next vertex.

    Of several that are equally near, the one with the lowest id of the graph's file is taken. With
    float weights a facility counts if tight arcs, whose rounded sums equal each head's distance,
    lead from it; where a weight is negative, any of the nearest may be taken.

    The nearest facility takes one solve. The k nearest take one for each facility, as
    `groute_py.apsp` does it, and equally near are those whose distances are equal as computed. With
    ``cutoff`` too, the facilities of a vertex are those of its k nearest that lie within it.

    Args:
        graph: as for `groute_py.sssp`; rank 0 holds the whole graph.
        facilities: ids of vertices, shape (f,).
        vertices: ids of those to answer for, shape (n,), in any order; None for all.
        k: how many facilities of each vertex. With more than one, every rank that solves holds the
            whole graph, and ``partition`` and ``mode`` have no effect.
        to_facility: whether paths lead from the vertices to the facilities, instead of from these.
        tail, head, weight, ignore_columns, comm: as for `groute_py.sssp`.
        **options: how to solve, see `groute_py.engine.options.Options`.

    Returns:
        A `NearestFacilities` on rank 0; None on the other ranks. With ``download=False`` its arrays
        lie on the GPU too, as CuPy arrays ``facilities_device``, ``distances_device`` and
        ``next_device``, and those in host memory are made when they are first asked for.

    Raises:
        InputError, NegativeCycleError, SetupError, RunError, TimeLimitError: as for
            `groute_py.sssp`.

    >>> path = ([0, 1, 2, 3, 3], [1, 2, 3], [4, 4, 4])
    >>> nearest(path, [0, 2], device="cpu").facilities.tolist()
    [0, 0, 2, 2]
    >>> nearest(path, [0, 2], k=2, device="cpu").distances.tolist()[3]
    [4, 12]
    """
    with open_for("nearest", graph, options) as opened:
        if (k != 1 or vertices is not None) and not opened.options.download:
            raise InputError("download=False: with k = 1 only, and of all vertices; leave it out")
        return opened.answer(NearestJob(facilities, k, to_facility, vertices))


@dataclass(frozen=True, eq=False)
class NearestJob:
    """The nearest facilities of each vertex; fields as for `nearest`.

    ``to_facility`` alone says the direction, whatever that of the open graph is.
    """

    facilities: Vertices
    k: int = 1
    to_facility: bool = False
    vertices: Vertices | None = None

    def shared_arguments(self) -> dict[str, Any]:
        return {"function": "nearest", "to_facility": self.to_facility, "k": self.k}

    def check(self, options: Options) -> None:
        check_truth("to_facility", self.to_facility)
        check_k(self.k)
        if self.k > 1:
            options.refuse_objective("nearest with k > 1")

    def run(self, opened: Opened, work: Work) -> NearestFacilities | None:
        opened.supply()  # collective; the graph can be read after it
        ends = at_root(opened.channel, lambda: self._ends_in(opened))
        facilities, vertices = (None, None) if ends is None else ends
        carrier = at_root(opened.channel, lambda: opened.carrier(Direction(self.to_facility)))
        answer = self._of_every_vertex(opened, facilities, work)

        def delivered() -> NearestFacilities | None:
            if answer is None or facilities is None:
                return None
            some = self._of_some(answer, facilities, vertices)
            if carrier is not None:
                some = with_sums(some, _sums(carrier, answer, vertices))
            if (scale := opened.scale) is None:
                return some
            sums = {**some.carried, **scale.all_sums(some.distances)}
            return replace(some, distances=scale.values(some.distances), carried=sums)

        return at_root(opened.channel, delivered)

    def _of_every_vertex(
        self, opened: Opened, facilities: NDArray[np.int64] | None, work: Work
    ) -> NearestFacilities | None:
        """Answer for all vertices, from the facilities that rank 0 has. Collective."""
        if self.k > 1:
            to_facility, k = self.to_facility, int(self.k)
            return k_nearest(opened, facilities, work, k=k, to_facility=to_facility)
        channel = opened.channel
        if channel.size == 1 and facilities is not None:
            answer = sweep_from(opened, facilities, to_facility=self.to_facility)
            if answer is not None:
                return answer
        return self._from_root(opened, facilities)

    def _ends_in(self, opened: Opened) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        graph = opened.graph(opened.supply_direction)
        facilities = vertices_in(graph, self.facilities, "facility")
        some = None if self.vertices is None else vertices_in(graph, self.vertices, "vertex")
        return facilities, some

    def _of_some(
        self,
        answer: NearestFacilities,
        facilities: NDArray[np.int64],
        vertices: NDArray[np.int64] | None,
    ) -> NearestFacilities:
        """Return the answer for the vertices that were asked for, with what points bring along."""
        attributes = attributes_of(facility=self.facilities, vertex=self.vertices)
        candidates = facilities if attributes["facility"] else None
        if vertices is None:
            return answer.with_columns(candidates, attributes)
        return NearestFacilities(
            answer.facilities[vertices],
            answer.distances[vertices],
            answer.next[vertices],
            answer.to_facility,
            vertices,
            candidates,
            statistics=answer.statistics,
            attributes=attributes,
            **about(answer),
        )

    def _from_root(
        self, opened: Opened, facilities: NDArray[np.int64] | None
    ) -> NearestFacilities | None:
        """Answer by a solve from a root before all facilities, which rank 0 has."""
        channel, how = opened.channel, {"to_facility": self.to_facility}
        graph = at_root(channel, lambda: opened.graph(Direction(self.to_facility)))
        needs_tree = channel.broadcast(graph is not None and _needs_tree(graph))

        def make() -> Graph:
            assert graph is not None
            assert facilities is not None
            return _rooted(graph, facilities, has_cutoff=opened.options.cutoff is not None)

        try:
            sssp = SourceSolver.sssp
            result = opened.from_root_vertex("nearest", make, sssp, predecessors=needs_tree)
        except NegativeCycleError as error:
            raise cycle_of_input(error, graph, **how) from None
        if result is None or graph is None or facilities is None:
            return None
        answer = on_facilities(graph, facilities, result, **how)
        return answer if opened.options.download else to_gpu(answer)


def _sums(carrier: Carrier, answer: NearestFacilities, vertices: NDArray[np.int64] | None) -> Sums:
    """The sums along the paths between some vertices, or all, and their facilities.

    If a facility is among the k nearest of a vertex, it is also among those of the next one on
    the path: what is nearer to that one, or as near with a lower id, is so to the vertex too.
    """
    facilities, before = answer.facilities, answer.next
    count, each = len(before), before.size // max(len(before), 1)
    facilities, before = facilities.reshape(count, each), before.reshape(count, each)
    states = np.full(before.shape, -1)
    for rank in range(each):
        is_same = (before >= 0) & (facilities[before, rank] == facilities) & (states < 0)
        states[is_same] = before[is_same] * each + rank
    if (states[before >= 0] < 0).any():
        raise RunError("sums of floats have hidden a facility; carry with integer weights, or k=1")
    rows = np.arange(count) if vertices is None else vertices
    ends = rows[:, np.newaxis] * each + np.arange(each)
    sums = carrier.along_tree(
        states.reshape(-1), answer.reached.reshape(-1), ends.reshape(-1), each
    )
    shape = len(rows), *answer.next.shape[1:]
    return {name: of.reshape(shape) for name, of in sums.items()}


def _rooted(graph: Graph, facilities: NDArray[np.int64], *, has_cutoff: bool) -> Graph:
    """Return a graph, perhaps expanded by turns, with a root before its facilities."""
    what = f"the facilities of {graph.vertex_count:,} vertices, and a copy of the arcs,"
    needed = bytes_of("nearest", Size.of(graph))
    refuse_beyond(needed, what, "give the job more memory")
    # a cutoff ends a solve early, but not a sweep over a hierarchy
    sweeps = not has_cutoff and len(facilities) <= MOST_ROOTED_BY_HIERARCHY
    solved = graph if sweeps else without_hierarchy(graph)
    return rooted(solved, layout_of(graph).begins(facilities))


def on_facilities(
    graph: Graph, facilities: NDArray[np.int64], result: Result, *, to_facility: bool
) -> NearestFacilities:
    """The answer from the result of a solve from the root, the last vertex."""
    root, distances = graph.vertex_count, result.distances[:-1]
    owners, predecessors = np.full((2, root), -1)
    if result.predecessors is not None:
        follows_root = result.predecessors[:root] == root
        predecessors = np.where(follows_root, -1, result.predecessors[:root])
        owners = origins_of(predecessors, follows_root)
    else:
        states = layout_of(graph).begins(by_id(graph, facilities))
        _assign(graph, states, distances, owners, predecessors)
    answer = NearestFacilities(
        owners, distances, predecessors, to_facility, statistics=result.statistics, **about(graph)
    )
    return at_vertices(answer, layout_of(graph))


def _assign(
    graph: Graph,
    states: NDArray[np.int64],
    distances: NDArray[Any],
    owners: NDArray[np.int64],
    predecessors: NDArray[np.int64],
) -> None:
    """Fill owners and predecessors from distances; ``states`` are those of the facilities."""
    from groute_py.kernels.cpu.owners import assign_owners  # which compiles

    weights, no_path = graph.weights, unreached(distances.dtype)
    if graph.scale is not None and graph.scale.has_maxima:  # arcs extend ranks, see `extend`
        distances, no_path = distances.view(np.uint64), np.uint64(no_path)
    if distances.dtype.kind in "fu":  # sums are made in the type of float distances
        weights = weights.astype(distances.dtype, copy=False)
    arcs = graph.offsets, graph.heads, weights
    assign_owners(arcs, distances, no_path, states, owners, predecessors)


def _needs_tree(graph: Graph) -> bool:
    """Return whether facilities must be read from the solve's tree, not from tight arcs.

    An arc is tight if it attains the distance of its head. Sums of floats with negative weights
    round, so that a vertex may have no tight arc.
    """
    return graph.weights.dtype.kind == "f" and bool((graph.weights < 0).any())
