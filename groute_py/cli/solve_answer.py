"""The answer of a solve from one source, as the command line shows it."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.errors import printable

if TYPE_CHECKING:
    from groute_py.graph.facts import Facts
    from groute_py.results.result import Result


def rows_of(facts: Facts, result: Result, times: list[float]) -> dict[str, Any]:
    """The answer by name, as JSON shows it.

    Args:
        facts: of the graph.
        result: of the last solve.
        times: seconds of each solve.
    """
    from groute_py.results.figures import figures_of

    figures = figures_of(result.distances)
    rows = {
        "graph": facts.name,
        "vertices": facts.vertex_count,
        "arcs": facts.arc_count,
        "source": result.numbering.id_of(result.source),
        "reached": figures.reached,
        "greatest_distance": figures.greatest,
        "sum_of_distances": show.finite(figures.total),
        "statistics": {k: v for k, v in result.statistics.items() if k != "seconds"},
    }
    if result.reverse:
        rows["reverse"] = True
    if result.attribution:
        rows["attribution"] = result.attribution
    if len(times) > 1:
        rows["trials"] = {"solve_seconds": times, "median": statistics.median(times)}
    return rows


def show_rows(
    rows: dict[str, Any],
    seconds: dict[str, float],
    *,
    paths: list[dict[str, Any]],
    as_json: bool,
    aside: bool,
) -> None:
    """Print the answer, the paths to targets and the time; with ``aside`` on stderr."""
    if as_json:
        rows |= {"paths": paths} if paths else {}
        show.timed_answer(rows, seconds, as_json=True, aside=aside)
        return
    figures = rows.pop("statistics")
    ranks, arcs = figures["ranks"], max(rows["arcs"], 1)
    window = f", Δ {figures['delta']}" if figures["delta"] else ""
    rows["method"] = f"{figures['algorithm']}{window} ({figures['reason']})"
    if figures["settled"]:
        rate = figures["settled"] / max(figures["steps"], 1)
        rows["settled"] = f"{rate:.2f} vertices a round, {figures['steps']:,} rounds"
    rows["ranks"] = f"{ranks} ({', '.join(sorted(set(figures['devices'])))})"
    rows["relaxations"] = f"{figures['relaxations'] / arcs:.2f} per arc"
    if ranks > 1:
        rows["mode"] = f"{figures['mode']} ({figures['mode_reason']})"
        rows["order"] = figures["order"]
        rows["cut"] = f"{figures['cut']:,} arcs, imbalance {figures['imbalance']:.2f}"
        rows["bytes_sent"] = sum(map(sum, figures["bytes_sent"]))
    if "trials" in rows:
        trials = rows.pop("trials")
        rows["solve_median"] = f"{1e3 * trials['median']:.2f} ms of {len(trials['solve_seconds'])}"
    for gpu, means in rows.pop("telemetry", {}).items():
        rows[gpu] = ", ".join(f"{name.replace('_', ' ')} {means[name]:,.6g}" for name in means)
    show.timed_answer(rows, seconds, as_json=False, aside=aside)
    word = "from" if "reverse" in rows else "to"
    for found in paths:
        for line in _path_text(found, word):
            click.echo(printable(line), err=aside)


def _path_text(found: dict[str, Any], word: str) -> list[str]:
    if found["distance"] is None:
        return [f"no path {word} {found['target']}"]
    steps = " → ".join(map(str, found["path"]))
    return [f"path {word} {found['target']}, length {found['distance']}:", f"  {steps}"]
