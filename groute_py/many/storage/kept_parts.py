"""What is complete of an answer whose file is made at the end: parts, of any lengths.

The run holds the folder OUT.partial beside the output, as one whose rows are kept does
(`groute_py.many.storage.partial`). In it are ``parts`` (`groute_py.many.storage.part_file`), the
record of the run, and its lock. The answer itself stays in memory until it is complete.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.errors import InputError
from groute_py.many.storage.claim import beginning, claimed, folder_of, keeping, state_seen
from groute_py.many.storage.part_file import Part, PartFile
from groute_py.many.storage.record import check_run, write_run

EVERY_S = 1.0
"""How often parts are written, at most."""

WRITING_SHARE = 20
"""For each second of writing so many pass until the next."""


class KeptParts:
    """The parts of one output, which lie with rank 0.

    Args:
        path: OUT.
        unit: what is counted, such as ``sources``.
        resume: go on with what is there; else begin anew.

    Attributes:
        parts: those that were there when the run began, on rank 0.
        new: how many units are complete since then, on rank 0.
    """

    def __init__(self, path: Path, unit: str, *, resume: bool) -> None:
        self.path, self._unit, self._resume = path, unit, resume
        self.parts: list[Part] = []
        self.new = self._saved = self._total = 0
        self._claim: ExitStack | None = None
        self._pending: list[Part] = []
        self._begun = self._finished = self._is_going = False
        self._due_s = 0.0

    def begin(
        self, channel: Channel, run: Callable[[], dict[str, Any]], total: int, width: int
    ) -> NDArray[np.int64]:
        """Claim the folder. Collective.

        Args:
            channel: connects the ranks.
            run: gives what `groute_py.many.storage.record.run_of` does; called on rank 0.
            total: how many units there are.
            width: how many arrays a part has; the first has an entry for each unit, its number.

        Returns:
            The numbers of the units that are complete, on every rank.

        Raises:
            InputError: there is nothing to go on with, or it is of something else; or another run
                is working on it; or the folder is not a run's.
            RunError: the disk is full, or fails.
        """
        self._total = total
        done = on_root(channel, lambda: self._units(run(), width))
        self._begun, self._due_s = True, time.monotonic() + EVERY_S
        return done

    def take(self, part: Part) -> None:
        """Add a part; it is written with others, when it is time.

        Raises:
            RunError: the disk is full, or fails.
        """
        self._pending.append(part)
        self.new += len(part[0])
        if time.monotonic() >= self._due_s:
            self.flush()

    def flush(self) -> None:
        """Write the parts that were taken and wait.

        Raises:
            RunError: the disk is full, or fails.
        """
        pending, self._pending = self._pending, []  # none is written twice, whatever interrupts
        if pending:
            whole = tuple(np.concatenate(arrays) for arrays in zip(*pending, strict=True))
            with self._writing():
                self._file.append(whole)
            self._saved += len(whole[0])

    def replace(self, part: Part) -> None:
        """Write a part of all units that are complete in the place of the others, if it is time.

        Raises:
            RunError: the disk is full, or fails.
        """
        self.new = len(part[0]) - sum(len(known[0]) for known in self.parts)
        if time.monotonic() >= self._due_s:
            with self._writing():
                self._file.replace(part)
            self._saved = len(part[0])

    def finish(self) -> None:
        """Remove the folder, because the output is there."""
        self._finished = self._is_going = True
        self._pending = []
        self._inside.remove()
        self._is_going = False

    def close(self) -> None:
        """Leave what is written for --resume; once more does nothing."""
        if self._is_going:  # a signal came before it was gone
            self._inside.remove()
        if self._claim is not None:
            self._claim.close()

    @property
    def state(self) -> str:
        """How far it has come, in words."""
        if not self._begun:
            return "nothing was written"
        if self._claim is None:
            return state_seen(self.path, self._unit)
        if self._finished:
            return f"all {self._unit} are in {self.path}"
        return (
            f"{self._saved:,} of {self._total:,} {self._unit} are complete in "
            f"{folder_of(self.path)}; go on with --resume"
        )

    def _units(self, run: dict[str, Any], width: int) -> NDArray[np.int64]:
        """Claim the folder, and read what is complete."""
        with ExitStack() as claim:
            self._inside = claim.enter_context(closing(claimed(self.path, resume=self._resume)))
            self._file = PartFile(self._inside, width)
            if self._resume:
                check_run(self._inside, run)
            else:
                with beginning(self._inside):
                    self._file.lay_out()
                    write_run(self._inside, run)
            self.parts = self._complete()
            self._claim = claim.pop_all()
        units = np.concatenate([np.empty(0, np.int64), *(part[0] for part in self.parts)])
        self._saved = len(units)
        return units

    def _complete(self) -> list[Part]:
        try:
            return self._file.read()
        except OSError as problem:
            damaged = f"{folder_of(self.path)} is damaged; leave out --resume to begin anew"
            raise InputError(damaged) from problem

    @contextmanager
    def _writing(self) -> Iterator[None]:
        begun = time.monotonic()
        with keeping(folder_of(self.path), self._unit):
            yield
        now = time.monotonic()
        self._due_s = now + max(EVERY_S, WRITING_SHARE * (now - begun))
