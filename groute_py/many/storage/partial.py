"""Rows in files, row by row as they are found; what is finished survives whatever ends the run.

While it is worked on, OUT has a folder OUT.partial beside it: ``distances-TOKEN.npy`` and perhaps
``predecessors-TOKEN.npy``, reserved on the disk from the beginning; ``rows-TOKEN``, a byte for each
row, 1 when it is complete; ``run.json``, which says what of, and which token the names have; and
``lock``, which the run holds that works on them. A row's byte is written behind the row itself.
When all rows are there OUT is made of them, and the folder goes. A folder of that name that is not
a run's is refused (`groute_py.many.storage.folder`).
"""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.rows import RowBlock
from groute_py.errors import InputError, RunError
from groute_py.graph.ids import Numbering
from groute_py.many.storage.claim import beginning, claimed, folder_of, keeping, taken_over
from groute_py.many.storage.folder import DRAFT, TOKEN, check_folder
from groute_py.many.storage.forms import SUFFIXES, check_form, write_npz, write_zarr
from groute_py.many.storage.pairs import pairs
from groute_py.many.storage.record import check_run, write_run
from groute_py.many.storage.row_files import RowFiles
from groute_py.many.storage.row_writer import ArrayPlace
from groute_py.results.tables import write_table
from groute_py.system.atomic_file import check_writable, put

NO_POINTS: Mapping[str, Sequence[str]] = {}
"""Where ends are named as vertices."""


