"""Draw the charts of the documents from the raw numbers in ``benchmarks/results``.

    python -m benchmarks.plots
    python -m benchmarks.plots --output docs/images

``peers.svg`` compares programs on three graphs, ``scaling.svg`` compares one, two and four GPUs,
``batches.svg`` has the throughput of many sources, ``phases.svg`` the time by phase,
``roofline.svg`` the solves beside what the memory's bandwidth allows, and ``gaps.svg``, of
``docs/explanation/assignment.md``, the gap of traffic assignments over seconds.
The same raw numbers give the same files: they hold neither a date nor a random identifier.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from benchmarks.cost_plots import draw_batches, draw_gaps, draw_phases, draw_roofline
from benchmarks.plot_style import (
    BLUE,
    GRAY,
    GRID,
    LIGHT_BLUE,
    ORANGE,
    STYLE,
    WIDTH_IN,
    positive,
    shown,
)
from groute_py.errors import GrouteError, InputError

RESULTS = Path(__file__).parent / "results"
IMAGES = Path(__file__).parents[1] / "docs" / "images"

PEERS = "peers-h200-2026-11-29.json"
COSTS = "many-costs-h100.jsonl"
GAPS = "assign-beside-h200-2026-11-29.json"
SCALING = "several-h200-2026-11-29.json"
PHASES = "cuda-1+2+4-2026-11-26-824c247.json"

OURS, PREPARED = "groute-py", "groute-py, prepared"
SCALED = ("rmat:25", "road:4900x4900")
"""The graphs that `SCALING` has on one, two and four GPUs."""

KINDS = {
    OURS: BLUE,
    PREPARED: LIGHT_BLUE,
    "other programs on the GPU": GRAY,
    "programs on the CPU": ORANGE,
}
"""What each colour of the first chart stands for; a colour that no bar has is left out."""

Record = dict[str, Any]


@click.command()
@click.option("--results", type=click.Path(path_type=Path), default=RESULTS, help="Raw numbers.")
@click.option("--output", type=click.Path(path_type=Path), default=IMAGES, help="A folder.")
@click.pass_context
def main(context: click.Context, results: Path, output: Path) -> None:
    """Draw every chart of the documents as an SVG file."""
    try:
        for name, (sources, draw) in CHARTS.items():
            click.echo(save(draw, [results / source for source in sources], output / name))
    except GrouteError as error:
        click.echo(f"benchmarks.plots: {error}", err=True)
        context.exit(error.exit_code)


def save(draw: Callable[..., Figure], sources: list[Path], target: Path) -> Path:
    """Draw files of raw numbers; the path of the SVG file.

    Raises:
        InputError: the file cannot be read, or a record lacks a value.
    """
    try:
        contents = [content_of(source) for source in sources]
        with mpl.rc_context(STYLE):
            figure = draw(*contents)
            target.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
    except OSError as problem:
        raise InputError(f"{problem.filename}: {problem.strerror}") from problem
    except (KeyError, IndexError, TypeError, ValueError) as problem:
        reason = f"no {problem}" if isinstance(problem, KeyError) else str(problem)
        files = " and ".join(map(str, sources))
        raise InputError(f"{files}: not what {target.name} is drawn from: {reason}") from problem
    return target


def content_of(source: Path) -> Any:
    """The raw numbers of a file: what its JSON is, or a list of the lines of a ``.jsonl``."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text)


def draw_peers(content: Record) -> Figure:
    """One panel a graph, one bar a program; the axis of milliseconds is logarithmic."""
    rows = content["rows"]
    if not rows:
        raise ValueError("no rows")
    times = {(row["graph"], row["program"]): _milliseconds(row) for row in rows}
    graphs = list(dict.fromkeys(graph for graph, _ in times))
    slowest = {p: max(t or 0 for (_, q), t in times.items() if q == p) for _, p in times}
    programs = sorted(slowest, key=lambda p: (p != PREPARED, p != OURS, slowest[p]))
    figure = Figure(figsize=(WIDTH_IN, 1.15 + 0.26 * len(programs)), layout="constrained")
    sizes = sizes_of(content["graphs"])
    panels = figure.subplots(1, len(graphs), sharey=True, sharex=True, squeeze=False)[0]
    for panel, graph in zip(panels, graphs, strict=True):
        bars = [(program, times.get((graph, program), NOT_MEASURED)) for program in programs]
        _peers_of(panel, bars)
        panel.set_title("\n".join((graph, sizes[graph])), loc="left")
    colors = {_color(program) for program in programs}
    handles = [Patch(color=c, label=kind) for kind, c in KINDS.items() if c in colors]
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), frameon=False)
    panels[0].set_yticks(range(len(programs)), programs)
    panels[0].invert_yaxis()
    measured = [time for time in times.values() if time]
    panels[0].set_xlim(min(measured) / 2, 5 * max(measured))
    figure.supxlabel("solve time in ms, logarithmic; shorter is better", fontsize=8.5)
    return figure


NOT_MEASURED = 0.0
"""The time of a program that did not run on a graph; None is that of one that did not end."""


