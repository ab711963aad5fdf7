"""Cases one after the other: their records, the reasons of failures, and the file of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from benchmarks.cases import SkippedError
from benchmarks.environment import environment
from benchmarks.raw import RawNumbers
from groute_py import GrouteError
from groute_py.comm.base import Channel

Record = dict[str, Any]


class Named(Protocol):
    """A case."""

    @property
    def name(self) -> str:
        """Its text."""


C = TypeVar("C", bound=Named)


def measure_all(
    channel: Channel,
    cases: Sequence[C],
    measure: Callable[[C], Record],
    shown: Callable[[Record], str],
    raw: RawNumbers,
    about: Record,
) -> int:
    """Measure cases and write the numbers to a file; collective.

    Args:
        channel: connects the ranks.
        cases: in their order.
        measure: gives the numbers of a case; collective.
        shown: the line of a measured case.
        raw: the file.
        about: of the run: ``device``, ``commit``, ``repeat``.

    Returns:
        The exit code of the first case that failed, else 0.

    Raises:
        GrouteError: only this rank cannot go on.
    """
    records: list[Record] = []
    for case in cases:
        record: Record = {"case": case.name, "ranks": channel.size}
        records.append(record | _attempt(channel, partial(measure, case)))
        if channel.rank == 0:
            ranks = "" if "@" in case.name else f"@{channel.size}"
            click.echo(f"{case.name}{ranks}: {_said(records[-1], shown)}")
            known = environment(about["device"], about["commit"])
            raw.write(known | {"repeat": about["repeat"], "records": records})
    return next((record["exit_code"] for record in records if "failed" in record), 0)


def numbers(output: Path, name: str, channel: Channel) -> RawNumbers:
    """The file of a run, named after what is measured and the number of ranks."""
    return RawNumbers(output, f"{name}-{channel.size}")


def _attempt(channel: Channel, measure: Callable[[], Record]) -> Record:
    """What is measured, or the reason why not."""
    try:
        return measure()
    except SkippedError as reason:
        return {"skipped": str(reason)}
    except GrouteError as error:
        if channel.size > 1 and not error.on_all_ranks:
            raise
        return {"failed": str(error), "exit_code": error.exit_code}


def _said(record: Record, shown: Callable[[Record], str]) -> str:
    if "failed" in record:
        return f"FAILED: {record['failed']}"
    return f"skipped: {record['skipped']}" if "skipped" in record else shown(record)
