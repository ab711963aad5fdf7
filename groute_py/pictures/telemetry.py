"""The file of ``--telemetry``, read back."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, quoted

HEAD = b"seconds,gpu,"
"""How the file begins."""


class Telemetry:
    """Samples of GPUs.

    Args:
        gpus: the GPU of each sample, shape (k,).
        columns: float64, shape (k,), by name; NaN for what is not known.

    Attributes:
        gpus: the names of all GPUs.
    """

    def __init__(self, gpus: list[str], columns: dict[str, NDArray[np.float64]]) -> None:
        self._of = np.array(gpus, dtype=str)
        self._columns = columns
        self.gpus = sorted(set(gpus))

    @property
    def seconds(self) -> float:
        """When the last sample was taken."""
        return float(self._columns["seconds"].max(initial=0))

    def has(self, column: str) -> bool:
        """Whether anything is known of a column."""
        return column in self._columns and not bool(np.isnan(self._columns[column]).all())

    def series(
        self, gpu: str, column: str, *, as_rate: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Seconds and values of a GPU, or by how much they grow in a second.

        >>> two = {"seconds": np.array([0.0, 2.0]), "joules": np.array([3.0, 7.0])}
        >>> Telemetry(["a", "a"], two).series("a", "joules", as_rate=True)[1].tolist()
        [2.0]
        """
        own = (self._of == gpu) & ~np.isnan(self._columns[column])
        seconds, values = self._columns["seconds"][own], self._columns[column][own]
        if not as_rate:
            return seconds, values
        apart = np.diff(seconds)
        return seconds[1:][apart > 0], np.diff(values)[apart > 0] / apart[apart > 0]


def read_telemetry(path: Path) -> Telemetry:
    """Read the file of ``--telemetry``.

    Raises:
        FormatError: it is another one.
    """
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        names = [name for name in (rows[0] if rows else ["seconds"]) if name != "gpu"]
        columns = {name: np.array([float(row[name] or "nan") for row in rows]) for name in names}
        if not rows:
            columns["seconds"] = np.empty(0)
        return Telemetry([row["gpu"] for row in rows], columns)
    except (KeyError, TypeError, ValueError, csv.Error) as problem:
        raise FormatError(path, f"not the samples of --telemetry ({quoted(problem)})") from problem
