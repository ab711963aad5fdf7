"""Other programs that answer the jobs of ``--beside`` on the same graph, in the same run.

``JOB_PEERS`` lists them by job: a function makes of a `Question` what is timed, and how its result
becomes distances. A program that is not installed is skipped. Its own form of the graph, and an
order or a contraction, are made before and are not timed. pandana and NetworKit use all cores, the
others one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import KINDS, SkippedError, refuse_larger
from benchmarks.centrality import networkit_graph
from benchmarks.comparison import Peer
from benchmarks.customize import routingkit_cch
from benchmarks.peers import lightest
from benchmarks.reference import right_closeness
from groute_py import Graph, customize

FEW, SOME = 8, 64
"""Rows of a large answer that a program on one core, or on all, computes in its place."""

LARGEST = 30_000_000
"""Arcs of the largest graph that other programs search, contract or order."""

IGRAPH_UP_TO, NETWORKIT_UP_TO = 20_000_000, 10_000_000_000
"""Arcs times sources of a betweenness, and of NetworKit's closeness."""

FARTHEST = 4_000_000
"""The greatest distance of pandana, which multiplies by 1,000 in 32 bits."""


class Held:
    """A graph in the forms of other programs, each made when it is first asked for.

    Args:
        graph: with vertices from 0.
        device: that finds the order for RoutingKit.

    Raises:
        ImportError: of an attribute: the program is not installed.
    """

    def __init__(self, graph: Graph, device: str) -> None:
        self.graph, self._device = graph, device

    @cached_property
    def scipy(self) -> Any:
        """The lightest of parallel arcs as a sparse array."""
        from scipy.sparse import csr_array

        refuse_larger(self.graph.arc_count, LARGEST, "arcs")
        return csr_array(lightest(self.graph), shape=2 * (self.graph.vertex_count,))

    @cached_property
    def pandana(self) -> Any:
        """A network whose vertices lie on a line."""
        return _pandana(self.graph, self.graph.tails(), self.graph.heads)

    @cached_property
    def pandana_turned(self) -> Any:
        """A network with the arcs turned round."""
        return _pandana(self.graph, self.graph.heads, self.graph.tails())

    @cached_property
    def networkit(self) -> Any:
        """A weighted network."""
        refuse_larger(self.graph.arc_count, LARGEST, "arcs")
        return networkit_graph(self.graph, weighted=True)

    @cached_property
    def networkit_hops(self) -> Any:
        """A network without weights."""
        return networkit_graph(self.graph, weighted=False)

    @cached_property
    def igraph(self) -> Any:
        """A network with the weights of the lightest of parallel arcs as ``weight``."""
        import igraph

        refuse_larger(self.graph.arc_count, LARGEST, "arcs")
        weights, ends = lightest(self.graph)
        arcs = np.stack(ends, axis=1)
        network = igraph.Graph(n=self.graph.vertex_count, edges=arcs, directed=True)
        network.es["weight"] = weights.tolist()
        return network

    @cached_property
    def routingkit(self) -> tuple[Any, Any]:
        """The module, and the metric of the weights in this project's order."""
        refuse_larger(self.graph.arc_count, LARGEST, "arcs")
        town = customize(self.graph, device=self._device)
        routingkit, cch = routingkit_cch(self.graph, town)
        return routingkit, routingkit.CCHMetric(cch, self.graph.weights.tolist())


@lru_cache(maxsize=1)
def held_graph(name: str, device: str) -> Held:
    """Return the graph of a case; the last one stays, since the next case may have it too."""
    file = KINDS[name.partition(":")[0]].load(name)
    return Held(Graph(file.offsets, file.heads, file.weights, name=file.name), device)  # ids from 0


class Question(NamedTuple):
    """A job's arguments.

    Attributes:
        held: the graph, with vertices from 0.
        sources, targets: int64, shape (N,), without repetition.
        k: facilities of each vertex.
        limits: of isochrones, ascending, in units of weight; a cutoff is the last.
        weighted: whether weights are added.
    """

    held: Held
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    k: int
    limits: tuple[int, ...]
    weighted: bool

    @property
    def graph(self) -> Graph:
        """The graph, each arc of which counts 1 unless weights are added."""
        graph = self.held.graph
        return graph if self.weighted else graph.with_weights(np.ones_like(graph.weights))


def _pandana(graph: Graph, *ends: NDArray[Any]) -> Any:
    import pandana
    from pandas import DataFrame, Series

    refuse_larger(graph.arc_count, LARGEST, "arcs")
    places = np.arange(graph.vertex_count, dtype=float)
    weights = DataFrame({"weight": graph.weights.astype(float)})
    line = Series(places), Series(np.zeros_like(places))
    return pandana.Network(*line, *(Series(some) for some in ends), weights, twoway=False)


