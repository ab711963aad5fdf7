"""What is complete when a command ends early stays for ``--resume``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from groute_py.errors import InputError, InterruptedRun, RunError, TimeLimitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from groute_py.comm.base import Channel
    from groute_py.many.storage.kept_parts import KeptParts

resume_option = click.option(
    "--resume", is_flag=True, help="Go on with what an unfinished run has left in OUTPUT.partial."
)


def check_folder(path: Path) -> None:
    """Raise `InputError` if the folder beside an output is there and is not a run's."""
    from groute_py.many.storage import folder
    from groute_py.many.storage.claim import folder_of

    folder.check_folder(folder_of(path))


def refuse_resume(option: str) -> None:
    """Raise `InputError`: without an option the job is one solve.

    Args:
        option: without which it is.
    """
    raise InputError(
        f"--resume: without {option} the job is one solve, of which nothing is kept; leave it out "
        "to solve anew"
    )


@contextmanager
def parts_kept(channel: Channel, path: Path, unit: str, *, resume: bool) -> Iterator[KeptParts]:
    """Keep the parts of an answer until the block has written it. Collective.

    Args:
        channel: connects the ranks.
        path: the output.
        unit: what is counted, such as ``sources``.
        resume: go on with what is there.
    """
    from groute_py.comm.agree import on_root
    from groute_py.many.storage.kept_parts import KeptParts

    kept = KeptParts(path, unit, resume=resume)
    try:
        with resumable(partial(_last_state, kept)):
            yield kept
            on_root(channel, kept.finish)
    finally:
        kept.close()


def _last_state(kept: KeptParts) -> str:
    """How far a run has come that is ending, with what it can still write."""
    with suppress(RunError):  # what ends the run is the error
        kept.flush()
    return kept.state


@contextmanager
def resumable(state: Callable[[], str]) -> Iterator[None]:
    """Let an interrupt of the block say how far it has come.

    Args:
        state: gives that, in words.
    """
    try:
        yield
    except (InterruptedRun, TimeLimitError) as end:
        is_late = isinstance(end, TimeLimitError)
        why = str(end).partition("; ")[0] if is_late else "interrupted"
        end.args = (f"{why}; {state()}",)
        raise
