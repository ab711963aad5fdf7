"""Runs of all pairs whose rows are kept in a folder until they are a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from groute_py import Graph
from groute_py.comm.solo import SoloChannel
from groute_py.many.apsp import Job, Loaded, prepare
from groute_py.many.request import Request
from groute_py.many.storage.partial import KeptRows
from groute_py.many.storage.record import run_of
from support.graphs import scipy_distances


def job_of(graph: Graph, **wanted: Any) -> Job:
    return prepare(SoloChannel(), lambda: Loaded(graph, None), Request(device="cpu", **wanted))


def kept(path: Path, job: Job, *, resume: bool = False) -> KeptRows:
    run = run_of(job.graph, {"sources": job.sources}, {"algorithm": job.request.algorithm})
    paths = job.request.predecessors
    graph = job.numbering, job.graph.weights.dtype
    return KeptRows(path, *graph, job.sources, run, predecessors=paths, resume=resume)


def row_file(out: Path, name: str) -> Path:
    """Of the rows of an output that a run works on: ``rows``, ``distances``, ``predecessors``."""
    (found,) = out.with_name(f"{out.name}.partial").glob(f"{name}-*")
    return found


def every(graph: Graph) -> Any:
    return np.array([scipy_distances(graph, source) for source in range(graph.vertex_count)])


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
