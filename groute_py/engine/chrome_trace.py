"""The records of all ranks as a Chrome trace, which Perfetto opens.

The format is the Trace Event Format: a process for each rank, a row (thread) for each phase,
complete events ``X`` for spans, and ``C`` for counters; times are in microseconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from groute_py.comm.base import Channel
from groute_py.system.clock import Record

PHASES = (
    *("start", "import", "mpi", "read", "check", "contract", "plan", "partition", "device"),
    *("compile", "upload", "solve", "rounds", "predecessors", "download", "verify", "write"),
    "answer",
)
"""The rows, from above; others follow."""

NAMES = {"spread": "partition"}
"""Rows of phases with other names in the statistics."""

COUNT = "count"
"""The series of each counter. Perfetto puts it behind the counter's name: ``near count``."""

ROUNDS = 9
"""Number of comparisons of clocks."""

Event = dict[str, Any]


class RankClock(NamedTuple):
    """A rank's clock against that of rank 0."""

    offset_s: float
    error_s: float


def clocks(channel: Channel) -> list[RankClock]:
    """Return the clock of each rank. Collective.

    A rank reads its clock between two barriers, so after rank 0 has come to the first of them and
    before it has left the second. Of several rounds the narrowest bounds are taken.
    """
    lows, highs = [-math.inf] * channel.size, [math.inf] * channel.size
    for _ in range(ROUNDS):
        before = time.monotonic()
        channel.gather(None)
        between = time.monotonic()
        channel.gather(None)
        after = time.monotonic()
        stamps = channel.gather((before, between, after))
        first, _, last = stamps[0]
        for rank, (_, own, _) in enumerate(stamps):
            lows[rank], highs[rank] = max(lows[rank], own - last), min(highs[rank], own - first)
    others = [
        RankClock((low + high) / 2, (high - low) / 2) for low, high in zip(lows, highs, strict=True)
    ]
    return [RankClock(0.0, 0.0), *others[1:]]


def chrome_trace(records: list[Record], clocks: Sequence[RankClock], names: list[str]) -> Event:
    """Return the trace of all ranks, to be written as JSON."""
    begins = [
        begin - clock.offset_s
        for record, clock in zip(records, clocks, strict=True)
        for _, begin, *_ in (*record.spans, *record.counts)
    ]
    start = min(begins, default=0.0)
    rows = _rows(records)
    events: list[Event] = []
    for rank, (record, clock) in enumerate(zip(records, clocks, strict=True)):
        events += _named(rank, names[rank], rows)
        events += _timed(rank, record, start + clock.offset_s, rows)
    return {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {
            "clock_offsets_us": [1e6 * clock.offset_s for clock in clocks],
            "clock_errors_us": [1e6 * clock.error_s for clock in clocks],
            "dropped_events": [record.dropped for record in records],
        },
    }


def _rows(records: list[Record]) -> dict[str, int]:
    phases = {NAMES.get(phase, phase) for record in records for phase, _, _ in record.spans}
    ordered = [phase for phase in PHASES if phase in phases]
    return {phase: n for n, phase in enumerate([*ordered, *sorted(phases - {*PHASES})], start=1)}


def _named(rank: int, name: str, rows: dict[str, int]) -> list[Event]:
    """Return metadata: what processes and rows are called, and their order."""
    about: list[tuple[str, int, Event]] = [
        ("process_name", 0, {"name": name}),
        ("process_sort_index", 0, {"sort_index": rank}),
    ]
    for phase, row in rows.items():
        about.append(("thread_name", row, {"name": phase}))
        about.append(("thread_sort_index", row, {"sort_index": row}))
    return [
        {"ph": "M", "pid": rank, "tid": row, "name": what, "args": values}
        for what, row, values in about
    ]


def _timed(rank: int, record: Record, start: float, rows: dict[str, int]) -> list[Event]:
    """Return spans and counters by time, in microseconds since the first event of all ranks."""
    events: list[Event] = []
    for phase, begin, end in record.spans:
        row = NAMES.get(phase, phase)
        where = {"ph": "X", "pid": rank, "tid": rows[row], "name": phase, "cat": "phase"}
        first, last = _microseconds(begin - start), _microseconds(end - start)
        events.append(where | {"ts": first, "dur": last - first})
    for counter, at, value in record.counts:
        where = {"ph": "C", "pid": rank, "tid": 0, "name": counter}
        events.append(where | {"ts": _microseconds(at - start), "args": {COUNT: value}})
    return sorted(events, key=lambda event: float(event["ts"]))


def _microseconds(seconds: float) -> float:
    """Round to an eighth of a microsecond, exact as a float and in whole nanoseconds.

    Perfetto rounds to nanoseconds, and drops a span that then begins before another one ends.
    """
    return round(8e6 * seconds) / 8
