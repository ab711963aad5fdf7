"""Runs of all pairs whose rows lie in a folder until they are a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from groute_py import Graph
from groute_py.comm.base import SoloChannel
from groute_py.many.apsp import ManySources
from groute_py.many.delivery import deliver
from groute_py.many.storage.store import Store
from groute_py.many.to_file import UNIT, StoredRows
from support.graphs import scipy_distances
from support.opening import job_on


def job_of(graph: Graph, **wanted: Any) -> ManySources:
    return job_on(SoloChannel(), graph, device="cpu", **wanted)


class Run:
    """A run that works on an output."""

    def __init__(self, path: Path, job: ManySources, *, resume: bool = False) -> None:
        self.store, self._job = Store(path, UNIT, resume=resume), job
        self.rows = StoredRows(job, self.store, {})
        self.rows.begin(SoloChannel())

    @property
    def missing(self) -> Any:
        return self.store.missing

    def deliver(self, positions: Any = None, sink: Any = None) -> None:
        """Solve for some of the rows, or for all that are missing."""
        some = self.missing if positions is None else positions
        deliver(SoloChannel(), self._job, some, sink or self.rows)

    def finish(self) -> None:
        self.rows.finish()
        self.store.close()


def solved(path: Path, job: ManySources, *, resume: bool = False) -> None:
    """A run from its beginning to its output."""
    run = Run(path, job, resume=resume)
    run.deliver()
    run.finish()


def left(path: Path, job: ManySources, rows: int = 9) -> None:
    """A run that ends when some rows are complete."""
    run = Run(path, job)
    run.deliver(run.missing[:rows])
    run.store.close()


def row_file(out: Path, name: str) -> Path:
    """Of the rows of an output that a run works on: ``rows``, ``distances``, ``predecessors``."""
    (result,) = out.with_name(f"{out.name}.partial").glob(f"{name}-*")
    return result


def every(graph: Graph) -> Any:
    return np.array([scipy_distances(graph, source) for source in range(graph.vertex_count)])


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