def _same(found: Any) -> Any:
    return found


def _scipy(asked: Question, part: int | None = None, **more: Any) -> Callable[[], Any]:
    from scipy.sparse.csgraph import dijkstra

    matrix = asked.held.scipy
    return lambda: dijkstra(matrix, indices=asked.sources[:part], **more)


def scipy_rows(asked: Question) -> Peer:
    """Rows of `scipy.sparse.csgraph.dijkstra`."""
    return Peer(_scipy(asked), _same)


def scipy_pairs(asked: Question) -> Peer:
    """Whole rows, since it has no targets."""
    chosen = asked.targets[:FEW]
    return Peer(_scipy(asked, FEW), lambda rows: rows[np.arange(len(chosen)), chosen], FEW)


def scipy_matrix(asked: Question) -> Peer:
    """Whole rows, since it has no targets."""
    return Peer(_scipy(asked, FEW), lambda rows: rows[:, asked.targets], FEW)


def scipy_within(asked: Question) -> Peer:
    """Rows with a limit."""
    return Peer(_scipy(asked, limit=asked.limits[-1]), _same)


def scipy_nearest(asked: Question) -> Peer:
    """One search from all facilities, or the k least of a row for each."""
    if asked.k == 1:
        return Peer(_scipy(asked, min_only=True), lambda found: found[:, None])
    run = _scipy(asked)
    return Peer(lambda: np.sort(run(), axis=0)[: asked.k].T, _same)


def scipy_tree(asked: Question) -> Peer:
    """Distances and predecessors."""
    return Peer(_scipy(asked, return_predecessors=True), lambda found: found[0])


def routingkit_pairs(asked: Question) -> Peer:
    """A call for each pair."""
    routingkit, metric = asked.held.routingkit
    query = routingkit.CCHQuery(metric)
    pairs = list(zip(asked.sources.tolist(), asked.targets.tolist(), strict=True))
    return Peer(lambda: [query.run(*pair).distance for pair in pairs], _of_lists)


def routingkit_matrix(asked: Question) -> Peer:
    """A call for each row."""
    routingkit, metric = asked.held.routingkit
    query = routingkit.CCHOneToMany(metric, asked.targets.tolist())
    sources = asked.sources[:SOME].tolist()
    return Peer(lambda: [query.distances_from(source) for source in sources], _of_lists, SOME)


def _of_lists(found: Any) -> NDArray[Any]:
    """Distances, of which an unknown one is None."""
    distances = np.array(found, np.float64)
    return np.where(np.isnan(distances), np.inf, distances)


def pandana_pairs(asked: Question) -> Peer:
    """`pandana.Network.shortest_path_lengths`."""
    network, ends = asked.held.pandana, (asked.sources, asked.targets)
    return Peer(lambda: network.shortest_path_lengths(*ends), _of_pandana)


def pandana_matrix(asked: Question) -> Peer:
    """Pairs, since it has no matrix."""
    network, rows = asked.held.pandana, asked.sources[:SOME]
    ends = np.repeat(rows, len(asked.targets)), np.tile(asked.targets, len(rows))
    shape = len(rows), len(asked.targets)
    run = lambda: network.shortest_path_lengths(*ends)  # noqa: E731
    return Peer(run, lambda found: _of_pandana(found).reshape(shape), SOME)


def pandana_nearest(asked: Question) -> Peer:
    """Points of interest on the vertices, to which it measures."""
    from pandas import Series

    network = asked.held.pandana_turned
    places = Series(asked.sources.astype(float)), Series(np.zeros(len(asked.sources)))
    network.set_pois("facility", FARTHEST, asked.k, *places)
    run = lambda: network.nearest_pois(FARTHEST, "facility", num_pois=asked.k)  # noqa: E731
    return Peer(run, lambda found: _of_pandana(found.to_numpy()), rounding=1e-6)  # of 32-bit floats


def pandana_within(asked: Question) -> Peer:
    """`pandana.Network.nodes_in_range`."""
    network, limit = asked.held.pandana, float(asked.limits[-1])

    def answer(found: Any) -> NDArray[Any]:
        rows = np.full((len(asked.sources), asked.held.graph.vertex_count), np.inf)
        row_of = {source: row for row, source in enumerate(asked.sources.tolist())}
        rows[found["source"].map(row_of), found["destination"]] = found["weight"]
        return rows

    return Peer(lambda: network.nodes_in_range(asked.sources, limit), answer)


def _of_pandana(found: Any) -> NDArray[Any]:
    """Distances, of which those from `FARTHEST` stand for unreached."""
    distances = np.asarray(found, np.float64)
    return np.where(distances >= FARTHEST, np.inf, distances)


