"""Finished work for one output, until the output is there.

While a run works, OUT has a folder OUT.partial beside it with a lock, which the run holds; its
record, which says of which graph, ends and choices it is; and files with the units that are
complete, such as rows or sources. When OUT is there, the folder goes. A run that ends before a unit
is complete leaves nothing. A folder of that name that is not a run's is refused
(`groute_py.many.storage.folder`).
"""

from __future__ import annotations

import io
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.errors import InputError, RunError
from groute_py.many.storage.folder import (
    RunFolder,
    beginning,
    claim_folder,
    folder_of,
    shared_token,
    token_of,
    write_run,
)
from groute_py.many.storage.row_files import RowFiles, write_at

EVERY_S = 1.0  # seconds between writes of parts, at least
SHARE = 20  # for each second of writing so many pass until the next


class RunPart(NamedTuple):
    """The part of a run's units that one of several processes works on, from 1."""

    number: int
    of: int

    def units(self, total: int) -> NDArray[np.int64]:
        """The units, all but equally many in each part.

        >>> RunPart(2, 3).units(7).tolist()
        [3, 4]
        """
        size, longer = divmod(total, self.of)
        before = self.number - 1
        first = size * before + min(before, longer)
        return np.arange(first, first + size + (before < longer))


class Store:
    """The complete units of one output's work. Each rank has one; the folder is rank 0's.

    With a ``part`` other processes work in the folder too, and whoever completes the last unit
    makes the output.
    """

    def __init__(
        self,
        path: Path,
        unit: str,
        *,
        resume: bool = False,
        choices: Mapping[str, Any] | None = None,
        part: RunPart | None = None,
    ) -> None:
        self.part = part
        self.path, self._unit, self._resume = path, unit, resume
        self._choices, self._place = dict(choices or {}), folder_of(path)
        self.missing = np.empty(0, np.int64)
        self.writing_s = self._due_s = 0.0
        self._parts = PartFile(0)
        self._files: PartFile | RowFiles = self._parts
        self._claim: ExitStack | None = None
        self._pending: list[SavedUnits] = []
        self._state: SavedUnits | None = None
        self._has_begun = self._is_root = self._is_finished = self._is_going = False

    def begin(
        self,
        channel: Channel,
        run: Callable[[], dict[str, Any]],
        total: int,
        files: RowFiles | None = None,
    ) -> NDArray[np.int64]:
        """Claim the folder. Collective."""
        self._parts, self._is_root = PartFile(total), channel.rank == 0
        self._files = files or self._parts
        self.missing = on_root(channel, lambda: self._begin(run() | self._choices))
        self._has_begun, self._due_s = True, time.monotonic() + EVERY_S
        return self.missing

    @property
    def parts(self) -> list[SavedUnits]:
        """The parts that were there when the run began, on rank 0."""
        return self._parts.parts

    def load_into(self, channel: Channel, arrays: SavedUnits) -> None:
        """Fill arrays with those of an earlier run of their names, if any. Collective."""

        def load() -> None:
            for part in self.parts[-1:]:
                for name, array in arrays.items():
                    saved = part.get(name, np.empty(0))
                    if (saved.shape, saved.dtype) != (array.shape, array.dtype):
                        raise self._damaged()
                    array[...] = saved
            self.parts.clear()

        on_root(channel, load)

    def add(self, units: NDArray[np.int64], **arrays: NDArray[Any]) -> None:
        """Keep a part with more units; it is written with others, when it is time."""
        self._pending.append({UNITS: units, **arrays})
        self._flush_if_due()

    def replace(self, units: NDArray[np.int64], **arrays: NDArray[Any]) -> None:
        """Keep all complete units, and arrays over them, in the place of those before.

        They are written when it is time, or at the end of a run: so the arrays must not change
        before `withdraw`.
        """
        self._state = {UNITS: units, **arrays}
        self._flush_if_due()

    def withdraw(self) -> None:
        """Do not write what `replace` was given, if it waits: its arrays are about to change."""
        self._state = None

    def flush(self) -> None:
        """Write what waits."""
        pending, self._pending = self._pending, []  # none is written twice, whatever interrupts
        if pending:
            with self.writing():
                self._parts.append(join(pending))
        if self._state is not None:
            with self.writing():
                self._parts.replace(self._state)
            self._state = None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let what the disk says in the block be an error that says how to go on."""
        start_s = time.monotonic()
        if self._is_root and not self._is_own():
            raise self._taken_over()
        try:
            yield
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise RunError(
                f"{self._place}: {reason}; the {self._unit} that are finished stay there: make "
                "room, and go on with --resume"
            ) from problem
        self.writing_s = time.monotonic() - start_s
        self._due_s = start_s + self.writing_s + max(EVERY_S, SHARE * self.writing_s)

    def finish(self) -> None:
        """Remove the folder, because the output is there. On rank 0; once more does nothing."""
        if self._claim is None or self._is_finished or self.waits:
            return
        self._is_finished = True
        if self._is_own():
            self._is_going = True
            self._folder.remove()
            self._is_going = False

    def close(self) -> None:
        """Leave what is complete for --resume; once more does nothing."""
        if self._claim is None:
            return
        is_over = self._is_finished or not (self.part or self._files.complete.any())
        if self._is_going or (is_over and self._is_own()):  # a signal came before it was gone
            self._folder.remove()
        self._claim.close()
        self._claim = None

    @property
    def waits(self) -> bool:
        """Return whether the output waits for units that are other processes'."""
        return self.part is not None and not self._files.complete.all()

    @property
    def state(self) -> str:
        """The progress in words, as this rank sees it."""
        if not self._has_begun:
            return "nothing was written"
        if not self._is_root:
            return self._state_elsewhere
        if self._is_finished or (self.part is not None and not self._is_own()):
            return f"all {self._unit} are in {self.path}"
        complete = self._files.complete
        if not complete.any():
            return "nothing was written"
        return (
            f"{complete.sum():,} of {len(complete):,} {self._unit} are complete in {self._place}; "
            + ("go on with --resume" if self.part is None else "repeat lost parts by --resume")
        )

    @property
    def _state_elsewhere(self) -> str:
        if not self._place.exists():
            return f"all {self._unit} are in {self.path}, or none was complete"
        return (
            f"complete {self._unit} are in {self._place}, or all in {self.path} once that is gone"
        )

    def _begin(self, run: dict[str, Any]) -> NDArray[np.int64]:
        with ExitStack() as claim:
            how = {"resume": self._resume, "shared": self.part is not None}
            self._folder = claim.enter_context(closing(claim_folder(self.path, **how)))
            if self.part is not None:
                token = shared_token(self._folder, run)
            else:
                token = token_of(self._folder, run) if self._resume else secrets.token_hex(8)
            self._files.attach(self._folder, token)
            if self.part is not None:
                self._files.lay_out()
            elif not self._resume:
                with beginning(self._folder):
                    self._files.lay_out()
                    write_run(self._folder, run, token)
            claim.callback(self._files.close)
            self._open()
            self._claim = claim.pop_all()
        missing = ~self._files.complete
        if self.part is None:
            return np.flatnonzero(missing)
        units = self.part.units(len(missing))
        return units[missing[units]] if self._resume else units

    def _open(self) -> None:
        try:
            self._files.open()
        except FileNotFoundError:
            if not self._resume and self.part is None:
                raise self._taken_over() from None
            if self.path.exists():
                raise InputError(
                    f"{self.path} is complete, and {self._place} is what its run has left behind; "
                    "remove that folder"
                ) from None
            raise self._damaged() from None
        except (KeyError, OSError, ValueError) as problem:
            raise self._damaged() from problem

    def _flush_if_due(self) -> None:
        if time.monotonic() >= self._due_s:
            self.flush()

    def _is_own(self) -> bool:
        """Return whether no other run has begun, which only a disk without locks lets happen."""
        return self._folder.is_same() and self._files.marker.exists()

    def _damaged(self) -> InputError:
        return InputError(f"{self._place} is damaged; leave out --resume to begin anew")

    def _taken_over(self) -> RunError:
        if self.part is not None and self.path.exists():
            return RunError(f"{self._place} is gone, as other runs have completed {self.path}")
        return RunError(
            f"{self._place}: another run has begun on {self.path} meanwhile; this one's "
            f"{self._unit} are lost: give each run an output of its own"
        )


