"""Output of commands: the answer on stdout, progress on stderr, and only from rank 0."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

from groute_py.cli.phase_line import free_terminal
from groute_py.errors import CacheWarning, printable
from groute_py.system.environment import place
from groute_py.system.paths import is_stdout

if TYPE_CHECKING:
    from groute_py.graph.csr import Graph
    from groute_py.graph.facts import Facts
    from groute_py.graph.hierarchy.hierarchy import Hierarchy

NARROWEST = 40  # columns of a terminal that a table is made for, however few it says it has
IDS = frozenset(("source", "from", "to"))  # rows whose numbers are ids of vertices

Progress = Callable[[int, int], None]


def answer(rows: dict[str, Any], *, as_json: bool, aside: bool = False) -> None:
    """Print the answer: a two-column table for people, or one JSON object.

    Keys are JSON names; the table shows them with blanks for underscores. With ``aside`` it goes to
    stderr, where stdout has something else.
    """
    if place().rank > 0:
        return
    lines = [json.dumps(rows)]
    if not as_json:
        width = max(len(key) for key in rows)
        texts = {k: printable(v) if k in IDS else text_of(v) for k, v in rows.items()}
        lines = [f"  {key.replace('_', ' '):<{width}}  {texts[key]}" for key in rows]
    with free_terminal():
        for line in lines:
            click.echo(line, err=aside)


def timed_answer(
    rows: dict[str, Any],
    seconds: dict[str, float],
    *,
    as_json: bool,
    verbose: bool = False,
    aside: bool = False,
) -> None:
    """Print as `answer` does, with seconds by phase: in a table the total, or all if ``verbose``.

    It goes aside where stdout is the answer's ``output``, too.
    """
    aside = aside or is_stdout(rows.get("output"))
    if as_json:
        answer({**rows, "seconds": seconds}, as_json=True, aside=aside)
        return
    parts = [f"{phase} {1e3 * s:.1f} ms" for phase, s in seconds.items()]
    time = ", ".join(parts) if verbose else f"{1e3 * seconds.get('total', 0.0):.1f} ms"
    answer({**rows, "time": time}, as_json=False, aside=aside)


def attribution(text: str) -> dict[str, str]:
    """Return the row of the credit, if there is one."""
    return {"attribution": text} if text else {}


def size(graph: Graph | Facts) -> dict[str, Any]:
    """Return the rows about which graph this is, and how large."""
    return {"graph": graph.name, "vertices": graph.vertex_count, "arcs": graph.arc_count}


def unit(name: str) -> dict[str, str]:
    """Return the row of the unit in which distances are shown, if it is known."""
    from groute_py.graph.units import shown_unit

    return {"unit": shown_unit(name)} if name else {}


def hierarchy(hierarchy: Hierarchy) -> dict[str, int]:
    """Return the rows about a hierarchy."""
    return {
        "levels": len(hierarchy.levels) - 1,
        "core": hierarchy.core_count,
        "core_arcs": len(hierarchy.core_heads),
        "arcs_upward": hierarchy.arc_count,
    }


def finite(number: float) -> float | None:
    """Return a number as JSON can have it: None for a sum out of the range of floats."""
    return number if math.isfinite(number) else None


def table(columns: list[str], rows: list[list[str]], *, aside: bool = False) -> None:
    """Print a table with a head on stdout, or ``aside`` on stderr."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if place().rank > 0:
        return
    grid = Table()
    for column in columns:
        grid.add_column(column, overflow="fold")
    for row in rows:
        grid.add_row(*(escape(printable(field)) for field in row))
    console = Console(stderr=aside)
    console.width = max(console.width, NARROWEST)
    console.print(grid)


def warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning, as `warnings.showwarning`: ours in one line, others as they are."""
    if issubclass(category, CacheWarning):
        note(str(message))
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def note(text: str) -> None:
    """Write a line of log on stderr."""
    if place().rank == 0:
        with free_terminal():
            click.echo(f"groute-py: {printable(text)}", err=True)


def progress(what: str) -> AbstractContextManager[Progress | None]:
    """Show a bar on a terminal, for (done, total) bytes; None elsewhere."""
    return _bar(what, "DownloadColumn")


def row_progress(what: str) -> AbstractContextManager[Progress | None]:
    """Show a bar on a terminal, for (done, total) rows; None elsewhere."""
    return _bar(what, "MofNCompleteColumn")


@contextmanager
def _bar(what: str, counts: str) -> Iterator[Progress | None]:
    if place().rank > 0 or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars
    from rich.console import Console
    from rich.markup import escape

    text = bars.TextColumn(escape(printable(what)))
    columns = (text, bars.BarColumn(), getattr(bars, counts)(), bars.TimeRemainingColumn())
    console = Console(stderr=True)
    with free_terminal(), bars.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def text_of(value: Any) -> str:
    """Return a value of a row for people."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, list):
        return ", ".join(text_of(item) for item in value)
    return printable(value)
