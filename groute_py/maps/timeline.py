"""Values over time: of GPUs, as ``--telemetry`` samples them, or of ranks, as ``--trace`` does."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["telemetry", "trace"]

MOST_RATES = 120
"""Rates of a series at most; of more samples they are means over equal times."""


class TimeLine:
    """Values over time of several GPUs or ranks.

    Args:
        kind: the option that wrote the file.
        names: whose values each sample has, shape (k,).
        columns: float64, shape (k,), by name, ``seconds`` among them; NaN for what a sample lacks.

    Attributes:
        kind: the same.
        names: of all GPUs or ranks, each once, in the order of the samples.
    """

    def __init__(
        self, kind: Kind, names: list[str], columns: dict[str, NDArray[np.float64]]
    ) -> None:
        self.kind = kind
        self._of = np.array(names, dtype=str)
        self._columns = columns
        self.names = list(dict.fromkeys(names))

    @property
    def seconds(self) -> float:
        """When the last sample was taken."""
        return float(self._columns["seconds"].max(initial=0))

    def has(self, column: str) -> bool:
        """Whether anything is known of a column; of a trace, whether the counter is ever not 0."""
        values = self._columns.get(column, np.empty(0))
        known = values[~np.isnan(values)]
        return bool(known.any() if self.kind == "trace" else len(known))

    def series(
        self, name: str, column: str, *, as_rate: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Seconds and values of a GPU or rank, or by how much they grow in a second.

        What falls has begun again from 0, as at the begin of a solve; the rate there is 0.

        >>> two = {"seconds": np.array([0.0, 2.0]), "joules": np.array([3.0, 7.0])}
        >>> TimeLine("telemetry", ["a", "a"], two).series("a", "joules", as_rate=True)[1].tolist()
        [2.0]
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
