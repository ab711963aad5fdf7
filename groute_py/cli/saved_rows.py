"""Rows that stream to a file while a command solves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groute_py.cli.resumable import resumable

if TYPE_CHECKING:
    from groute_py.comm.base import Channel
    from groute_py.many.apsp import Job, Progress
    from groute_py.many.storage.partial import KeptRows


def save_rows(
    channel: Channel,
    job: Job,
    path: Path,
    resume: bool,
    progress: Progress | None,
    points: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Let rows stream to a file; an interrupt says how many are there.

    Args:
        channel, job, progress: as for `groute_py.many.to_file.write_rows`.
        path, resume, points: as for `groute_py.many.to_file.kept_rows`.
    """
    from groute_py.comm.agree import on_root
    from groute_py.many.storage.claim import state_seen
    from groute_py.many.to_file import kept_rows, write_rows

    kept: list[KeptRows] = []

    def begin() -> Any:
        kept.append(kept_rows(job, path, resume=resume, points=points or {}))
        return kept[0].missing

    def state() -> str:
        return kept[0].state if kept else state_seen(path, "rows")

    missing = on_root(channel, begin)
    with ExitStack() as rows, resumable(state):
        for own in kept:
            rows.callback(own.close)
        label = write_rows(channel, job, missing, kept[0] if kept else None, progress)
        on_root(channel, lambda: kept[0].finish())
    return {"on": label, "output": str(path), "solved_now": len(missing)}
