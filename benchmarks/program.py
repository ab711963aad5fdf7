"""What jobs, centralities and many sources have in common: cases by device, and timed runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from benchmarks.attempts import C, Record, measure_all, numbers
from groute_py.comm.base import Channel
from groute_py.comm.connect import connect
from groute_py.system.clock import Clock, running
from groute_py.system.clock import Record as SpansAndCounts


@dataclass(frozen=True)
class Program(Generic[C]):
    """What an option of the command measures in the place of single solves.

    Attributes:
        name: of the option, and of the file of its numbers.
        parse: gives the case of a text; raises `InputError` for others.
        sets: the texts of the usual cases, by device.
        measure: gives the numbers of a case from a channel, the case, the device and the number of
            repetitions; collective.
        shown: the line of a measured case.
    """

    name: str
    parse: Callable[[str], C]
    sets: Mapping[str, list[str]]
    measure: Callable[[Channel, C, str, int], Record]
    shown: Callable[[Record], str]

    def run(
        self, device: str, names: tuple[str, ...], repeat: int, output: Path, commit: str | None
    ) -> int:
        """Measure cases one after the other and write the numbers to a file; collective.

        Returns:
            The exit code of the first case that failed, else 0.

        Raises:
            InputError: a case is unknown.
            GrouteError: only this rank cannot go on.
        """
        channel = connect()
        return measure_all(
            channel,
            [self.parse(name) for name in names or self.sets[device]],
            lambda case: self.measure(channel, case, device, repeat),
            self.shown,
            numbers(output, f"{self.name}-{device}", channel),
            {"device": device, "commit": commit, "repeat": repeat},
        )


def nothing() -> None:
    """Before a run that needs nothing."""


def timed(
    channel: Channel, run: Callable[[], Any], repeat: int, before: Callable[[], None] = nothing
) -> tuple[list[float], list[float]]:
    """Seconds of each of several runs, and of the processor; those of the slowest rank.

    Collective: a run begins when all ranks have ended the one before, and ``before`` this one.
    """
    found = []
    for _ in range(repeat):
        before()
        channel.gather(None)
        start, spent = time.perf_counter(), time.process_time()
        run()
        found.append(
            max(channel.gather((time.perf_counter() - start, time.process_time() - spent)))
        )
    return [wall for wall, _ in found], [spent for _, spent in found]


def phases(channel: Channel, run: Callable[[], Any]) -> dict[str, list[float]]:
    """Seconds of each rank in each phase of one more run; collective.

    Phases are the spans that `groute_py.system.clock` records; one may lie within another.
    """
    clock = Clock("run")
    clock.record = SpansAndCounts()
    with running(clock):
        run()
    own: dict[str, float] = {"run": clock.seconds()["total"]}
    for phase, begin, end in clock.record.spans:
        if phase != "run":
            own[phase] = own.get(phase, 0.0) + end - begin
    everyone = channel.gather(own)
    names = dict.fromkeys(name for one in everyone for name in one)
    return {name: [one.get(name, 0.0) for one in everyone] for name in names}
