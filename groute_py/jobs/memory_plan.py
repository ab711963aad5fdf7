"""The memory that a job takes on a rank beside the graph, before anything is loaded."""

from __future__ import annotations

import os
import re

import numpy as np

from groute_py.centrality import memory_plan as centrality
from groute_py.device.cpu import two_sided_search
from groute_py.errors import InputError, quote
from groute_py.graph.size import Size
from groute_py.jobs import isochrone, k_nearest, nearest, router

DISTANCE_BYTES = 8
"""Of integers, and of float64."""

FORMS = "matrix:KxT, nearest[:K], isochrone[:K], route[:K] or centrality:MEASURE[:K]"

COUNT = r"([1-9]\d{0,17})"


def job_bytes(job: str, size: Size) -> int:
    """Bytes of host memory on rank 0, at most; a matrix that streams to a file takes less.

    Args:
        job: one of `FORMS`: sources and targets; facilities of each vertex; sources, each by
            itself; pairs, without their paths; a measure of ``groute-py centrality`` and sources.
        size: of the graph.

    Raises:
        InputError: there is no such job.

    >>> job_bytes("matrix:10x20", Size(5, 9)), job_bytes("nearest:2", Size(5, 9))
    (1600, 450)
    >>> job_bytes("isochrone", Size(5, 9)), job_bytes("isochrone:2", Size(5, 9))
    (232, 200)
    """
    vertices, arcs = size
    if found := re.fullmatch(f"matrix:{COUNT}x{COUNT}", job):
        return DISTANCE_BYTES * int(found[1]) * int(found[2])
    if found := re.fullmatch(f"nearest(?::{COUNT})?", job):
        k = int(found[1] or 1)
        return nearest.nbytes(vertices, arcs) if k == 1 else k_nearest.nbytes(vertices, k)
    if job == "isochrone":
        return isochrone.nbytes_of_any(vertices, arcs)
    if found := re.fullmatch(f"isochrone:{COUNT}", job):
        return isochrone.nbytes_of_each(vertices, int(found[1]))
    if found := re.fullmatch(f"route(?::{COUNT})?", job):
        threads = len(os.sched_getaffinity(0))
        searches = two_sided_search.nbytes(vertices, arcs, threads)
        return searches + router.PAIR_BYTES * int(found[1] or 0)
    if asked := _centrality(job, size):
        return centrality.host_bytes(*asked, len(os.sched_getaffinity(0)))
    raise InputError(f"job {quote(job)} is unknown; a job is {FORMS}")


def job_gpu_bytes(job: str, size: Size, distance_type: np.dtype[np.generic]) -> int | None:
    """Bytes on each GPU at least, with the graph; None where it takes what the graph leaves.

    Args:
        job, size: as for `job_bytes`.
        distance_type: of the distances.

    >>> job_gpu_bytes("centrality:closeness", Size(5, 9), np.dtype(np.int32)) is None
    False
    """
    asked = _centrality(job, size)
    return None if asked is None else centrality.gpu_bytes(*asked, distance_type)


def _centrality(job: str, size: Size) -> tuple[str, Size, int] | None:
    """The measure, the size of the graph and the number of sources; None for another job."""
    known = "|".join((*centrality.COUNTED, *centrality.OF_ROWS))
    found = re.fullmatch(rf"centrality:({known})(?::(\d{{1,18}}))?", job)
    if found is None:
        return None
    return found[1], size, min(int(found[2] or size.vertices), size.vertices)
