"""Values over time: of GPUs by the file of ``--telemetry``, or of ranks by that of ``--trace``."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from groute_py.engine.chrome_trace import COUNT
from groute_py.errors import FormatError, quoted

Kind = Literal["telemetry", "trace"]

TELEMETRY, TRACE = b"seconds,gpu,", b'{"traceEvents":'
"""How the files begin."""

OLD = "a trace of groute-py before 0.2.0, whose counters have other keys; record it again"

MOST_RATES = 120
"""Rates of a series at most; of more samples they are means over equal times."""


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


def read_telemetry(path: Path) -> TimeLine:
    """Read the file of ``--telemetry``; `FormatError` if it is another one."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        names = [name for name in (rows[0] if rows else ["seconds"]) if name != "gpu"]
        columns = {name: np.array([float(row[name] or "nan") for row in rows]) for name in names}
        return TimeLine("telemetry", [row["gpu"] for row in rows], columns)
    except (KeyError, TypeError, ValueError, csv.Error) as problem:
        raise FormatError(path, f"not the samples of --telemetry ({quoted(problem)})") from problem


def read_trace(path: Path) -> TimeLine:
    """Read the counters in the file of ``--trace``; time begins with the first of their values."""
    try:
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        samples = [event for event in events if event["ph"] == "C"]
        if any(event["args"].keys() == {event["name"]} for event in samples):
            raise FormatError(path, OLD)
        at = np.array([event["ts"] for event in samples], np.float64) / 1e6
        columns = {"seconds": at - at.min(initial=np.inf) if len(at) else at}
        for counter in {event["name"] for event in samples}:
            values = [e["args"][COUNT] if e["name"] == counter else np.nan for e in samples]
            columns[counter] = np.array(values, np.float64)
        return TimeLine("trace", [names[event["pid"]] for event in samples], columns)
    except FormatError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise FormatError(path, f"not a trace of --trace ({quoted(problem)})") from problem
