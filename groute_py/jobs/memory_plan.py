"""The host memory that a job takes on a rank beside the graph, before anything is loaded."""

from __future__ import annotations

import os
import re

from groute_py.device.cpu import two_sided_search
from groute_py.errors import InputError, quote
from groute_py.graph.size import Size
from groute_py.jobs import k_nearest

DISTANCE_BYTES = 8
"""Of integers, and of float64."""

NEAREST_BYTES = 32
"""For each vertex: its distance, facility and next vertex, and its place in a queue."""

FORMS = "matrix:KxT, nearest[:K] or route"


def job_bytes(job: str, size: Size) -> int:
    """Bytes of host memory on rank 0, at most; a matrix that streams to a file takes less.

    Args:
        job: one of `FORMS`: sources and targets, or facilities of each vertex.
        size: of the graph.

    Raises:
        InputError: there is no such job.

    >>> job_bytes("matrix:10x20", Size(5, 9)), job_bytes("nearest:2", Size(5, 9))
    (1600, 450)
    """
    if found := re.fullmatch(r"matrix:(\d{1,18})x(\d{1,18})", job):
        return DISTANCE_BYTES * int(found[1]) * int(found[2])
    if found := re.fullmatch(r"nearest(?::(\d{1,18}))?", job):
        k = int(found[1] or 1)
        return NEAREST_BYTES * size.vertices if k == 1 else k_nearest.nbytes(size.vertices, k)
    if job == "route":
        threads = len(os.sched_getaffinity(0))
        return two_sided_search.nbytes(size.vertices, size.arcs, threads)
    raise InputError(f"job {quote(job)} is unknown; a job is {FORMS}")
