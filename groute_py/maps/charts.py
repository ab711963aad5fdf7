"""Charts: how distances are distributed, and what GPUs or ranks did over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from groute_py.errors import InputError
from groute_py.maps.drawings import reach_of, title_of
from groute_py.maps.saved import TimeLine
from groute_py.maps.sheet import LETTERS, NOTES, SERIES, WIDTH_IN, drawing, number, plain
from groute_py.results.result import Result

BINS = 100  # bars of a histogram at most; whole distances get one each if they are fewer


class Panel(NamedTuple):
    """A column of a `TimeLine`, and how it is drawn."""

    column: str
    name: str
    unit: str
    size: float = 1.0
    is_rate: bool = False  # the column only grows; its growth in a second is drawn


PANELS = {
    "telemetry": (
        Panel("utilisation", "busy", "%"),
        Panel("used_bytes", "memory in use", "GiB", 2.0**-30),
        Panel("watts", "power", "W"),
        Panel("sm_megahertz", "clock", "MHz"),
        Panel("nvlink_sent_bytes", "NVLink out", "GB/s", 1e-9, is_rate=True),
        Panel("nvlink_received_bytes", "NVLink in", "GB/s", 1e-9, is_rate=True),
    ),
    "trace": (
        Panel("near", "near", "entries"),
        Panel("far", "far", "entries"),
        Panel("relaxations", "relaxations", "million/s", 1e-6, is_rate=True),
        Panel("bytes sent", "sent", "MB/s", 1e-6, is_rate=True),
        Panel("rows", "found", "rows"),
    ),
}
"""The columns that are drawn, by the option that wrote the file."""

TITLES = {
    "telemetry": "GPUs over time",
    "trace": "The frontier over time",
    "history": "Convergence of the assignment",
}

LACKS = {
    "telemetry": "the telemetry has no samples, as where there is no NVML",
    "trace": "the trace has no counters, as of `route`",
}


def draw_histogram(result: Result, unit: str, longest: int) -> Any:
    """Draw how many vertices there are at each distance; a figure of Matplotlib."""
    distances = result.distances[result.reached]
    low, high = distances.min(), distances.max()
    is_whole = distances.dtype.kind != "f" and int(high) - int(low) < BINS
    edges = np.arange(low, high + 2) - 0.5 if is_whole else np.linspace(low, high, BINS + 1)
    if not np.all(np.diff(edges) > 0):  # one distance
        edges = np.array([float(low) - 0.5, float(low) + 0.5])
    counts, edges = np.histogram(distances, edges)
    figure, axes = _figure(longest, 0.55, 1, title_of("Distances", result), reach_of(result, unit))
    axes[0].stairs(counts, edges, fill=True, color=SERIES[0])
    axes[0].set_xlabel(f"distance in {unit}")
    axes[0].set_ylabel("vertices")
    axes[0].xaxis.set_major_formatter(number)
    return figure


def draw_time_line(line: TimeLine, longest: int) -> Any:
    """Draw the values of each GPU or rank, a row for each column; a figure of Matplotlib."""
    rows = [panel for panel in PANELS[line.kind] if line.has(panel.column)]
    if not rows:
        raise InputError(LACKS[line.kind])
    count, what = len(line.names), "GPU" if line.kind == "telemetry" else "rank"
    note = f"{count} {what}{'s' * (count > 1)}, {line.seconds:.3g} s"
    tall = 0.12 + 0.15 * len(rows)
    figure, axes = _figure(longest, tall, len(rows), TITLES[line.kind], note)
    for axis, panel in zip(axes, rows, strict=True):
        for place, name in enumerate(line.names):
            seconds, values = line.series(name, panel.column, as_rate=panel.is_rate)
            color, style = SERIES[place % len(SERIES)], ("-", "--")[place // len(SERIES) % 2]
            steps = "steps-pre" if panel.is_rate else "default"
            look = {"color": color, "linewidth": 1.4, "label": name, "drawstyle": steps}
            axis.plot(seconds, values * panel.size, style, **look)
        axis.set_ylabel(f"{panel.name}\n{panel.unit}")
        axis.set_ylim(0, 105 if panel.unit == "%" else 1.05 * axis.get_ylim()[1])
        axis.yaxis.set_major_formatter(number)
    axes[-1].set_xlabel("seconds")
    if count > 1:
        figure.legend(
            *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False
        )
    return figure


def draw_convergence(history: Sequence[Any], longest: int) -> Any:
    """Draw the relative gap of an assignment over time, from its iterations."""
    rows = [row for row in history if row.gap > 0]
    if not rows:
        raise InputError("the gap is 0 from the beginning; there is nothing to draw")
    note = f"{len(history):,} iterations, relative gap {history[-1].gap:.3g}"
    figure, axes = _figure(longest, 0.55, 1, TITLES["history"], note)
    seconds, gaps = [row.seconds for row in rows], [row.gap for row in rows]
    axes[0].semilogy(seconds, gaps, color=SERIES[0], linewidth=1.4)
    axes[0].set_xlabel("seconds")
    axes[0].set_ylabel("relative gap")
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
    axes[0].set_title(f"{plain(title)}\n", loc="left", fontsize=13, color=LETTERS)
    place = {"xytext": (0, 5), "textcoords": "offset points"}
    axes[0].annotate(note, (0, 1), xycoords="axes fraction", fontsize=9, color=NOTES, **place)
    return figure, axes
