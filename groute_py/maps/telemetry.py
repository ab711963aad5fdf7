"""The file of ``--telemetry``, read back."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from groute_py.errors import FormatError, quoted
from groute_py.maps.timeline import TimeLine

HEAD = b"seconds,gpu,"
"""How the file begins."""


def read_telemetry(path: Path) -> TimeLine:
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
        return TimeLine("telemetry", [row["gpu"] for row in rows], columns)
    except (KeyError, TypeError, ValueError, csv.Error) as problem:
        raise FormatError(path, f"not the samples of --telemetry ({quoted(problem)})") from problem
