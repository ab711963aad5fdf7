"""``--trace FILE``: what each rank did when, as a Chrome trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from groute_py.comm.base import Channel

trace_option = click.option(
    "--trace", metavar="FILE", help="Write what each rank did when, for ui.perfetto.dev (.json)."
)


def check_trace(files: dict[str, str | None]) -> None:
    """Raise `InputError` now if no trace could be written later, or would replace another file."""
    from groute_py.system.atomic_file import check_apart, check_writable

    if (file := files["--trace"]) is not None:
        check_writable(Path(file))
    check_apart(files)


@contextmanager
def traced(channel: Channel, file: str | None) -> Iterator[None]:
    """Record the block on all ranks, and write the trace behind it. Collective.

    Nothing is written if the block raises.
    """
    if file is None:
        yield
        return
    from groute_py.engine.agree import on_root
    from groute_py.engine.chrome_trace import chrome_trace, clocks
    from groute_py.system.trace import Recorder, recording

    record, compared = Recorder(), clocks(channel)
    with recording(record):
        yield
    records = channel.gather(record)
    names = [f"rank {rank}" for rank in range(channel.size)]
    on_root(channel, lambda: _write(chrome_trace(records, compared, names), Path(file)))


def _write(trace: dict[str, object], path: Path) -> None:
    from groute_py.system.atomic_file import replacing, translating_errors

    with translating_errors(path), replacing(path) as file:
        file.write(json.dumps(trace).encode())
