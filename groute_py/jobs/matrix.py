"""The distances between some sources and some targets; other columns of the rows are dropped."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.engine.keywords import MatrixKeywords
from groute_py.engine.option import takes
from groute_py.engine.options import Options
from groute_py.errors import InputError, file_path
from groute_py.graph.csr import GraphLike
from groute_py.io.optional_libraries import library
from groute_py.jobs.rows import RowsJob
from groute_py.many.apsp import ManySources
from groute_py.many.delivery import Progress, collect
from groute_py.many.opened import Opened, Work, open_for
from groute_py.many.sources import Vertices
from groute_py.many.to_file import check_output, save
from groute_py.results import tables
from groute_py.results.answer import JobAnswer, about
from groute_py.results.distances import reached_in
from groute_py.results.tables import TableColumns


@dataclass(frozen=True, eq=False)
class Matrix(JobAnswer):
    """Distances from k sources to t targets, and perhaps predecessors.

    The other attributes are those of `groute_py.results.answer.JobAnswer`.

    Attributes:
        sources: int64, shape (k,), positions of vertices.
        targets: int64, shape (t,), likewise.
        distances: shape (k, t), in the types and units of `groute_py.Result`; mapped from the file
            that was named by ``output``, if any was.
        predecessors: int32, shape (k, t): the vertex before each target on a shortest path, −1 if
            there is none; None if not asked for.
        reverse: the distances are those from the targets to the sources (``reverse=True``), and
            each predecessor is the vertex after the target.
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    distances: NDArray[Any]
    predecessors: NDArray[np.int32] | None
    reverse: bool = False

    def to_sparse(self) -> Any:
        """The entries that a path, within the cutoff if there is one, leads to.

        Returns:
            A `scipy.sparse.csr_array` of shape (k, t); a distance of 0 is an entry too.

        Raises:
            SetupError: SciPy is not installed.
        """
        reached = reached_in(np.asarray(self.distances))
        ends = np.concatenate([[0], np.cumsum(reached.sum(axis=1))])
        entries = self.distances[reached], reached.nonzero()[1], ends
        sparse = library("scipy.sparse", "a sparse matrix", "maps")
        return sparse.csr_array(entries, shape=reached.shape)

    def part(self, some: slice) -> TableColumns:
        """See `Tabular.part`; a line for each source and target."""
        predecessors = None if self.predecessors is None else self.predecessors[some]
        ends = self.sources[some], self.targets
        numbers = np.arange(len(self.sources))[some]
        beside = tables.beside_pairs(self.attributes, numbers, len(self.targets))
        part = tables.of_pairs(self.numbering, *ends, self.distances[some], predecessors) | beside
        return tables.with_sums(part, self.carried, some)


@takes(Options, "matrix")
def matrix(
    graph: GraphLike,
    sources: Vertices,
    targets: Vertices,
    *,
    output: str | os.PathLike[str] | None = None,
    **options: Unpack[MatrixKeywords],
) -> Matrix | None:
    """The distances from some sources to some targets.

    Under ``mpirun`` every rank calls this function; each solves an even part of the sources. The
    methods are those of `groute_py.apsp`. Of each row only the targets' columns are kept; on a GPU
    they are gathered before anything is copied to the host.

    Args:
        graph: as for `groute_py.sssp`; every rank holds the whole graph.
        sources: ids of vertices, shape (k,), in any order, also repeatedly.
        targets: likewise, shape (t,).
        tail, head, weight, ignore_columns, comm: as for `groute_py.sssp`.
        output: save the distances in this ``.npy`` file as they are found, and map those of the
            answer from it; not with predecessors. Ranks of one host write their rows themselves.
        **options: how to solve, see `groute_py.engine.options.Options`.

    Returns:
        A `Matrix` on rank 0; None on the other ranks.

    Raises:
        InputError: wrong arguments, the graph is not valid, or the matrix does not fit in memory.
        NegativeCycleError: a negative cycle can be reached from a source.
        SetupError: the device or the MPI set-up cannot be used.
        RunError: a distance does not fit in 64 bits; or the disk is full, or fails.

    >>> matrix(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), [0, 1], [2], device="cpu").distances.tolist()
    [[7], [3]]
    """
    with open_for("matrix", graph, options) as opened:
        job = MatrixJob(sources, targets, output=output, **opened.options.of_rows())
        return opened.answer(job)


@dataclass(frozen=True, eq=False)
class MatrixJob:
    """The distances from some sources to some targets; fields as for `matrix`."""

    sources: Vertices
    targets: Vertices
    algorithm: str = "auto"
    predecessors: bool = False
    output: str | os.PathLike[str] | None = None

    def shared_arguments(self) -> dict[str, Any]:
        return self._rows.shared_arguments() | {"output": self._path}

    def check(self, options: Options) -> None:
        self._rows.check(options)
        if self._path is not None and options.carry:
            raise InputError("carry: sums are in the answer, not in a file; leave out output")

    def run(self, opened: Opened, work: Work) -> Matrix | None:
        def check() -> None:
            if any(ends is None for ends in (self.sources, self.targets)):
                raise InputError("sources and targets must be lists, not None; for all call apsp")
            if self._path is not None:
                check_output(self._path, predecessors=self.predecessors, suffixes=(".npy",))

        on_root(opened.channel, check)
        return self._rows.run(opened, work)

    @property
    def _path(self) -> Path | None:
        return None if self.output is None else file_path("output", self.output)

    @property
    def _rows(self) -> RowsJob[Matrix | None]:
        how: dict[str, Any] = {"algorithm": self.algorithm, "predecessors": self.predecessors}
        return RowsJob("matrix", self.sources, self.deliver, self.targets, **how)

    def deliver(
        self, channel: Channel, many: ManySources, progress: Progress | None
    ) -> Matrix | None:
        """Return the answer of many sources. Collective."""
        if self._path is None:
            rows = collect(channel, many, progress)
        else:
            rows = save(channel, many, self._path, progress)
        if rows is None:
            return None
        assert many.targets is not None
        return Matrix(
            many.sources,
            many.targets,
            rows.distances,
            rows.predecessors if self.predecessors else None,
            rows.reverse,
            statistics=rows.statistics,
            attributes=tables.attributes_of(source=self.sources, target=self.targets),
            carried=rows.carried,
            **about(rows),
        )
