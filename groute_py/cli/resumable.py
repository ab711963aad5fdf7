"""Commands that leave what is complete for ``--resume`` when they end early."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groute_py.errors import InterruptedRun, RunError, TimeLimitError

if TYPE_CHECKING:
    from groute_py.comm.base import Channel
    from groute_py.many.apsp import Job, Progress
    from groute_py.many.storage.store import Store


@contextmanager
def stored(
    channel: Channel,
    path: Path,
    unit: str,
    *,
    resume: bool,
    choices: Mapping[str, Any] | None = None,
) -> Iterator[Store]:
    """Store complete units of an answer, as `Store`, until the block has written it. Collective."""
    from groute_py.comm.agree import on_root
    from groute_py.many.storage.store import Store

    store = Store(path, unit, resume=resume, choices=choices)
    try:
        yield store
        on_root(channel, store.finish)
    except (InterruptedRun, TimeLimitError) as end:
        with suppress(RunError):  # what ends the run is the error
            store.flush()
        is_late = isinstance(end, TimeLimitError)
        why = str(end).partition("; ")[0] if is_late else "interrupted"
        end.args = (f"{why}; {store.state}",)
        raise
    finally:
        store.close()


def save_rows(
    channel: Channel,
    job: Job,
    path: Path,
    resume: bool,
    progress: Progress | None,
    points: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Let rows stream to a file, and return what the answer says of them. Collective."""
    from groute_py.many import to_file

    with stored(channel, path, to_file.UNIT, resume=resume) as store:
        label = to_file.save_rows(channel, job, store, progress, points)
    return {"on": label, "output": str(path), "solved_now": len(store.missing)}