def networkit_rows(asked: Question) -> Peer:
    """`networkit.distance.SPSP`."""
    return _networkit(asked, None)


def networkit_matrix(asked: Question) -> Peer:
    """`networkit.distance.SPSP` with targets."""
    return _networkit(asked, SOME, asked.targets.tolist())


def networkit_closeness(asked: Question) -> Peer:
    """`networkit.distance.SPSP`, since its closeness is of all vertices; sums are not timed."""
    _refuse_longer(asked, NETWORKIT_UP_TO)

    def answer(rows: NDArray[Any]) -> NDArray[Any]:
        return np.array([right_closeness(row) for row in _of_networkit(rows)])

    return _networkit(asked, SOME)._replace(answer=answer)


def _networkit(asked: Question, part: int | None, targets: list[int] | None = None) -> Peer:
    import networkit

    network, sources = _network(asked), asked.sources[:part].tolist()

    def run() -> Any:
        search = networkit.distance.SPSP(network, sources)
        if targets is not None:
            search.setTargets(targets)
        return search.run().getDistances(asarray=True)

    return Peer(run, _of_networkit, part)


def _of_networkit(rows: NDArray[Any]) -> NDArray[Any]:
    """Distances, of which the greatest number stands for unreached."""
    return np.where(rows >= np.finfo(np.float64).max, np.inf, rows)


def networkit_betweenness(asked: Question) -> Peer:
    """An estimate from as many sources of its own."""
    import networkit

    _refuse_longer(asked, NETWORKIT_UP_TO)
    network, count = _network(asked), len(asked.sources)
    estimate = networkit.centrality.EstimateBetweenness
    return Peer(lambda: estimate(network, count, False, True).run(), lambda found: None)


def _network(asked: Question) -> Any:
    return asked.held.networkit if asked.weighted else asked.held.networkit_hops


def igraph_rows(asked: Question) -> Peer:
    """`igraph.Graph.distances`."""
    return _igraph(asked, None)


def igraph_matrix(asked: Question) -> Peer:
    """`igraph.Graph.distances` with targets."""
    return _igraph(asked, asked.targets.tolist())


def _igraph(asked: Question, targets: list[int] | None) -> Peer:
    network, sources = asked.held.igraph, asked.sources[:FEW].tolist()
    return Peer(lambda: network.distances(sources, targets, "weight"), np.asarray, FEW)


def igraph_betweenness(asked: Question) -> Peer:
    """`igraph.Graph.betweenness` of paths from the sources."""
    _refuse_longer(asked, IGRAPH_UP_TO)
    network, sources = asked.held.igraph, asked.sources.tolist()
    weights = "weight" if asked.weighted else None
    return Peer(lambda: network.betweenness(sources=sources, weights=weights), np.asarray)


def igraph_closeness(asked: Question) -> Peer:
    """`igraph.Graph.closeness`, which is unknown of a vertex that reaches no other."""
    network, sources = asked.held.igraph, asked.sources[:FEW].tolist()
    how = {"mode": "out", "normalized": True, "weights": "weight" if asked.weighted else None}
    return Peer(lambda: network.closeness(sources, **how), np.nan_to_num, FEW)


def _refuse_longer(asked: Question, most: int) -> None:
    if asked.held.graph.arc_count * len(asked.sources) > most:
        raise SkippedError("takes minutes")


Programs = Mapping[str, Callable[[Question], Peer]]

_WITHIN: Programs = {"SciPy": scipy_within, "pandana": pandana_within}

JOB_PEERS: Mapping[str, Programs] = {
    "pairs": {"SciPy": scipy_pairs, "RoutingKit": routingkit_pairs, "pandana": pandana_pairs},
    "nearest": {"SciPy": scipy_nearest, "pandana": pandana_nearest},
    "within": _WITHIN,
    "near": _WITHIN,
    "isochrones": _WITHIN,
    "isochrone": {"SciPy": scipy_within},
    "rows": {"SciPy": scipy_rows, "NetworKit": networkit_rows, "igraph": igraph_rows},
    "matrix": {
        "SciPy": scipy_matrix,
        "RoutingKit": routingkit_matrix,
        "pandana": pandana_matrix,
        "NetworKit": networkit_matrix,
        "igraph": igraph_matrix,
    },
    "tree": {"SciPy": scipy_tree},
    "closeness": {"NetworKit": networkit_closeness, "igraph": igraph_closeness},
    "betweenness": {"NetworKit": networkit_betweenness, "igraph": igraph_betweenness},
}
"""Programs by job and name; a job that is not here has none."""

CORES = {"pandana": len(os.sched_getaffinity(0)), "NetworKit": len(os.sched_getaffinity(0))}
"""Cores of the programs that use more than one."""
