"""What is complete when a command ends early stays for ``--resume``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from groute_py.errors import InterruptedRun, TimeLimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

resume_option = click.option(
    "--resume", is_flag=True, help="Go on with what an unfinished run has left in OUTPUT.partial."
)


class Kept(Protocol):
    """Complete work in a folder, on rank 0."""

    @property
    def state(self) -> str:
        """How far it has come, in words."""

    def close(self) -> None:
        """Leave what is there for --resume."""


@contextmanager
def resumable(path: Path, unit: str, kept: Sequence[Kept]) -> Iterator[None]:
    """Let an interrupt of the block say what is complete, and close what has it.

    Args:
        path: the output.
        unit: what is counted, such as ``rows``.
        kept: what has it, once there is something; it may stay empty on other ranks.
    """
    from groute_py.many.storage.claim import state_seen

    try:
        yield
    except (InterruptedRun, TimeLimitError) as end:
        is_late = isinstance(end, TimeLimitError)
        why = str(end).partition("; ")[0] if is_late else "interrupted"
        what = kept[0].state if kept else state_seen(path, unit)
        end.args = (f"{why}; {what}",)
        raise
    finally:
        for one in kept:
            one.close()
