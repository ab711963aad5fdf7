"""Shortest paths, or least numbers of arcs, from one source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from groute_py.comm.agree import at_root, on_root
from groute_py.engine.keywords import BfsKeywords, SsspKeywords
from groute_py.engine.option import takes
from groute_py.engine.option_values import SHORTEST
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.errors import InputError, plain, quote
from groute_py.graph.arrays import host_array, on_device
from groute_py.graph.csr import GraphLike
from groute_py.graph.ids import Positions
from groute_py.graph.scale import Scale
from groute_py.many.carry import Carrier, with_sums
from groute_py.many.opened import Opened, Work, open_for
from groute_py.many.sources import Vertex, Vertices
from groute_py.results.result import Result
from groute_py.source.whole import GraphSupply


@takes(Options, "sssp")
def sssp(
    graph: GraphLike,
    source: Vertex,
    *,
    targets: Vertices = (),
    **options: Unpack[SsspKeywords],
) -> Result | None:
    """Shortest paths from ``source`` to every vertex; `apsp` is for several sources.

    The default method is near–far Δ-stepping (Meyer and Sanders, 2003; Davidson et al., 2014).
    In a script under ``mpirun`` every rank calls this function. Rank 0 reads the graph and
    distributes it (each rank maps its rows of a native file) and gets the result.

    Args:
        graph: a `Graph`; the path of a graph file; a spec such as ``"road:1000x1000"``; the name of
            a graph to download such as ``"dimacs:NY"``; a SciPy sparse array (explicit zeros are
            arcs of weight 0); a NetworkX graph; a pandas, Polars or
            Arrow table of tails, heads and weights; or ``(offsets, heads, weights)`` in CSR form,
            of shapes (n + 1,), (m,) and (m,). These may be CuPy arrays, which are not copied if one
            rank solves on their GPU. Weights are int32, uint32, int64, float32 or float64; other
            types are converted.
        source: the id of a vertex: the graph's own, of its file, table or nodes; from 0 where there
            are none, as of arrays. `Positions` count from 0 in any graph, and `Points` are places.
        targets: ids; the solve ends when these are final, and leaves vertices farther
            than the farthest of them unreached. With negative weights everything is solved.
        tail, head, weight: titles of the columns of a table, in a file or in memory; ``weight`` is
            also the edge attribute of a NetworkX graph. ``docs/tables.md`` lists the defaults.
        ignore_columns: titles of columns of a table that count as absent.
        comm: an MPI communicator; None for all ranks that the launcher started.
        **options: how to solve, see `groute_py.engine.options.Options`; ``help(groute_py.sssp)``
            lists them.

    Returns:
        On rank 0 a `Result` with distances of shape (n,): int64 for integer weights (`UNREACHED` if
        no path leads to the vertex), else float32 or float64 (infinity), and int64 predecessors of
        shape (n,), −1 if there is none; None on the other ranks.

    Raises:
        InputError: wrong arguments, or the graph is not valid or does not fit in memory.
        NegativeCycleError: a negative cycle can be reached from the source.
        SetupError: the device or the MPI set-up cannot be used.
        RunError: a distance does not fit in 64 bits.
        TimeLimitError: the time limit passed; a RunError.

    >>> result = sssp(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), 0, device="cpu")
    >>> result.distances.tolist(), result.path_to(2)
    ([0, 4, 7], [0, 1, 2])
    """
    with open_for("sssp", graph, options) as opened:
        return opened.answer(TreeJob(source, targets))


@takes(Options, "bfs")
def bfs(
    graph: GraphLike,
    source: Vertex,
    *,
    targets: Vertices = (),
    **options: Unpack[BfsKeywords],
) -> Result | None:
    """The least number of arcs from ``source`` to every vertex; weights are ignored.

    One rank uses breadth-first search, direction-optimizing on a GPU (Beamer, Asanovic and
    Patterson, 2012). Several ranks, and 4 threads or more of a CPU on a large graph, use near–far
    relaxation with arcs of weight 1.

    Args:
        graph, source, targets, tail, head, weight, ignore_columns, comm: as for `sssp`.
        **options: as for `sssp`; ``cutoff`` is a number of arcs.

    Returns:
        A `Result` on rank 0: int64 distances and predecessors, shape (n,); None on the other ranks.

    Raises:
        InputError, SetupError, RunError, TimeLimitError: as for `sssp`.

    >>> bfs(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), 0, device="cpu").distances.tolist()
    [0, 1, 1]
    """
    how = {"algorithm": "bfs", "hops": True}
    with open_for("bfs", graph, options, **how) as opened:
        return opened.answer(TreeJob(source, targets, "bfs"))


@dataclass(frozen=True, eq=False)
class TreeJob:
    """Shortest paths from a source; with ``brings_tree`` the answer has predecessors."""

    source: Vertex
    targets: Vertices = ()
    name: str = "sssp"
    brings_tree: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", plain(self.source))
        if hasattr(self.targets, "__dlpack_device__") or on_device(self.targets):
            object.__setattr__(self, "targets", host_array(self.targets))

    def shared_arguments(self) -> dict[str, Any]:
        source: Any = repr(self.source) if isinstance(self.source, Positions) else self.source
        source = None if callable(source) else source
        return {"function": self.name, "source": source, "targets": _comparable(self.targets)}

    def check(self, options: Options) -> None:
        if isinstance(self.source, Iterable) and not isinstance(self.source, str):
            raise InputError(
                f"source {quote(self.source)} is no id of a vertex; for several sources take apsp"
            )
        _comparable(self.targets)
        if self._drops_weights(options):
            options.refuse("cutoff", self.name)
        if options.carry and not options.predecessors:
            raise InputError("carry (--with) needs the tree; leave out predecessors=False")

    def run(self, opened: Opened, work: Work) -> Result | None:
        solver = opened.source_solver
        if self._drops_weights(opened.options):
            on_root(opened.channel, lambda: opened.options.refuse("turns", self.name))
            opened.make_room()
            solver = opened.memo(self.name, lambda: _without_weights(opened))
        source, targets = on_root(opened.channel, lambda: self._ends(opened))
        brings_tree = self.brings_tree or bool(opened.options.carry)
        result = solver.sssp(source, targets, brings_tree=brings_tree)
        if not opened.options.carry and opened.options.objective == SHORTEST:
            return result
        carrier = at_root(opened.channel, opened.carrier)
        return at_root(opened.channel, lambda: _delivered(result, carrier, opened.scale))

    def _ends(self, opened: Opened) -> tuple[int, list[int]]:
        """The positions of the source and the targets, on rank 0."""
        numbering, name = opened.source_solver.numbering, opened.source_solver.facts.name
        assert numbering is not None

        def positions(ends: Any, role: str) -> list[int]:
            if callable(ends):
                vertices = ends(opened.graph())
            else:
                vertices = numbering.indices_of(ends, role, name)
            return list(map(int, vertices.reshape(-1)))

        if callable(self.source) or isinstance(self.source, Positions):
            sources = positions(self.source, "source")
        else:
            sources = [numbering.index_of(self.source, "source", name)]
        if len(sources) != 1:
            raise InputError(f"{len(sources)} sources; one is expected, and apsp is for several")
        targets: Any = self.targets
        if not (callable(targets) or isinstance(targets, Positions)):
            targets = list(targets)
        return sources[0], positions(targets, "target") if targets != [] else []

    def _drops_weights(self, options: Options) -> bool:
        return self.name == "bfs" and not options.hops


def _delivered(
    result: Result | None, carrier: Carrier | None, scale: Scale | None
) -> Result | None:
    """Return the answer with the values of an objective, and sums along its paths."""
    if result is not None and carrier is not None:
        assert result.predecessors is not None
        every = np.arange(len(result.distances))
        sums = carrier.along_tree(result.predecessors, result.reached, every)
        result = with_sums(result, sums)
    if result is None or scale is None:
        return result
    carried = {**result.carried, **scale.all_sums(result.distances)}
    return replace(result, distances=scale.values(result.distances), carried=carried)


def _without_weights(opened: Opened) -> SourceSolver:
    """The graph once more, to count arcs; collective."""
    options = replace(opened.options.restricted("bfs"), algorithm="bfs", hops=True)
    unit = at_root(opened.channel, lambda: opened.graph().with_unit_weights())
    return SourceSolver(GraphSupply(unit), opened.channel, options)


def _comparable(targets: Any) -> Any:
    """Return targets as ranks compare them; None for a locator, which only rank 0 calls."""
    if callable(targets):
        return None
    if isinstance(targets, Positions):
        return repr(targets)
    try:
        if not isinstance(targets, str | Iterator):
            return list(targets)
    except TypeError:  # as of an array without dimensions
        pass
    raise InputError(f"targets {quote(targets)}: a sequence of ids is expected")
