"""The keywords of the public functions, for type checkers and editors.

Made from `groute_py.engine.options` by python tests/repository/option_tables.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict


class BfsKeywords(TypedDict, total=False):
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
    delta: float | None
    turns: Any
    prepare: bool


class OpenKeywords(SsspKeywords, total=False):
    """Keywords of `groute_py.open`."""

    hops: bool


class NearestKeywords(TypedDict, total=False):
    """Keywords of `groute_py.nearest`."""

    device: str
    threads: int | None
    partition: str
    turns: Any
    cutoff: float | str | None
    time_limit_s: float | None
    mode: str
    download: bool
    profile: str | None
    carry: Sequence[str]


class IsochroneKeywords(TypedDict, total=False):
    """Keywords of `groute_py.isochrone`."""

    device: str
    threads: int | None
    partition: str
    reverse: bool
    turns: Any
    time_limit_s: float | None
    mode: str
    profile: str | None


class ApspKeywords(TypedDict, total=False):
    """Keywords of `groute_py.apsp`."""

    algorithm: str
    device: str
    threads: int | None
    predecessors: bool
    reverse: bool
    turns: Any
    cutoff: float | str | None
    profile: str | None
    prepare: bool
    memory_limit: int | None


class MatrixKeywords(TypedDict, total=False):
    """Keywords of `groute_py.matrix`."""

    algorithm: str
    device: str
    threads: int | None
    predecessors: bool
    reverse: bool
    turns: Any
    cutoff: float | str | None
    profile: str | None
    prepare: bool
    carry: Sequence[str]
    memory_limit: int | None


class RouteKeywords(TypedDict, total=False):
    """Keywords of `groute_py.route`."""

    device: str
    threads: int | None
    reverse: bool
    turns: Any
    cutoff: float | str | None
    profile: str | None
    prepare: bool
    carry: Sequence[str]
    memory_limit: int | None
