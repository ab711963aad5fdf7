"""``--trace FILE``: what each rank did when, as a Chrome trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from groute_py.errors import InputError

if TYPE_CHECKING:
    from groute_py.comm.base import Channel

trace_option = click.option(
    "--trace", metavar="FILE", help="Write what each rank did when, for ui.perfetto.dev (.json)."
)


def check_trace(file: str | None) -> None:
    """Raise `InputError` for a trace on standard output, which has the answer."""
    from groute_py.system.streams import is_stdout

    if is_stdout(file):
        raise InputError(f"--trace {file}: the answer goes to standard output; name a file")


def begin_trace(channel: Channel, file: str | None) -> None:
    """Record from now on what each rank does, if there is a file for it. Collective.

    Raises:
        InputError: no trace could be written there.
    """
    from groute_py.comm.agree import on_root
    from groute_py.engine.chrome_trace import clocks
    from groute_py.system.atomic_file import check_writable
    from groute_py.system.clock import Record, current

    if file is None or (clock := current()) is None:
        return
    on_root(channel, lambda: check_writable(Path(file)))
    clock.record = Record(clocks=clocks(channel))


def write_trace(channel: Channel, file: str | None) -> None:
    """Write what was recorded, on rank 0. Collective."""
    from groute_py.comm.agree import on_root
    from groute_py.engine.chrome_trace import chrome_trace
    from groute_py.system.clock import current

    clock = current()
    if file is None or clock is None or clock.record is None:
        return
    clock.seconds()  # ends the span of the phase that it is in
    records, compared = channel.gather(clock.record), clock.record.clocks
    clock.record = None
    names = [f"rank {rank}" for rank in range(channel.size)]
    on_root(channel, lambda: _write(chrome_trace(records, compared, names), Path(file)))


def _write(trace: dict[str, object], path: Path) -> None:
    from groute_py.system.atomic_file import replacing, translating_errors

    with translating_errors(path), replacing(path) as file:
        file.write(json.dumps(trace).encode())
