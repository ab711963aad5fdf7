"""Sums that a command saves beside its output while it solves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groute_py.cli.resumable import resumable

if TYPE_CHECKING:
    from groute_py.many.storage.kept_sums import KeptSums


class SavedSums:
    """The place of a command's sums.

    Args:
        path: the output.
        choices: the options that its values depend on, by name.
        resume: go on with what an unfinished run has left.
        is_seen: whether another rank keeps them, and this one only sees the folder.
    """

    def __init__(
        self, path: Path, choices: dict[str, Any], *, resume: bool, is_seen: bool = False
    ) -> None:
        self.path, self._choices, self.resume = path, choices, resume
        self._is_seen = is_seen
        self._kept: KeptSums | None = None

    def keep(self, run: dict[str, Any], total: int) -> KeptSums:
        """The place of a run's sums, see `groute_py.many.saving.Keep`."""
        from groute_py.many.storage.kept_sums import KeptSums

        self._kept = KeptSums(self.path, run | self._choices, total, resume=self.resume)
        return self._kept

    @property
    def new(self) -> int:
        """How many sources are done that no earlier run had done, on rank 0."""
        assert self._kept is not None
        return self._kept.total - self._kept.begun

    @property
    def state(self) -> str:
        """How far it has come, in words, as this rank sees it."""
        from groute_py.many.storage.kept_sums import sums_seen

        if self._kept is not None:
            return self._kept.state
        return sums_seen(self.path) if self._is_seen else "nothing was written"

    def finish(self, write: Callable[[], None]) -> None:
        """Let ``write`` make the output, on rank 0; then nothing else is left."""
        assert self._kept is not None
        self._kept.finish(write)

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Let an interrupt in the block say what is kept; on every rank."""
        try:
            with resumable(lambda: self.state):
                yield
        finally:
            if self._kept is not None:
                self._kept.close()
