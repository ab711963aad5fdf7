"""The output of a command: a file of raw numbers (`Book`) and printed tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.environment import environment
from benchmarks.raw import RawNumbers
from groute_py.system.environment import place

Record = dict[str, Any]


class Book:
    """The records of one command; the file is written after each case.

    Args:
        folder: the file's folder.
        cases: the cases, in the order of the table.
        device: ``cpu`` or ``cuda``.
        repeat: the number of measured solves.
        commit: see `environment`.
    """

    def __init__(
        self, folder: Path, cases: list[Case], device: str, repeat: int, commit: str | None
    ) -> None:
        self._order = [case.name for case in cases]
        self._content: Record = {}
        self._about = (device, commit)
        self._load = os.getloadavg()[0]
        self._repeat = repeat
        self._records: list[Record] = []
        ranks = "+".join(str(ranks) for ranks in sorted({case.ranks or 1 for case in cases}))
        self._raw = RawNumbers(folder, f"{device}-{ranks}")

    @property
    def exit_code(self) -> int:
        """The exit code of the first failure, or 0."""
        return next((r["exit_code"] for r in self._records if "failed" in r), 0)

    def add(self, records: list[Record]) -> None:
        """Add records; rank 0 writes the file."""
        self._records += records
        self._records.sort(key=lambda r: (self._order.index(r["case"]), r["ranks"]))
        if place().rank == 0:
            # queried late: earlier jobs on other ranks have the GPUs to themselves
            self._content = self._content or environment(*self._about)
            self._content["load_before"] = self._load
            self._content |= {"repeat": self._repeat, "records": self._records}
            self._raw.write(self._content)

    def shown(self) -> str:
        """The machine, the tables and the file's name, as text."""
        parts = (_head(self._content), tables(self._records), f"raw numbers: {self._raw.name}")
        return "\n\n".join(parts)


def _head(content: Record) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in content["versions"].items())
    machine = "; ".join([f"{content['processor']}, {content['cores']} cores", *content["gpus"]])
    commit = content["commit"] or "unknown"
    load = f"load {content['load_before']:.1f} before"
    return f"{machine}; {load}\n{versions}\ncommit {commit}; medians of {content['repeat']}"


def tables(records: list[Record]) -> str:
    """All records as text: solves, then files read, then cases that did not run."""
    solved = [record for record in records if "runs" in record]
    read = [record for record in records if "read_s" in record]
    others = [record for record in records if "medians" not in record]
    parts = [
        _table(SOLVE_COLUMNS, solved, records) if solved else "",
        _table(READ_COLUMNS, read, records) if read else "",
        "\n".join(_excuse(record) for record in others),
    ]
    return "\n\n".join(part for part in parts if part)


Column = Callable[[Record, list[Record]], str]


