"""The keywords of the public functions, for type checkers and editors.

Made from `groute_py.engine.options` by python tests/repository/option_tables.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

from groute_py.comm.base import Intracomm


class GraphKeywords(TypedDict, total=False):
    """Keywords of all functions that open a graph."""

    tail: Any
    head: Any
    weight: Any
    ignore_columns: Sequence[Any]
    comm: Intracomm | None


class BfsKeywords(GraphKeywords, total=False):
    """Keywords of `groute_py.bfs`."""

    device: str
    threads: int | None
    partition: str
    predecessors: bool
    reverse: bool
    cutoff: float | str | None
    time_limit_s: float | None
    mode: str
    order: str
    coordinates: str | Path | None
    download: bool
    profile: str | None
    carry: Sequence[str]


class SsspKeywords(BfsKeywords, total=False):
    """Keywords of `groute_py.sssp`."""

    algorithm: str
    objective: str
    delta: float | None
    turns: Any
    prepare: bool


class OpenKeywords(SsspKeywords, total=False):
    """Keywords of `groute_py.open`."""

    hops: bool


class JobKeywords(GraphKeywords, total=False):
    """Keywords of all other jobs."""

    device: str
    threads: int | None
    turns: Any
    profile: str | None


class NearestKeywords(JobKeywords, total=False):
    """Keywords of `groute_py.nearest`."""

    objective: str
    partition: str
    cutoff: float | str | None
    time_limit_s: float | None
    mode: str
    download: bool
    carry: Sequence[str]


class IsochroneKeywords(JobKeywords, total=False):
    """Keywords of `groute_py.isochrone`."""

    partition: str
    reverse: bool
    time_limit_s: float | None
    mode: str


class ApspKeywords(JobKeywords, total=False):
    """Keywords of `groute_py.apsp`."""

    algorithm: str
    objective: str
    predecessors: bool
    reverse: bool
    cutoff: float | str | None
    prepare: bool
    memory_limit: int | None


class RouteKeywords(JobKeywords, total=False):
    """Keywords of `groute_py.route`."""

    objective: str
    reverse: bool
    cutoff: float | str | None
    prepare: bool
    carry: Sequence[str]
    memory_limit: int | None


class MatrixKeywords(ApspKeywords, total=False):
    """Keywords of `groute_py.matrix`."""

    carry: Sequence[str]
