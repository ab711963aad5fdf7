"""Records of a run of a command: seconds by phase, a trace, and telemetry."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.errors import InputError
from groute_py.system.clock import current

if TYPE_CHECKING:
    from groute_py.comm.base import Channel
    from groute_py.device.monitoring.telemetry import GpuSamples

trace_option = click.option(
    "--trace", metavar="FILE", help="Write what each rank did when, for ui.perfetto.dev (.json)."
)


def begin(phase: str) -> None:
    """Be in a phase of the command's clock from now on."""
    if (clock := current()) is not None:
        clock.enter(phase)


def own_seconds() -> dict[str, float]:
    """Return seconds by phase of this rank up to now, with ``total``."""
    return {} if (clock := current()) is None else clock.seconds()


def seconds_of(channel: Channel) -> dict[str, float]:
    """Return seconds by phase up to now, each of the slowest rank, with ``total``. Collective."""
    return slowest(channel.gather(own_seconds()))


def slowest(ranks: list[dict[str, float]]) -> dict[str, float]:
    """Return the greatest seconds of all ranks, by phase in the order of their begin.

    >>> slowest([{"read": 3.0, "total": 3.0}, {"read": 1.0, "wait": 1.5, "total": 2.5}])
    {'read': 3.0, 'wait': 1.5, 'total': 3.0}
    """
    phases = list(dict.fromkeys(phase for seconds in ranks for phase in seconds))
    phases.sort(key=lambda phase: phase == "total")
    return {phase: max(seconds.get(phase, 0.0) for seconds in ranks) for phase in phases}


def check_trace(file: str | None) -> None:
    """Raise `InputError` for a trace on standard output, which has the answer."""
    from groute_py.system.paths import is_stdout

    if is_stdout(file):
        raise InputError(f"--trace {file}: the answer goes to standard output; name a file")


def begin_trace(channel: Channel, file: str | None) -> None:
    """Record from now on what each rank does, if there is a file for it. Collective."""
    from groute_py.comm.agree import on_root
    from groute_py.engine.chrome_trace import clocks
    from groute_py.system.atomic_file import check_writable
    from groute_py.system.clock import Record

    if file is None or (clock := current()) is None:
        return
    on_root(channel, lambda: check_writable(Path(file)))
    clock.record = Record(clocks=clocks(channel))


def write_trace(channel: Channel, file: str | None) -> None:
    """Write what was recorded, on rank 0. Collective."""
    from groute_py.comm.agree import on_root
    from groute_py.engine.chrome_trace import chrome_trace

    clock = current()
    if file is None or clock is None or clock.record is None:
        return
    clock.seconds()  # ends the span of the phase that it is in
    records, compared = channel.gather(clock.record), clock.record.clocks
    clock.record = None
    names = [f"rank {rank}" for rank in range(channel.size)]
    on_root(channel, lambda: _write(json.dumps(chrome_trace(records, compared, names)), file))


def telemetry_of(gpu: str | None, file: str | None) -> GpuSamples:
    """Return a record of this rank's GPU, not begun yet; an empty one if there is no file."""
    from groute_py.device.monitoring.telemetry import GpuSamples, nvml

    return GpuSamples(None if file is None else nvml(), gpu)


def write_telemetry(channel: Channel, record: GpuSamples, file: str | None) -> dict[str, Any]:
    """Write the time line of all ranks' GPUs on rank 0; return each one's figures. Collective."""
    from groute_py.comm.agree import on_root
    from groute_py.device.monitoring.telemetry import COLUMNS, rows, summary

    if file is None:
        return {}
    # ranks that share a GPU saw the same
    by_gpu = {s[0].gpu: s for s in reversed(channel.gather(record.samples)) if s}
    samples = [sample for seen in by_gpu.values() for sample in seen]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows(samples)])
    on_root(channel, lambda: _write(text.getvalue(), file))
    if not samples:
        show.note(f"{file} has titles only: NVML (nvidia-ml-py) is not there, or no GPU has solved")
    return summary(samples)


def _write(text: str, file: str) -> None:
    from groute_py.system.atomic_file import replacing, translating_errors

    with translating_errors(Path(file)), replacing(Path(file)) as stream:
        stream.write(text.encode())
