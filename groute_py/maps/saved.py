"""Answers, telemetry and traces in files, read for a picture."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quoted
from groute_py.io.npz import DAMAGE
from groute_py.io.optional_libraries import library
from groute_py.maps.timeline import TELEMETRY, TRACE, TimeLine, read_telemetry, read_trace
from groute_py.results.result import NPY, UNREACHED, ZIP, Result, read_result
from groute_py.system.paths import is_file_there

TABLE = b"vertex,distance,predecessor"
"""The begin of an answer as a ``.csv``."""


def saved_in(path: str | Path) -> Result | TimeLine | None:
    """Read the answer, telemetry or trace in a file; None if it has none of them, as a graph's."""
    if not is_file_there(path):
        return None
    with open(path, "rb") as file:
        start = file.read(len(TABLE))
    if start.startswith(ZIP) and _is_answer(path):
        return read_result(path)
    if start.startswith(TELEMETRY):
        return read_telemetry(Path(path))
    if start.startswith(TRACE):
        return read_trace(Path(path))
    if start.startswith(NPY):
        return _from_npy(Path(path))
    if start == TABLE:
        return _from_csv(Path(path))
    return _from_parquet(Path(path)) if start.startswith(b"PAR1") else None


def _is_answer(path: str | Path) -> bool:
    """Return True if an archive holds distances; one of a sparse matrix is a graph."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "distances.npy" in archive.namelist()
    except DAMAGE:
        return True  # whose error says more


def _from_npy(path: Path) -> Result | None:
    try:
        distances = np.load(path, mmap_mode="r")
    except DAMAGE as problem:
        raise FormatError(path, f"not distances ({quoted(problem)})") from problem
    if distances.ndim != 1 or distances.dtype not in (np.int64, np.float32, np.float64):
        raise InputError(f"{path}: not the distances from one source, of shape (n,)")
    return _answer(path, np.asarray(distances), None, None)


def _from_csv(path: Path) -> Result:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
        names, lengths, parents = columns[:3]  # behind them coordinates, and whom to name
        return _answer(path, _numbers(lengths), list(names), list(parents))
    except (ValueError, KeyError, csv.Error) as problem:
        if isinstance(problem, InputError):
            raise
        raise FormatError(path, f"not a saved answer ({quoted(problem)})") from problem


def _from_parquet(path: Path) -> Result | None:
    table = library("pyarrow.parquet", "reading Parquet").read_table(path)
    if "vertex" not in table.column_names or "distance" not in table.column_names:
        return None  # a graph
    names = ["" if value is None else str(value) for value in table["vertex"].to_pylist()]
    lengths = table["distance"].to_pylist()
    distances = _numbers(["inf" if value is None else str(value) for value in lengths])
    if "predecessor" not in table.column_names:
        return _answer(path, distances, names, None)
    parents = ["" if value is None else str(value) for value in table["predecessor"].to_pylist()]
    return _answer(path, distances, names, parents)


def _numbers(texts: Any) -> NDArray[Any]:
    """Distances in public types: int64 if all are whole, else float64."""
    reached = [text for text in texts if text != "inf"]
    if all(text.lstrip("-").isdigit() for text in reached):
        return np.array([UNREACHED if text == "inf" else int(text) for text in texts], np.int64)
    return np.array([float(text) for text in texts])


def _answer(
    path: Path, distances: NDArray[Any], names: list[str] | None, parents: list[str] | None
) -> Result:
    """An answer whose source is the one vertex at distance 0 that nothing precedes."""
    ids = None if names is None else np.array(names)
    if ids is not None and all(name.lstrip("-").isdigit() for name in names or ()):
        ids = ids.astype(np.int64)
    tree = None
    if parents is not None and names is not None and any(parents):
        place = {name: index for index, name in enumerate(names)}
        tree = np.array([place[name] if name else -1 for name in parents], np.int64)
    is_source = distances == 0 if tree is None else (distances == 0) & (tree < 0)
    if np.count_nonzero(is_source) != 1:
        raise InputError(f"{path}: which vertex is the source is not in it; save it as .npz")
    return Result(int(is_source.argmax()), distances, tree, {}, 0, ids)
