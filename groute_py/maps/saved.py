"""Answers, and values over time of GPUs or ranks, read from files for a picture."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from groute_py.engine.chrome_trace import COUNT
from groute_py.errors import FormatError, InputError, quoted
from groute_py.io.npz import DAMAGE
from groute_py.io.optional_libraries import library
from groute_py.results.distances import UNREACHED
from groute_py.results.result import NPY, ZIP, Result, read_result
from groute_py.system.paths import is_file_there

Kind = Literal["telemetry", "trace"]

TELEMETRY, TRACE = b"seconds,gpu,", b'{"traceEvents":'
"""The begins of the files of these options."""

MOST_RATES = 120
"""Rates of a series at most; of more samples they are means over equal times."""

TABLE = re.compile(rb"vertex,distance(_[a-z]+)?,predecessor")
"""The begin of an answer as a ``.csv``."""

LONGEST_BEGIN = 40


class TimeLine:
    """Values over time of several GPUs or ranks: columns by name, NaN for what a sample lacks."""

    def __init__(
        self, kind: Kind, names: list[str], columns: dict[str, NDArray[np.float64]]
    ) -> None:
        self.kind = kind
        self._of = np.array(names, dtype=str)
        self._columns = columns
        self.names = list(dict.fromkeys(names))

    @property
    def seconds(self) -> float:
        """The time of the last sample."""
        return float(self._columns["seconds"].max(initial=0))

    def has(self, column: str) -> bool:
        """Return True if a column has values; of a trace, if the counter is ever not 0."""
        values = self._columns.get(column, np.empty(0))
        values = values[~np.isnan(values)]
        return bool(values.any() if self.kind == "trace" else len(values))

    def series(
        self, name: str, column: str, *, as_rate: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Seconds and values of a GPU or rank, or by how much they grow in a second.

        What falls has begun again from 0, as at the begin of a solve; the rate there is 0.
        """
        own = (self._of == name) & ~np.isnan(self._columns[column])
        seconds, values = self._columns["seconds"][own], self._columns[column][own]
        if not as_rate:
            return seconds, values
        grown = np.cumsum(np.maximum(np.diff(values, prepend=values[:1]), 0))
        if len(seconds) > MOST_RATES + 1:
            ends = np.linspace(seconds[0], seconds[-1], MOST_RATES + 1)
            seconds, grown = ends, np.interp(ends, seconds, grown)
        apart = np.diff(seconds)
        return seconds[1:][apart > 0], np.diff(grown)[apart > 0] / apart[apart > 0]


def saved_in(path: str | Path) -> Result | TimeLine | None:
    """Read the answer, telemetry or trace in a file; None if it has none of them, as a graph's."""
    if not is_file_there(path):
        return None
    try:
        with open(path, "rb") as file:
            start = file.read(LONGEST_BEGIN)
    except OSError:
        return None  # who reads it as a graph gets the same error
    if start.startswith(ZIP) and _is_answer(path):
        return read_result(path)
    if start.startswith(TELEMETRY):
        return _read_telemetry(Path(path))
    if start.startswith(TRACE):
        return _read_trace(Path(path))
    if start.startswith(NPY):
        return _from_npy(Path(path))
    if TABLE.match(start):
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
            (_, title, *_), *rows = csv.reader(file)
        columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
        names, lengths, parents = columns[:3]  # behind them coordinates, and whom to name
        return _answer(path, _numbers(lengths), list(names), list(parents), title)
    except (ValueError, KeyError, csv.Error) as problem:
        if isinstance(problem, InputError):
            raise
        raise FormatError(path, f"not a saved answer ({quoted(problem)})") from problem


def _from_parquet(path: Path) -> Result | None:
    table = library("pyarrow.parquet", "reading Parquet").read_table(path)
    lengths = [title for title in table.column_names if title.split("_")[0] == "distance"]
    if not lengths or "vertex" not in table.column_names:
        return None  # a graph

    def texts(title: str, nothing: str = "") -> list[str]:
        return [nothing if value is None else str(value) for value in table[title].to_pylist()]

    parents = texts("predecessor") if "predecessor" in table.column_names else None
    return _answer(path, _numbers(texts(lengths[0], "inf")), texts("vertex"), parents, lengths[0])


def _numbers(texts: Any) -> NDArray[Any]:
    """Distances in public types: int64 if all are whole, else float64."""
    reached = [text for text in texts if text != "inf"]
    if all(text.lstrip("-").isdigit() for text in reached):
        return np.array([UNREACHED if text == "inf" else int(text) for text in texts], np.int64)
    return np.array([float(text) for text in texts])


def _answer(
    path: Path,
    distances: NDArray[Any],
    names: list[str] | None,
    parents: list[str] | None,
    title: str = "",
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
    unit = title.partition("_")[2]
    units = {"": unit} if unit else {}
    return Result(int(is_source.argmax()), distances, tree, {}, 0, ids, units=units)


def _read_telemetry(path: Path) -> TimeLine:
    """Read the file of ``--telemetry``; `FormatError` if it is another one."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        names = [name for name in (rows[0] if rows else ["seconds"]) if name != "gpu"]
        columns = {name: np.array([float(row[name] or "nan") for row in rows]) for name in names}
        return TimeLine("telemetry", [row["gpu"] for row in rows], columns)
    except (KeyError, TypeError, ValueError, csv.Error) as problem:
        raise FormatError(path, f"not the samples of --telemetry ({quoted(problem)})") from problem


def _read_trace(path: Path) -> TimeLine:
    """Read the counters in the file of ``--trace``; time begins with the first of their values."""
    try:
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        samples = [event for event in events if event["ph"] == "C"]
        at = np.array([event["ts"] for event in samples], np.float64) / 1e6
        columns = {"seconds": at - at.min(initial=np.inf) if len(at) else at}
        for counter in {event["name"] for event in samples}:
            values = [e["args"][COUNT] if e["name"] == counter else np.nan for e in samples]
            columns[counter] = np.array(values, np.float64)
        return TimeLine("trace", [names[event["pid"]] for event in samples], columns)
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise FormatError(path, f"not a trace of --trace ({quoted(problem)})") from problem
