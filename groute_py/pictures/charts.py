"""Charts: how distances are distributed, and what GPUs did over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.errors import InputError
from groute_py.pictures.style import LETTERS, SERIES, WIDTH_IN, drawing, number
from groute_py.pictures.telemetry import Telemetry
from groute_py.pictures.words import reach_of, title_of
from groute_py.results.result import Result

BINS = 100
"""Bars of a histogram at most; whole distances get one each if they are fewer."""

ROWS = (
    ("utilisation", "busy", "%", 1.0),
    ("used_bytes", "memory in use", "GiB", 2.0**-30),
    ("watts", "power", "W", 1.0),
    ("sm_megahertz", "clock", "MHz", 1.0),
    ("nvlink_sent_bytes", "NVLink out", "GB/s", 1e-9),
    ("nvlink_received_bytes", "NVLink in", "GB/s", 1e-9),
)
"""What is drawn of telemetry: column, name, unit, and the unit's size."""

COUNTERS = ("nvlink_sent_bytes", "nvlink_received_bytes")
"""Columns that only grow; their growth by second is drawn."""


def draw_histogram(result: Result, unit: str, longest: int) -> Any:
    """How many vertices there are at each distance; a figure of Matplotlib."""
    found = result.distances[result.reached]
    low, high = found.min(), found.max()
    is_whole = found.dtype.kind != "f" and int(high) - int(low) < BINS
    edges = np.arange(low, high + 2) - 0.5 if is_whole else np.linspace(low, high, BINS + 1)
    if not np.all(np.diff(edges) > 0):  # one distance
        edges = np.array([float(low) - 0.5, float(low) + 0.5])
    counts, edges = np.histogram(found, edges)
    figure, axes = _figure(longest, 0.55, 1, title_of("Distances", result), reach_of(result, unit))
    axes[0].stairs(counts, edges, fill=True, color=SERIES[0])
    axes[0].set_xlabel(f"distance in {unit}")
    axes[0].set_ylabel("vertices")
    axes[0].xaxis.set_major_formatter(number)
    return figure


def draw_telemetry(telemetry: Telemetry, longest: int) -> Any:
    """What NVML said of each GPU, a row for each figure; a figure of Matplotlib.

    Raises:
        InputError: there are no samples.
    """
    rows = [row for row in ROWS if telemetry.has(row[0])]
    if not rows:
        raise InputError("the telemetry has no samples, as where there is no NVML")
    gpus = telemetry.gpus
    note = f"{len(gpus)} GPU{'s' * (len(gpus) > 1)}, {telemetry.seconds:.3g} s"
    figure, axes = _figure(longest, 0.12 + 0.15 * len(rows), len(rows), "GPUs over time", note)
    for panel, (column, name, unit, size) in zip(axes, rows, strict=True):
        for place, gpu in enumerate(gpus):
            seconds, values = telemetry.series(gpu, column, as_rate=column in COUNTERS)
            color, style = SERIES[place % len(SERIES)], ("-", "--")[place // len(SERIES) % 2]
            panel.plot(seconds, values * size, style, color=color, linewidth=1.4, label=gpu)
        panel.set_ylabel(f"{name}\n{unit}")
        panel.set_ylim(0, 105 if unit == "%" else 1.05 * panel.get_ylim()[1])
        panel.yaxis.set_major_formatter(number)
    axes[-1].set_xlabel("seconds")
    if len(gpus) > 1:
        figure.legend(
            *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False
        )
    return figure


def _figure(longest: int, tall: float, rows: int, title: str, note: str) -> tuple[Any, list[Any]]:
    """A figure whose height is so much of its width, with panels one below the other."""
    size = (WIDTH_IN, tall * WIDTH_IN)
    figure = drawing("figure").Figure(figsize=size, dpi=longest / WIDTH_IN, layout="constrained")
    axes = list(figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", color="#e4e4e4", linewidth=0.8)
        panel.set_axisbelow(True)
        panel.tick_params(labelsize=8)
        panel.yaxis.set_major_formatter(number)
    axes[0].set_title(f"{title}\n", loc="left", fontsize=13, color=LETTERS)
    place = {"xytext": (0, 5), "textcoords": "offset points"}
    axes[0].annotate(note, (0, 1), xycoords="axes fraction", fontsize=9, color="#555555", **place)
    return figure, axes
