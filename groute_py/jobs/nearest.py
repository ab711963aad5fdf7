"""For each vertex the nearest of several facilities, by one solve from all of them.

`groute_py.jobs.k_nearest` has the k nearest.

The solve begins at a root with an arc of weight 0 to each facility. Owners follow from its
distances alone: see `groute_py.kernels.cpu.owners`. A prepared graph on one GPU is swept from all
facilities, without a root: see `groute_py.jobs.nearest_sweep`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from groute_py.arguments import check_whole_number
from groute_py.comm.agree import collective, on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.comm.connect import connect
from groute_py.device.base import unreached
from groute_py.engine.keywords import NearestKeywords
from groute_py.engine.option import chosen, takes
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.errors import InputError, NegativeCycleError
from groute_py.graph.csr import Graph
from groute_py.graph.size import Size
from groute_py.hierarchy.prepared import without_hierarchy
from groute_py.interop.graph_like import GraphLike
from groute_py.io.tables.columns import Columns
from groute_py.jobs.device_nearest import left_on_gpu
from groute_py.jobs.facilities import NearestFacilities, by_id
from groute_py.jobs.facilities_with_turns import as_given, of_vertices
from groute_py.jobs.k_nearest import solve_k_nearest
from groute_py.jobs.nearest_sweep import NearestSweep
from groute_py.many.apsp import Progress
from groute_py.many.device_choice import placed
from groute_py.many.nearest import origins_of
from groute_py.many.rooted import rooted
from groute_py.many.sources import as_vertices, checked
from groute_py.many.storage.store import Store
from groute_py.memory.host import bytes_of, refuse_beyond
from groute_py.results.result import Result
from groute_py.source.graph_source import GraphSource
from groute_py.source.whole import Whole
from groute_py.turns.expanded import layout_of

if TYPE_CHECKING:
    from mpi4py import MPI

MOST_SWEPT = 10_000
"""Facilities up to which the solve from a root is by the hierarchy of a prepared graph. Its search
upward, which one block of a GPU does, visits all that lies above them."""

MOST_FACILITIES = 2**31 - 1
"""Of a vertex; their numbers have 32 bits."""


@takes(Options, "nearest")
def nearest(
    graph: GraphLike,
    facilities: Sequence[int] | NDArray[Any],
    *,
    k: int = 1,
    to_facility: bool = False,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    comm: MPI.Intracomm | None = None,
    **options: Unpack[NearestKeywords],
) -> NearestFacilities | None:
    """The nearest of several facilities for each vertex, its distance, and the path's next vertex.

    Of several that are equally near, the one with the lowest id of the graph's file is taken. With
    float weights those count whose paths are shortest up to each vertex on them; where one of these
    is negative, any of the nearest may be taken.

    The nearest facility takes one solve. The k nearest take one for each facility, as
    `groute_py.apsp` does it, and equally near are those whose distances are equal as computed.

    Args:
        graph: as for `groute_py.sssp`; rank 0 holds the whole graph.
        facilities: vertex indices from 0, shape (f,).
        k: how many facilities of each vertex. With more than one, every rank that solves holds the
            whole graph, and ``partition`` and ``mode`` have no effect.
        to_facility: whether paths lead from the vertices to the facilities, instead of from these.
        tail, head, weight, comm: as for `groute_py.sssp`.
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
    choices = Options(**chosen(Options, "nearest", options))
    channel = connect(comm)
    with collective(channel):
        choices.check()
        check_k(k)
    refuse_difference(channel, {"function": "nearest", "to_facility": to_facility, "k": k})

    def load() -> tuple[Graph, NDArray[np.int64]]:
        whole = GraphSource(graph, Columns(tail, head, weight), turns=choices.turns).graph()
        return whole, as_vertices(facilities, "facility")

    return solve_nearest(channel, load, choices, k=k, to_facility=to_facility)


def check_k(k: Any) -> None:
    """Raise `InputError` unless it is a number of facilities."""
    check_whole_number("k", k)
    if not 0 < k <= MOST_FACILITIES:
        raise InputError(f"k must be at least 1 and at most {MOST_FACILITIES:,}, not {k}")


def solve_nearest(
    channel: Channel,
    load: Callable[[], tuple[Graph, NDArray[np.int64]]],
    options: Options,
    *,
    k: int,
    to_facility: bool,
    is_reversed: bool = False,
    progress: Progress | None = None,
    keep: Store | None = None,
    sweep: NearestSweep | None = None,
) -> NearestFacilities | None:
    """The answer of `nearest` on rank 0, None elsewhere. Collective.

    Args:
        channel, load, options, to_facility, is_reversed: as for `solve_from_facilities`.
        k: facilities of each vertex.
        progress, keep: as for `solve_k_nearest`; of more than one facility only.
        sweep: as for `solve_from_facilities`.
    """
    way = {"to_facility": to_facility, "is_reversed": is_reversed}
    if k == 1:
        return solve_from_facilities(channel, load, options, **way, sweep=sweep)

    def check() -> None:
        if not options.download:
            raise InputError("download=False: with k = 1 only; leave one of them out")

    on_root(channel, check)
    return solve_k_nearest(channel, load, options, k=int(k), progress=progress, keep=keep, **way)


