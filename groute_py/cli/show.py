"""How a command speaks: the answer on stdout, progress on stderr, and only from rank 0."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import click

from groute_py.cli.phase_line import free_terminal
from groute_py.errors import CacheWarning, printable
from groute_py.system.environment import place
from groute_py.system.streams import is_stdout

NARROWEST = 40
"""Columns of a terminal that a table is made for, however few it says it has."""


def answer(rows: dict[str, Any], *, as_json: bool, title: str = "", aside: bool = False) -> None:
    """Print the answer: a two-column table for people, or one JSON object.

    Keys are JSON names; the table shows them with blanks for underscores. With ``aside`` it goes to
    stderr, where stdout has something else.
    """
    if place().rank > 0:
        return
    with free_terminal():
        _print(rows, as_json=as_json, title=title, aside=aside)


def _print(rows: dict[str, Any], *, as_json: bool, title: str, aside: bool) -> None:
    if as_json:
        click.echo(json.dumps(rows), err=aside)
        return
    width = max(len(key) for key in rows)
    if title:
        click.echo(printable(title), err=aside)
    for key, value in rows.items():
        click.echo(f"  {key.replace('_', ' '):<{width}}  {_shown(value)}", err=aside)


def timed_answer(
    rows: dict[str, Any], seconds: dict[str, float], *, as_json: bool, aside: bool = False
) -> None:
    """As `answer`, with seconds by phase: in a table as a line of milliseconds.

    It goes aside where stdout is the answer's ``output``, too.
    """
    aside = aside or is_stdout(rows.get("output"))
    if as_json:
        answer({**rows, "seconds": seconds}, as_json=True, aside=aside)
        return
    time = ", ".join(f"{phase} {1e3 * s:.1f} ms" for phase, s in seconds.items())
    answer({**rows, "time": time}, as_json=False, aside=aside)


def attribution(text: str) -> dict[str, str]:
    """What an answer says of whom to name: nothing where that is nobody."""
    return {"attribution": text} if text else {}


def finite(number: float) -> float | None:
    """A number as JSON can have it: None for a sum out of the range of floats."""
    return number if math.isfinite(number) else None


def table(
    columns: list[str], rows: list[list[str]], title: str = "", *, aside: bool = False
) -> None:
    """Print a table with a head on stdout, or ``aside`` on stderr."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if place().rank > 0:
        return
    grid = Table(title=title or None, title_justify="left")
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
    """What `warnings.showwarning` is to the command line: ours in one line, others as they are."""
    if issubclass(category, CacheWarning):
        note(str(message))
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def note(text: str) -> None:
    """A line of log on stderr."""
    if place().rank == 0:
        with free_terminal():
            click.echo(f"groute-py: {printable(text)}", err=True)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal, for (done, total) bytes; None elsewhere."""
    if place().rank > 0 or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(escape(printable(what))),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with free_terminal(), Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def row_progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, for (done, total) rows, with the time left; None elsewhere."""
    if place().rank > 0 or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(escape(printable(what))),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with free_terminal(), Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, list):
        return ", ".join(_shown(item) for item in value)
    return printable(value)