UNITS = "units"  # the array of a part with the numbers of its units

SavedUnits = dict[str, NDArray[Any]]
"""Arrays of one dimension or more by name, among them `UNITS`."""


class PartFile:
    """Parts on the disk, each behind those before."""

    def __init__(self, total: int) -> None:
        self.complete = np.zeros(total, np.bool_)
        self.parts: list[SavedUnits] = []
        self._end = 0

    def attach(self, folder: RunFolder, token: str) -> None:
        self._folder, self._token = folder, token
        self.marker = folder.file(f"parts-{token}")

    def lay_out(self) -> None:
        open(self.marker, "xb").close()

    def open(self) -> None:
        with open(self.marker, "r+b") as file:
            while (part := _next_part(file)) is not None:
                self.parts.append(part)
                self.complete[_checked(part, len(self.complete))] = True
                self._end = file.tell()
            file.truncate(self._end)

    def append(self, part: SavedUnits) -> None:
        """Write a part behind the others."""
        self._end = self._write(f"parts-{self._token}", os.O_WRONLY, self._end, part)
        self.complete[part[UNITS]] = True

    def replace(self, part: SavedUnits) -> None:
        """Write a part in the place of all others; these are there until it is complete."""
        draft, flags = f"next-{self._token}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        complete = np.zeros_like(self.complete)
        complete[part[UNITS]] = True
        self._end = self._write(draft, flags, 0, part)
        self._folder.file(draft).replace(self.marker)
        self.complete[:] = complete  # at once: an interrupt says how many there are

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def _write(self, name: str, flags: int, place: int, part: SavedUnits) -> int:
        """Write a part into a file at a place, and return the place behind it."""
        path = self._folder.file(name)
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            for array in (np.array(list(part)), *part.values()):
                for content in _contents(array):
                    write_at(descriptor, place, content)
                    place += len(content)
        finally:
            os.close(descriptor)  # some disks say only now that they are full
        return place


def join(parts: list[SavedUnits]) -> SavedUnits:
    """Parts of the same names as one, at least one."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _next_part(file: BinaryIO) -> SavedUnits | None:
    try:
        names = np.load(file, allow_pickle=False)
        return {str(name): np.load(file, allow_pickle=False) for name in names}
    except (EOFError, ValueError, MemoryError):  # torn: what is not there has any length
        return None


def _checked(part: SavedUnits, total: int) -> NDArray[np.int64]:
    """The units of a part, from 0 and less than a total."""
    units: NDArray[np.int64] = part[UNITS].astype(np.int64)
    if len(units) and not 0 <= units.min() <= units.max() < total:
        raise ValueError(units)
    return units


def _contents(array: NDArray[Any]) -> tuple[bytes, memoryview]:
    """The head and the entries of an array, in bytes."""
    head, whole = io.BytesIO(), np.ascontiguousarray(array)
    npy.write_array_header_1_0(head, npy.header_data_from_array_1_0(whole))
    return head.getvalue(), whole.reshape(-1).view(np.uint8).data