def solve_from_facilities(
    channel: Channel,
    load: Callable[[], tuple[Graph, NDArray[np.int64]]],
    options: Options,
    *,
    to_facility: bool,
    is_reversed: bool = False,
    sweep: NearestSweep | None = None,
) -> NearestFacilities | None:
    """The answer of `nearest` on rank 0, None elsewhere. Collective.

    Args:
        channel: connects the ranks.
        load: gives the graph and the facilities; called on rank 0.
        options: how to solve.
        to_facility: as for `nearest`.
        is_reversed: whether the arcs of the graph that ``load`` gives are turned round already.
        sweep: of that graph, which an open solver keeps; None for a new one.
    """
    sweep = sweep or NearestSweep(channel)
    kept: list[tuple[Graph, NDArray[np.int64]]] = []
    found_by_sweep: list[NearestFacilities] = []

    def begin() -> tuple[Whole, bool] | None:
        graph, facilities = load()
        turned = to_facility != is_reversed
        count = layout_of(graph).vertex_count
        facilities = checked(facilities, count, graph.name, "facility")
        if sweep.suits(graph, options):
            way = {"to_facility": to_facility, "turned": turned}
            if (found := sweep.solve(graph, facilities, options, **way)) is not None:
                found_by_sweep.append(found)
                return None
        graph = graph.reversed() if turned else graph.to_host()
        needed = bytes_of("nearest", Size(graph.vertex_count, graph.arc_count))
        what = f"the facilities of {graph.vertex_count:,} vertices, and a copy of the arcs,"
        refuse_beyond(needed, what, "give the job more memory")
        kept.append((graph, facilities))
        # a cutoff ends a solve early, but not a sweep over a hierarchy
        swept = options.cutoff is None and len(facilities) <= MOST_SWEPT
        solved = graph if swept else without_hierarchy(graph)
        return Whole(rooted(solved, layout_of(graph).begins(facilities))), _may_sink(graph)

    begun = on_root(channel, begin)
    if begun is None:
        return found_by_sweep[0]
    supply, trees = begun
    options = replace(options, predecessors=trees, reverse=False, turns=None)
    if channel.size == 1:
        options = placed(kept[0][0], options)
    try:
        with SourceSolver(supply, channel, options) as solver:
            result = solver.sssp(solver.facts.vertex_count - 1)
    except NegativeCycleError as error:
        raise as_given(error, [graph for graph, _ in kept], to_facility=to_facility) from None
    if result is None:
        return None
    found = on_facilities(*kept[0], result, to_facility=to_facility)
    return found if options.download else left_on_gpu(found)


def on_facilities(
    graph: Graph, facilities: NDArray[np.int64], result: Result, *, to_facility: bool
) -> NearestFacilities:
    """The answer from that of the root.

    Args:
        graph: that was solved, without the root, perhaps expanded by turns.
        facilities: vertices, shape (k,).
        result: of the solve from the root; its tree, if it has one, says the owners.
        to_facility: as for `nearest`.
    """
    root, distances = graph.vertex_count, result.distances[:-1]
    owners, before = np.full((2, root), -1)
    if result.predecessors is not None:
        tree = result.predecessors[:root]
        before = np.where(tree == root, -1, tree)
        owners = origins_of(before, tree == root)
    else:
        roots = layout_of(graph).begins(by_id(graph, facilities))
        _assign(graph, roots, distances, owners, before)
    about = result.statistics, graph.numbering, graph.attribution
    found = owners, distances, before, to_facility, *about
    return of_vertices(NearestFacilities(*found), layout_of(graph))


def _assign(
    graph: Graph,
    roots: NDArray[np.int64],
    distances: NDArray[Any],
    owners: NDArray[np.int64],
    before: NDArray[np.int64],
) -> None:
    from groute_py.kernels.cpu.owners import assign_owners  # which compiles

    weights = graph.weights
    if distances.dtype.kind == "f":  # sums are made in the type of float distances
        weights = weights.astype(distances.dtype, copy=False)
    nothing, queue = unreached(distances.dtype), np.empty(len(distances), np.int64)
    arcs = graph.offsets, graph.heads, weights
    assign_owners(*arcs, distances, nothing, roots, owners, before, queue)


def _may_sink(graph: Graph) -> bool:
    """Whether rounding may part the distances from tight arcs: then the solve's own tree counts."""
    return graph.weights.dtype.kind == "f" and bool((graph.weights < 0).any())
