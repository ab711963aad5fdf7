"""Charts of what answers cost: throughput by batch size, time by phase, a roofline, and gaps."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.plot_style import BLUE, GRAY, GRID, LIGHT_BLUE, ORANGE, WIDTH_IN, positive, shown

Record = dict[str, Any]

BATCHED = ("road:300x300", "road:1000x1000", "rmat:20")
"""The graphs of the chart of batches."""

METHODS = {"batch": (BLUE, "o"), "heap": (ORANGE, "s"), "single": (GRAY, "^")}
"""Colour and mark of the methods for many sources."""

PHASED = ("NY", "road:4900x4900", "rmat:22", "rmat:24")
"""The graphs of the charts of phases and of the roofline."""

PHASES = {"upload": GRAY, "solve": BLUE, "download": ORANGE}
"""The colour of each phase, in their order; to solve is to find distances and predecessors."""

LABELLED_LEFT = ("road:4900x4900", "rmat:24")
"""Graphs of the roofline whose neighbours leave no room on the right."""

BANDWIDTH = 3.35e12
"""Bytes a second of an H100 SXM with 80 GB, by NVIDIA's data sheet."""

SECTOR = 32
"""Bytes that an access to one distance moves."""

PER_ARC, PER_VERTEX = 8, 16
"""Bytes that must move at least once: head and weight; two offsets, and a distance in and out."""


def draw_batches(rows: list[Record]) -> Figure:
    """One panel a graph: sources a second of each method against the number of sources."""
    figure = Figure(figsize=(WIDTH_IN, 2.6), layout="constrained")
    panels = figure.subplots(1, len(BATCHED), squeeze=False)[0]
    for panel, graph in zip(panels, BATCHED, strict=True):
        for method, (color, mark) in METHODS.items():
            found = throughput(rows, graph, method)
            if found:
                panel.loglog(*zip(*found, strict=True), f"{mark}-", color=color, label=method, ms=4)
        panel.set_title(graph, loc="left")
        panel.grid(color=GRID, linewidth=0.8)
        panel.minorticks_off()
        panel.set_xlabel("sources at once")
    panels[0].set_ylabel("sources a second")
    panels[0].legend(frameon=False)
    return figure


def throughput(rows: list[Record], graph: str, method: str) -> list[tuple[int, float]]:
    """The numbers of sources, and how many of them are solved in a second, in ascending order.

    >>> throughput([{"graph": "g", "method": "batch", "count": 8, "s": 0.5}], "g", "batch")
    [(8, 16.0)]
    """
    found = {
        row["count"]: row["count"] / positive(row["s"])
        for row in rows
        if row["graph"] == graph and row["method"] == method
    }
    return sorted(found.items())


def draw_phases(content: Record) -> Figure:
    """One bar a graph: upload, solve and download on one GPU, in percent of their sum."""
    figure = Figure(figsize=(WIDTH_IN, 2.3), layout="constrained")
    panel = figure.subplots()
    for place, graph in enumerate(PHASED):
        medians = dict(_alone(content["records"], graph)["medians"])
        medians["solve"] += medians["predecessors"]
        total, left = positive(sum(medians[phase] for phase in PHASES)), 0.0
        for phase, color in PHASES.items():
            width = 100 * medians[phase] / total
            label = phase if place == 0 else None
            panel.barh(place, width, left=left, color=color, height=0.7, label=label)
            if width > 7:
                text = shown(1000 * medians[phase])
                white = "white" if phase in ("solve", "upload") else "black"
                panel.text(left + width / 2, place, text, ha="center", va="center", color=white)
            left += width
        panel.text(101, place, f"{shown(1000 * total)} ms", va="center")
    panel.set_yticks(range(len(PHASED)), PHASED)
    panel.tick_params(axis="y", length=0)
    panel.invert_yaxis()
    panel.set_xlim(0, 112)
    panel.set_xticks(range(0, 101, 25))
    panel.set_xlabel("percent of the time; numbers are milliseconds")
    figure.legend(loc="outside upper left", ncols=len(PHASES), frameon=False)
    return figure


def draw_roofline(content: Record) -> Figure:
    """Relaxations a second against relaxations for each byte that must move, on one GPU.

    The slanted roof is the bandwidth of memory. The flat one is that of scattered distances: each
    relaxation moves a sector.
    """
    figure = Figure(figsize=(WIDTH_IN, 3.2), layout="constrained")
    panel = figure.subplots()
    most = BANDWIDTH / SECTOR
    ends = (0.05, 0.16)
    panel.loglog(ends, [BANDWIDTH * end for end in ends], color="#444444", linewidth=1.2)
    panel.axhline(most, color="#444444", linewidth=1.2, linestyle="--")
    for text, height in (
        ("each relaxation moves a distance, 32 bytes", most),
        ("each arc and vertex moves once", BANDWIDTH * ends[1]),
    ):
        panel.text(ends[1], 1.12 * height, text, ha="right", color="#444444")
    for graph in PHASED:
        _point(panel, _alone(content["records"], graph), graph)
    panel.set_xlim(*ends)
    panel.set_xlabel("relaxations for each byte that must move once")
    panel.set_ylabel("relaxations a second")
    panel.grid(color=GRID, linewidth=0.8)
    panel.set_xticks((0.05, 0.07, 0.1, 0.15), ("0.05", "0.07", "0.1", "0.15"))
    panel.minorticks_off()
    panel.legend(frameon=False, loc="lower right")
    return figure


CURVES = {
    "groute-py, H200": BLUE,
    "groute-py, 16 cores": LIGHT_BLUE,
    "AequilibraE 1.7.2, 16 cores": ORANGE,
}
"""The colour of each curve of gaps."""


def draw_gaps(content: Record) -> Figure:
    """The relative gap of a traffic assignment over seconds; both axes are logarithmic."""
    figure = Figure(figsize=(WIDTH_IN, 2.6), layout="constrained")
    panel = figure.subplots()
    for curve, color in CURVES.items():
        panel.loglog(*zip(*content["curves"][curve], strict=True), color=color, label=curve)
    panel.set_xlabel("seconds")
    panel.set_ylabel("relative gap")
    panel.grid(color=GRID, linewidth=0.8)
    panel.minorticks_off()
    panel.legend(frameon=False)
    return figure


def _point(panel: Axes, record: Record, graph: str) -> None:
    last = record["runs"][-1]["statistics"]
    seconds = positive(record["medians"]["solve"])
    needed = last["relaxations"] - last["useless_relaxations"]
    moved = PER_ARC * record["arcs"] + PER_VERTEX * record["vertices"]
    ends = needed / seconds, last["relaxations"] / seconds
    panel.plot((needed / moved, needed / moved), ends, color=LIGHT_BLUE, linewidth=1)
    for count, color, label in (
        (last["relaxations"], LIGHT_BLUE, "all relaxations"),
        (needed, BLUE, "one for each arc"),
    ):
        known = panel.get_legend_handles_labels()[1]
        panel.plot(
            needed / moved,
            count / seconds,
            "o",
            color=color,
            label=None if label in known else label,
        )
    is_left = graph in LABELLED_LEFT
    panel.annotate(
        graph,
        (needed / moved, needed / seconds),
        xytext=(-8, -4) if is_left else (8, -3),
        textcoords="offset points",
        ha="right" if is_left else "left",
    )


def _alone(records: list[Record], graph: str) -> Record:
    """The record of a graph with predecessors on one GPU."""
    for record in records:
        if record["case"] == graph and record["ranks"] == 1 and record["tree"]:
            return record
    raise ValueError(f"no record of {graph} with predecessors on one GPU")
