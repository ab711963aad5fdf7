"""Sums over sources in a file, now and then as they grow; what it has survives a kill.

While a run works, OUT has a folder OUT.partial beside it, as for rows: ``sums.npz``, the sums as
they were last saved, with which sources they are over; ``run.json``, which says what of; and
``lock``. A file of sums takes the place of the one before only when it is complete, and has sums
and sources that belong together. When OUT is there, the folder goes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.io.array_archive import save_arrays
from groute_py.many.storage.claim import beginning, claimed, folder_of, keeping, taken_over
from groute_py.many.storage.folder import SUMS, SUMS_DRAFT
from groute_py.many.storage.record import check_run, write_run

Arrays = dict[str, NDArray[Any]]


class KeptSums:
    """The sums of one output.

    Attributes:
        done: how many sources the sums are over.
        begun: how many an earlier run had done.
        total: how many there are.

    Args:
        path: OUT.
        run: see `groute_py.many.storage.record.run_of`.
        total: how many sources there are, for messages.
        resume: go on with what is there; else begin anew.

    Raises:
        InputError: there is nothing to go on with, or it is of something else or damaged; or
            another run is working on it; or the folder is not a run's.
        RunError: the disk is full.
    """

    def __init__(self, path: Path, run: dict[str, Any], total: int, *, resume: bool) -> None:
        self._path, self._folder, self.total = path, folder_of(path), total
        self.done, self.begun = 0, 0
        self._is_finished = self._is_closed = False
        self._found: Arrays | None = None
        with ExitStack() as claim:
            self._inside = claim.enter_context(closing(claimed(path, resume=resume)))
            if resume:
                check_run(self._inside, run)
                self._found = self._loaded()
            else:
                with beginning(self._inside):
                    write_run(self._inside, run)
            self._claim = claim.pop_all()

    def load_into(self, arrays: Arrays) -> None:
        """Fill arrays with what an earlier run saved under their names; nothing if it has not.

        Raises:
            InputError: it has saved other arrays.
        """
        found, self._found = self._found, None
        if found is None:
            return
        kinds = [{name: (a.shape, a.dtype) for name, a in some.items()} for some in (found, arrays)]
        if kinds[0] != kinds[1]:
            raise self._damaged()
        for name, array in arrays.items():
            array[...] = found[name]

    def save(self, arrays: Arrays, done: int) -> None:
        """Keep sums instead of those before.

        Args:
            arrays: by name.
            done: how many sources they are over.

        Raises:
            RunError: the disk is full, or fails: the sums before stay. Or another run has begun
                anew with the same output.
        """
        self._refuse_another()
        draft = self._inside.file(SUMS_DRAFT)
        with keeping(self._folder, "sums"):
            with open(draft, "wb") as file:
                save_arrays(file, arrays)
            draft.replace(self._inside.file(SUMS))
        self.done = done

    def finish(self, write: Callable[[], None]) -> None:
        """Let ``write`` make OUT, and remove the folder."""
        self._refuse_another()
        write()
        self._is_finished = True
        self._inside.remove()

    def close(self) -> None:
        """Leave what was saved for --resume, or nothing; once more does nothing."""
        is_left = self._is_closed or self._is_finished
        if not (is_left or self._inside.file(SUMS).exists()):
            self._inside.remove()
        self._is_closed = True
        self._claim.close()

    @property
    def state(self) -> str:
        """How far it has come, in words."""
        if self._is_finished:
            return f"the values are in {self._path}"
        if not self.done:
            return "nothing was kept"
        return (
            f"{self.done:,} of {self.total:,} sources are done, and kept in {self._folder}; go on "
            "with --resume"
        )

    def _loaded(self) -> Arrays | None:
        try:
            with open(self._inside.file(SUMS), "rb") as file, np.load(file) as arrays:
                return {name: arrays[name] for name in arrays.files}
        except FileNotFoundError:
            return None
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as problem:
            raise self._damaged() from problem

    def _damaged(self) -> InputError:
        """The error for sums that cannot be read, or are not of this run's form."""
        return InputError(f"{self._folder}/{SUMS} is damaged; leave out --resume to begin anew")

    def _refuse_another(self) -> None:
        if not self._inside.is_same():
            raise taken_over(self._folder, self._path, "sums")


def sums_seen(path: Path) -> str:
    """How far a run has come that keeps sums for ``path``, in words, as other ranks see it."""
    folder = folder_of(path)
    if not folder.exists():
        return f"the values are in {path}, if it is there"
    return f"sums may be kept in {folder}; go on with --resume"