def _milliseconds(row: Record) -> float | None:
    """The median of a row of `PEERS`; None if the program did not end."""
    return None if row["median_ms"] is None else positive(row["median_ms"])


def sizes_of(graphs: list[Record]) -> dict[str, str]:
    """The sizes of graphs, in words.

    >>> sizes_of([{"case": "g", "vertices": 264346, "arcs": 733846}])
    {'g': '0.26 M vertices, 0.73 M arcs'}
    """
    return {
        graph["case"]: f"{millions(graph['vertices'])} vertices, {millions(graph['arcs'])} arcs"
        for graph in graphs
    }


def millions(count: int) -> str:
    """A count in millions, with two digits below 1 M and three above.

    >>> [millions(count) for count in (264346, 4194304, 24010000, 134217728)]
    ['0.26 M', '4.19 M', '24.0 M', '134 M']
    """
    return f"{count / 1e6:#.{3 if count >= 1e6 else 2}g}".removesuffix(".") + " M"


def _peers_of(panel: Axes, bars: list[tuple[str, float | None]]) -> None:
    panel.set_xscale("log")
    panel.xaxis.set_major_formatter("{x:g}")
    panel.xaxis.minorticks_off()
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x", color=GRID, linewidth=0.8)
    for place, (program, value) in enumerate(bars):
        if not value:
            words = "no result" if value is None else "not measured"
            where = panel.get_yaxis_transform()
            look: Any = {"va": "center", "color": "#666666", "style": "italic"}
            panel.text(0.03, place, words, transform=where, **look)
            continue
        weight = "bold" if program.startswith(OURS) else "normal"
        panel.barh(place, value, height=0.72, color=_color(program))
        panel.text(1.12 * value, place, shown(value), va="center", weight=weight)


def _color(program: str) -> str:
    """Blue for this project, orange for programs on CPU threads, gray for other GPU programs."""
    if program.startswith(OURS):
        return BLUE if program == OURS else LIGHT_BLUE
    return ORANGE if "thread" in program else GRAY


def draw_scaling(content: Record) -> Figure:
    """One panel a graph: speed-ups over one GPU, of distances alone and with predecessors."""
    figure = Figure(figsize=(WIDTH_IN, 2.6), layout="constrained")
    panels = figure.subplots(1, len(SCALED), sharey=True, squeeze=False)[0]
    for panel, graph in zip(panels, SCALED, strict=True):
        for tree in (False, True):
            _bars_of(panel, speed_ups(content["records"], graph, tree=tree), tree)
        panel.set_title(graph, loc="left")
        panel.set_xlabel("GPUs")
    panels[0].set_ylabel("times as fast as one GPU")
    panels[0].legend(frameon=False, loc="upper left")
    return figure


def _bars_of(panel: Axes, values: dict[int, float], tree: bool) -> None:
    color, label = (LIGHT_BLUE, "with predecessors") if tree else (BLUE, "distances only")
    panel.grid(axis="y", color=GRID, linewidth=0.8)
    for place, value in enumerate(values.values()):
        at = place + (0.2 if tree else -0.2)
        panel.bar(at, value, width=0.38, color=color, label=None if place else label)
        panel.text(at, value + 0.05, f"{value:.2f}×", ha="center")
    panel.set_xticks(range(len(values)), [str(gpus) for gpus in values])
    panel.tick_params(axis="x", length=0)
    if tree:
        for place, gpus in list(enumerate(values))[1:]:
            named = "linear" if place == 1 else None
            ends = (place - 0.42, place + 0.42)
            panel.plot(ends, (gpus, gpus), "--", color="#444444", linewidth=1, label=named)


def speed_ups(records: list[Record], graph: str, *, tree: bool) -> dict[int, float]:
    """One GPU's median over that of each number of GPUs, in ascending order.

    The time of a solve with predecessors ends when the tree is on the device.

    >>> half = {"case": "g", "ranks": 2, "tree": False, "medians": {"solve": 2, "predecessors": 0}}
    >>> one = half | {"ranks": 1, "medians": {"solve": 3, "predecessors": 0}}
    >>> speed_ups([half, one], "g", tree=False)
    {1: 1.0, 2: 1.5}
    """
    seconds = {
        record["ranks"]: positive(record["medians"]["solve"] + record["medians"]["predecessors"])
        for record in records
        if record["case"] == graph and record["tree"] is tree
    }
    if 1 not in seconds:
        raise ValueError(f"no record of {graph} on one GPU")
    return {gpus: seconds[1] / seconds[gpus] for gpus in sorted(seconds)}


CHARTS: dict[str, tuple[list[str], Callable[..., Figure]]] = {
    "peers.svg": ([PEERS], draw_peers),
    "scaling.svg": ([SCALING], draw_scaling),
    "batches.svg": ([COSTS], draw_batches),
    "phases.svg": ([PHASES], draw_phases),
    "roofline.svg": ([PHASES], draw_roofline),
    "gaps.svg": ([GAPS], draw_gaps),
}
"""The file of each chart, the raw numbers it is drawn from, and the function that draws it."""


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.plots")