def check_output(path: Path, *, predecessors: bool, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Raise `InputError` or `SetupError` for an output that cannot be written in the end."""
    check_form(path, predecessors=predecessors, suffixes=suffixes)
    check_writable(path)
    check_folder(folder_of(path))


class KeptRows:
    """The rows of one output.

    Args:
        path: OUT.
        numbering: of the vertices.
        weight_type: of the graph.
        sources: int64, shape (k,).
        run: see `groute_py.many.storage.record.run_of`.
        predecessors: whether they are kept too.
        resume: go on with what is there; else begin anew.
        targets: int64, shape (t,), whose columns alone are kept; None for all vertices.
        points: as for `groute_py.many.storage.pairs.pairs`.
        attribution: whom OUT names, if anybody; an ``.npy`` file has no place for it.

    Raises:
        InputError: there is nothing to go on with, or it is of something else; or another run is
            working on it; or the folder is not a run's.
        RunError: the disk has not room enough.
    """

    def __init__(
        self,
        path: Path,
        numbering: Numbering,
        weight_type: np.dtype[Any],
        sources: NDArray[np.int64],
        run: dict[str, Any],
        *,
        predecessors: bool,
        resume: bool,
        targets: NDArray[np.int64] | None = None,
        points: Mapping[str, Sequence[str]] = NO_POINTS,
        attribution: str = "",
    ) -> None:
        self.path, self._numbering = path, numbering
        self._sources, self._targets, self._points = sources, targets, points
        self._attribution = attribution
        self._folder = folder_of(path)
        types: dict[str, np.dtype[Any]] = {
            "distances": weight_type if weight_type.kind == "f" else np.dtype(np.int64)
        }
        if predecessors:
            types["predecessors"] = np.dtype(np.int32)
        self._shape = len(sources), numbering.count if targets is None else len(targets)
        self._finished = self._is_going = False
        with ExitStack() as claim:
            self._inside = claim.enter_context(closing(claimed(path, resume=resume)))
            self._token = check_run(self._inside, run) if resume else secrets.token_hex(8)
            files = RowFiles(self._inside, types, self._shape, self._token)
            self._files = claim.enter_context(closing(files))
            if resume:
                self._check_files()
            else:
                self._begin(run)
            with self._refusing_another():
                self._files.open()
            self._claim = claim.pop_all()

    @property
    def missing(self) -> NDArray[np.int64]:
        """Positions of the sources whose rows are not there yet.

        Raises:
            RunError: as for `finish`, where another run has begun.
        """
        with self._refusing_another():
            return self._files.missing

    @property
    def places(self) -> list[ArrayPlace]:
        """Where other ranks of the host find the files, for a `RowWriter` of theirs.

        Raises:
            RunError: as for `finish`, where another run has begun.
        """
        with self._refusing_another():
            return self._files.neighbour_places

    def take(self, positions: NDArray[np.int64], block: RowBlock) -> None:
        """Write rows down.

        Raises:
            RunError: the disk is full, or fails.
        """
        with keeping(self._folder, "rows"):
            self._files.take(positions, block)

    def mark(self, positions: NDArray[np.int64]) -> None:
        """Write down that rows which other ranks have written are complete.

        Raises:
            RunError: the disk is full, or fails.
        """
        with keeping(self._folder, "rows"):
            self._files.mark(positions)

    def finish(self) -> None:
        """Make OUT of the rows, and remove the folder unless another run has begun in it.

        Raises:
            RunError: the disk is full, or fails; the rows stay. Or another run has begun anew with
                the same output, which only a disk without locks lets happen.
        """
        if not self._is_own():
            raise self._taken_over()
        with keeping(self._folder, "rows"):
            self._files.close()  # some disks say only now that they are full; NFS keeps open files
            if self.path.suffix == ".npy":
                put(self._files.path("distances"), self.path)
            elif self.path.suffix == ".npz":
                write_npz(self.path, self._arrays())
            elif self.path.suffix != ".zarr":
                assert self._targets is not None
                ends = self._sources, self._targets
                lines = pairs(self._numbering, *ends, self._files.arrays(), self._points)
                write_table(self.path, lines, self._attribution)
            else:
                draft = self._inside.file(f"{DRAFT}-{self._token}")
                write_zarr(self.path, draft, self._arrays())
        self._finished = True
        if self._is_own():
            self._is_going = True
            self._inside.remove()
            self._is_going = False

    def close(self) -> None:
        """Leave what is there for --resume; once more does nothing."""
        if self._is_going:  # a signal came before it was gone
            self._inside.remove()
        self._claim.close()

    @property
    def state(self) -> str:
        """How far it has come, in words."""
        if self._finished:
            return f"all rows are in {self.path}"
        total = self._shape[0]
        done = total - len(self.missing)
        return f"{done:,} of {total:,} rows are complete in {self._folder}; go on with --resume"

    def _begin(self, run: dict[str, Any]) -> None:
        with beginning(self._inside):
            self._check_room()
            self._files.lay_out()
            write_run(self._inside, run, self._token)

    @contextmanager
    def _refusing_another(self) -> Iterator[None]:
        """Let files that are gone be the error for another run, which has removed them."""
        try:
            yield
        except FileNotFoundError:
            raise self._taken_over() from None

    def _is_own(self) -> bool:
        """Whether no other run has begun, which only a disk without locks lets happen."""
        return self._inside.is_same() and self._files.is_same()

    def _taken_over(self) -> RunError:
        return taken_over(self._folder, self.path, "rows")

    def _check_room(self) -> None:
        # once row by row, once in the form asked for
        twice = self._files.nbytes * (1 if self.path.suffix == ".npy" else 2)
        free = shutil.disk_usage(self._inside.file(".")).free
        if twice > free:
            fewer = "fewer sources" if self._targets is not None else "fewer sources, or --reduce"
            raise RunError(
                f"{self._shape[0]:,} rows of {self._shape[1]:,} vertices take {twice:,} "
                f"bytes while they are written, and {free:,} are free at {self.path}; name another "
                f"disk, {fewer}"
            )

    def _check_files(self) -> None:
        """Whether what is to be gone on with is whole."""
        if not self._token:
            raise InputError(
                f"{self._folder} is of an earlier version, whose rows have other names; leave out "
                "--resume to begin anew"
            )
        is_named = re.fullmatch(TOKEN, self._token) is not None
        if is_named and self.path.exists() and not self._files.path("distances").exists():
            raise InputError(
                f"{self.path} is complete, and {self._folder} is what its run has left behind; "
                "remove that folder"
            )
        if not (is_named and self._files.are_whole()):
            raise InputError(f"{self._folder} is damaged; leave out --resume to begin anew")

    def _arrays(self) -> dict[str, Any]:
        arrays: dict[str, Any] = {"sources": self._sources}
        if self._targets is not None:
            arrays["targets"] = self._targets
        arrays["first_id"] = np.int64(self._numbering.first)
        if self._numbering.ids is not None:
            arrays["ids"] = self._numbering.ids
        if self._attribution:
            arrays["attribution"] = np.array(self._attribution)
        return arrays | self._files.arrays()