def _table(columns: dict[str, Column], rows: list[Record], records: list[Record]) -> str:
    lines = [list(columns), *([show(row, records) for show in columns.values()] for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return "\n".join(_line(line, widths) for line in lines)


def _line(cells: list[str], widths: list[int]) -> str:
    """One row: the first cell is left-aligned, the others right-aligned."""
    padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join([cells[0].ljust(widths[0]), *padded[1:]])


def _excuse(record: Record) -> str:
    name = record["case"] + (f" on {record['ranks']} ranks" if record.get("ranks", 1) > 1 else "")
    if "failed" in record:
        return f"{name}: FAILED: {record['failed']}"
    return f"{name}: skipped: {record['skipped']}"


def _ms(name: str) -> Column:
    return lambda row, _: f"{1e3 * row['medians'][name]:.2f}"


def _spread(row: Record, _: list[Record]) -> str:
    times = [run["statistics"]["seconds"]["solve"] for run in row["runs"]]
    return f"{100 * (max(times) - min(times)) / row['medians']['solve']:.0f} %"


def _relaxations(row: Record, _: list[Record]) -> str:
    """Relaxations for each arc that leaves a reached vertex; Dijkstra's algorithm has 1."""
    last = row["runs"][-1]["statistics"]
    needed = last["relaxations"] - last["useless_relaxations"]
    return f"{last['relaxations'] / max(needed, 1):.2f}"


def _counted(name: str) -> Column:
    return lambda row, _: f"{row['runs'][-1]['statistics'].get(name, 0):,}"


def _device(label: str) -> str:
    kind, _, processor = label.partition(":")
    return f"{kind}, prepared" if processor.endswith(", prepared") else kind


def _settled(row: Record) -> str:
    """Settled vertices a step, for methods that settle in rounds."""
    last = row["runs"][-1]["statistics"]
    return f"{last['settled'] / max(last['steps'], 1):.1f}" if last["settled"] else "–"


def _delta(row: Record, _: list[Record]) -> str:
    delta = row["runs"][-1]["statistics"]["delta"]
    return "∞" if delta is None else f"{delta:,.6g}"


def _tree_cost(row: Record, records: list[Record]) -> str:
    """Time with predecessors over the solve time of the series without (or its own)."""
    if not row["tree"]:
        return "–"
    bare = [r for r in records if _alike(r, row, "case", "ranks") and r.get("tree") is False]
    both = row["medians"]["solve"] + row["medians"]["predecessors"]
    return f"{both / (bare or [row])[0]['medians']['solve']:.2f}"


def _speed_up(row: Record, records: list[Record]) -> str:
    alone = [r for r in records if _alike(r, row, "case", "tree") and r.get("ranks") == 1]
    if row["ranks"] == 1 or not alone or "medians" not in alone[0]:
        return "–"
    return f"{alone[0]['medians']['solve'] / row['medians']['solve']:.2f}"


def _alike(a: Record, b: Record, *names: str) -> bool:
    return "medians" in a and all(a.get(name) == b.get(name) for name in names)


def _peer(name: str) -> Column:
    def show(row: Record, _: list[Record]) -> str:
        peer = row.get("peers", {}).get(name, {})
        return f"{1e3 * peer['median']:.2f}" if "median" in peer else "–"

    return show


SOLVE_COLUMNS: dict[str, Column] = {
    "case": lambda row, _: row["case"],
    "ranks": lambda row, _: str(row["ranks"]),
    "method": lambda row, _: row["runs"][-1]["statistics"]["algorithm"],
    "on": lambda row, _: _device(row["runs"][-1]["statistics"]["devices"][0]),
    "M arcs": lambda row, _: f"{row['arcs'] / 1e6:.1f}",
    "reached": lambda row, _: f"{100 * row['reached'] / row['vertices']:.0f} %",
    "mode": lambda row, _: row["runs"][-1]["statistics"]["mode"],
    "Δ": _delta,
    "solve ms": _ms("solve"),
    "spread": _spread,
    "× 1 rank": _speed_up,
    "M arcs/s": lambda row, _: f"{row['arcs'] / row['medians']['solve'] / 1e6:,.0f}",
    "relaxed": _relaxations,
    "slices": _counted("rounds"),
    "steps": _counted("steps"),
    "settled/step": lambda row, _: _settled(row),
    "votes": _counted("votes"),
    "tree ms": lambda row, _: _ms("predecessors")(row, _) if row["tree"] else "–",
    "tree ×": _tree_cost,
    "upload": _ms("upload"),
    "download": _ms("download"),
    "total ms": _ms("total"),
    "SciPy ms": _peer("scipy"),
    "cuGraph ms": _peer("cugraph"),
    "verified": lambda row, _: f"{row['answers_verified']} answers",
}

READ_COLUMNS: dict[str, Column] = {
    "file read": lambda row, _: row["file"],
    "M arcs": lambda row, _: f"{row['arcs'] / 1e6:.1f}",
    "MB": lambda row, _: f"{row['file_bytes'] / 1e6:.1f}",
    "MB text": lambda row, _: f"{row['text_bytes'] / 1e6:.1f}",
    "read ms": _ms("read"),
    "MB text/s": lambda row, _: f"{row['text_bytes'] / row['medians']['read'] / 1e6:.0f}",
    "peak/graph": lambda row, _: f"{row['peak_by_graph']:.2f}",
    "gzip -dc ms": lambda row, _: _ms("gzip")(row, _) if "gzip_s" in row else "–",
    "read/gzip": lambda row, _: (
        f"{row['medians']['read'] / row['medians']['gzip']:.2f}" if "gzip_s" in row else "–"
    ),
    "verified": lambda row, _: row["verified"],
}
