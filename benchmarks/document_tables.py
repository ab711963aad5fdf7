"""The source documents' tables as Markdown, from the raw numbers of one device or of both.

``python -m benchmarks.document_tables`` prints them, from all ``documents-cpu-*.json`` and
``documents-cuda-*.json`` in ``benchmarks/results``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks.published import DOCUMENTS, ROWS, Document, Row

Record = dict[str, Any]

SERIAL = (
    *("heap-dijkstra", "open-set-dijkstra", "textbook-bellman-ford"),
    *("queue-bellman-ford", "queue-bellman-ford-slf", "queue-bellman-ford-slf-lll"),
)
"""Methods that run on one CPU core."""

DEVICES = {"cpu": "CPU", "cuda": "GPU"}

RESULTS = Path(__file__).parent / "results"


class Run:
    """What ``--documents`` measured on a device of one machine.

    Args:
        contents: of its files; of a case that is in several the last one counts.
        files: their names.

    Raises:
        click.ClickException: the files are of several machines.
    """

    def __init__(self, contents: list[Record], files: Sequence[str] = ()) -> None:
        self.device, self.files = DEVICES[contents[0]["device"]], files
        machines = {_machine(content): None for content in contents}
        if len(machines) > 1:
            raise click.ClickException(f"{', '.join(files)} are of several machines; keep one")
        (self.machine,) = machines
        commits = dict.fromkeys(_commit(content) for content in contents)
        self.commits = " and ".join(commits)
        self.records = {r["case"]: r for c in contents for r in c["records"] if "ours" in r}

    def times(self, row: Row) -> str:
        """Of the methods of a row, on a GPU without those of one core."""
        if (record := self.records.get(row.name)) is None:
            return "not measured"
        kept = {m: f for m, f in record["ours"].items() if self.device == "CPU" or m not in SERIAL}
        return listed({method: found["median_ms"] for method, found in kept.items()})


def _machine(content: Record) -> str:
    if content["gpus"]:
        return f"one {content['gpus'][0]}"
    return f"{content['cores']} cores of {content['processor']}, one for a single source"


def _commit(content: Record) -> str:
    commit, _, dirty = str(content["commit"]).partition("-")
    return f"{commit[:7]}{', with changes' if dirty else ''}"


def page(runs: list[Run]) -> str:
    """The measured rows as Markdown, a table for each document; a column for each run."""
    parts = []
    for document in DOCUMENTS:
        rows = [row for row in ROWS if row.document == document]
        if rows := [row for row in rows if any(row.name in run.records for run in runs)]:
            parts.append(_table(document, rows, runs))
    return "\n\n".join(parts)


def block(runs: list[Run]) -> str:
    """Return the tables with their machines; each time has a line."""
    here = [f"Our times are of {'this machine' if len(runs) == 1 else 'these machines'}:"]
    for run in runs:
        links = ", ".join(f"[`{file}`](../benchmarks/results/{file})" for file in run.files)
        here.append(f"* {run.device}: {run.machine}; commit {run.commits}; raw numbers: {links}")
    tables = page(runs).splitlines()
    lines = [line.replace("; ", "<br>") if line.startswith("|") else line for line in tables]
    return "\n".join(["", here[0], "", *here[1:], "", *lines, "", ""])


def committed(folder: Path) -> list[Run]:
    """The runs of which the folder has files, by device.

    Raises:
        click.ClickException: there are none.
    """
    by_device = [sorted(folder.glob(f"documents-{device}-*.json")) for device in DEVICES]
    runs = [
        Run([json.loads(path.read_text()) for path in paths], [path.name for path in paths])
        for paths in by_device
        if paths
    ]
    if not runs:
        raise click.ClickException(f"no documents-*.json in {folder}")
    return runs


def _table(document: Document, rows: list[Row], runs: list[Run]) -> str:
    columns = ["here"] if len(runs) == 1 else [f"here, {run.device}" for run in runs]
    head = ["table", "graph", "published", *columns, "remark"]
    lines = [f"## {document.heading}", "", f"{document.title}.", ""]
    lines += [f"Published on {document.machine}. Times are in milliseconds.", ""]
    lines += [_cells(head), f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(_line(row, runs) for row in rows)])


def _line(row: Row, runs: list[Run]) -> str:
    records = [run.records[row.name] for run in runs if row.name in run.records]
    vertices, arcs = records[0]["vertices"], records[0]["arcs"]
    samples = {m["sources"] for r in records for m in r["ours"].values()}
    sampled = sorted(count for count in samples if 1 < count < vertices)
    remarks = [row.note] if row.note else []
    remarks += [f"here estimated from {count} sources" for count in sampled]
    published = listed(records[0]["published_ms"])
    times = [run.times(row) for run in runs]
    size = f"{row.label}, {vertices:,} / {arcs:,}"
    return _cells([row.table, size, published, *times, "; ".join(remarks)])


def _cells(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"


def listed(times: dict[str, float | None]) -> str:
    """Programs and their times."""
    return "; ".join(f"{name} {_ms(value)}" for name, value in times.items())


def _ms(value: float | None) -> str:
    """Three significant digits.

    >>> [_ms(value) for value in (None, 0.0284, 8.227, 68532.7)]
    ['–', '0.0284', '8.23', '68,533']
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@click.command()
@click.option("--results", type=click.Path(path_type=Path), default=RESULTS, help="A folder.")
def main(results: Path) -> None:
    """Print the tables of the runs in a folder, as Markdown."""
    click.echo(block(committed(results)))


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.document_tables")
