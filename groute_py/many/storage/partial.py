"""Rows in files, row by row as they are found; what is finished survives whatever ends the run.

While it is worked on, OUT has a folder OUT.partial beside it: ``distances.npy`` and perhaps
``predecessors.npy``, reserved on the disk from the beginning; ``rows``, a byte for each row, 1 when
it is complete; ``run.json``, which says what of; and ``lock``, which the run holds that works on
them. A row's byte is written behind the row itself. When all rows are there OUT is made of them,
and the folder goes. A folder of that name that is not a run's is refused
(`groute_py.many.storage.folder`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.device.rows import RowBlock
from groute_py.errors import InputError, RunError, quote
from groute_py.graph.csr import Graph
from groute_py.io.optional_libraries import library
from groute_py.io.untrusted import json_object
from groute_py.many.storage.folder import DRAFT, RUN, RunFolder, check_folder, unusable
from groute_py.system.atomic_file import FULL, check_writable, put, replacing
from groute_py.system.file_lock import LockedError

SUFFIXES = (".npy", ".npz", ".zarr")
"""The forms, by suffix."""

ZARR_BYTES = 16 << 20
"""Of a chunk of whole rows."""

COMPLETE = b"\1"


def check_output(path: Path, *, predecessors: bool) -> None:
    """Raise `InputError` or `SetupError` for an output that cannot be written in the end."""
    if path.suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise InputError(f"{path}: unknown suffix {quote(path.suffix)}; rows are saved as {known}")
    if path.suffix == ".npy" and predecessors:
        raise InputError(f"{path}: an .npy file holds one array, and predecessors are another")
    if path.suffix == ".zarr":
        library("zarr", "writing Zarr")
        if os.path.lexists(path):
            raise InputError(f"{path} is there already; remove it, or name another")
    check_writable(path)
    check_folder(_folder_of(path))


def _folder_of(path: Path) -> Path:
    return path.with_name(path.name + ".partial")


def state_seen(path: Path) -> str:
    """How far a run has come that writes rows to ``path``, in words, as other ranks see it.

    The rank that writes may be about to remove the folder of complete rows.
    """
    folder = path.with_name(path.name + ".partial")
    if not folder.exists():
        return f"all rows are in {path}"
    return f"complete rows are kept in {folder}, or all in {path} once that is gone"


def run_of(graph: Graph, sources: NDArray[np.int64], choices: dict[str, Any]) -> dict[str, Any]:
    """What rows belong to: they are the same only if all of this is."""
    digest = hashlib.sha256()
    for array in (graph.offsets, graph.heads, graph.weights):
        digest.update(f"{array.dtype.str}{len(array)};".encode())
        digest.update(np.ascontiguousarray(array).data.cast("B") if len(array) else b"")
    return {
        "graph": digest.hexdigest(),
        "sources": hashlib.sha256(sources.astype("<i8").tobytes()).hexdigest(),
        **choices,
    }


class KeptRows:
    """The rows of one output.

    Args:
        path: OUT.
        graph: for its ids and its type.
        sources: int64, shape (k,).
        run: see `run_of`.
        predecessors: whether they are kept too.
        resume: go on with what is there; else begin anew.

    Raises:
        InputError: there is nothing to go on with, or it is of something else; or another run is
            working on it; or the folder is not a run's.
        RunError: the disk has not room enough.
    """

    def __init__(
        self,
        path: Path,
        graph: Graph,
        sources: NDArray[np.int64],
        run: dict[str, Any],
        *,
        predecessors: bool,
        resume: bool,
    ) -> None:
        self.path, self._graph, self._sources = path, graph, sources
        self._folder = _folder_of(path)
        weights = graph.weights.dtype
        self._types: dict[str, np.dtype[Any]] = {
            "distances": weights if weights.kind == "f" else np.dtype(np.int64)
        }
        if predecessors:
            self._types["predecessors"] = np.dtype(np.int32)
        self._shape = len(sources), graph.vertex_count
        self._finished = False
        with ExitStack() as claim:
            self._inside = claim.enter_context(closing(self._claimed(resume=resume)))
            if resume:
                self._check_run(run)
            else:
                self._begin(run)
            self._open = claim.enter_context(ExitStack())
            self._starts = {name: self._array(name).offset for name in self._types}
            self._files = {name: self._opened(self._part(name)) for name in self._types}
            self._rows = self._opened(self._inside.file("rows"))
            self._claim = claim.pop_all()

    @property
    def missing(self) -> NDArray[np.int64]:
        """Positions of the sources whose rows are not there yet."""
        state = np.frombuffer(self._inside.file("rows").read_bytes(), np.uint8)
        return np.flatnonzero(state != COMPLETE[0])

    def take(self, positions: NDArray[np.int64], block: RowBlock) -> None:
        """Write rows down.

        Raises:
            RunError: the disk is full, or fails.
        """
        arrays = {"distances": block.distances, "predecessors": block.predecessors}
        with self._told():
            for row, position in enumerate(positions.tolist()):
                for name, kind in self._types.items():
                    array = arrays[name]
                    assert array is not None
                    self._put(name, position, np.ascontiguousarray(array[row], kind))
                _write_at(self._rows, position, COMPLETE)

    def finish(self) -> None:
        """Make OUT of the rows, and remove the folder.

        Raises:
            RunError: the disk is full, or fails; the rows stay. Or another run has begun anew with
                the same output, which only a disk without locks lets happen.
        """
        if not self._is_ours():
            raise RunError(
                f"{self._folder}: another run has begun on {self.path} meanwhile; this one's rows "
                "are lost: give each run an output of its own"
            )
        with self._told():
            self._open.close()  # only now some disks say that they are full; NFS keeps what is open
            if self.path.suffix == ".npy":
                put(self._part("distances"), self.path)
            elif self.path.suffix == ".npz":
                with replacing(self.path) as file:
                    np.savez(file, **self._arrays())
            else:
                draft = self._inside.file(DRAFT)
                shutil.rmtree(draft, ignore_errors=True)
                _write_zarr(draft, self._arrays())
                draft.replace(self.path)
        self._finished = True
        self._inside.remove()

    def close(self) -> None:
        """Leave what is there for --resume; once more does nothing."""
        self._claim.close()

    @property
    def state(self) -> str:
        """How far it has come, in words."""
        if self._finished:
            return f"all rows are in {self.path}"
        total = self._shape[0]
        done = total - len(self.missing)
        return f"{done:,} of {total:,} rows are complete in {self._folder}; go on with --resume"

    def _opened(self, path: Path) -> int:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._open.callback(os.close, descriptor)
        return descriptor

    def _is_ours(self) -> bool:
        """Whether the folder still is the one whose files this run holds open."""
        try:
            rows = self._inside.file("rows").lstat()
        except OSError:
            return False
        return self._inside.is_same() and os.path.samestat(os.fstat(self._rows), rows)

    def _claimed(self, *, resume: bool) -> RunFolder:
        """The folder, there and in nobody else's hands."""
        try:
            return RunFolder(self._folder, create=not resume)
        except LockedError:
            raise InputError(
                f"{self._folder}: another run is working on {self.path}; wait for it, or name "
                "another --output"
            ) from None
        except OSError as problem:
            if resume and isinstance(problem, FileNotFoundError):
                raise self._nothing_to_resume() from None
            if problem.errno in FULL:
                what = problem.strerror or str(problem)
                raise RunError(f"{self._folder}: {what}; nothing was written") from problem
            raise unusable(self._folder, problem) from problem

    def _begin(self, run: dict[str, Any]) -> None:
        try:
            self._inside.clear()
            self._check_room()
            for name, kind in self._types.items():
                self._lay_out(name, kind)
            for name, content in (
                ("rows", bytes(self._shape[0])),
                (RUN, f"{json.dumps(run, indent=1)}\n".encode()),
            ):
                with open(self._inside.file(name), "xb") as file:
                    file.write(content)
        except BaseException as problem:  # a signal as well: room without a run is of no use
            self._inside.remove()
            if not isinstance(problem, OSError):
                raise
            what = problem.strerror or str(problem)
            raise RunError(f"{self._folder}: {what}; nothing was written") from problem

    def _check_room(self) -> None:
        needed = sum(kind.itemsize for kind in self._types.values()) * self._shape[0]
        needed *= self._shape[1]
        # once row by row, once in the form asked for
        twice = needed if self.path.suffix == ".npy" else 2 * needed
        free = shutil.disk_usage(self._inside.file(".")).free
        if twice > free:
            raise RunError(
                f"{self._shape[0]:,} rows of {self._shape[1]:,} vertices take {twice:,} "
                f"bytes while they are written, and {free:,} are free at {self.path}; name another "
                "disk, fewer sources, or --reduce"
            )

    def _lay_out(self, name: str, kind: np.dtype[Any]) -> None:
        """A file of rows that are not there yet, with room for all."""
        with open(self._part(name), "xb") as file:
            head = {"descr": kind.str, "fortran_order": False, "shape": self._shape}
            npy.write_array_header_1_0(file, head)
            _reserve(file, self._shape[0] * self._shape[1] * kind.itemsize)

    def _check_run(self, run: dict[str, Any]) -> None:
        try:
            known = json_object(self._inside.file(RUN).read_bytes())
        except FileNotFoundError:
            raise self._nothing_to_resume() from None
        except (OSError, ValueError) as problem:
            damaged = f"{self._folder}/{RUN} is damaged; leave out --resume"
            raise InputError(damaged) from problem
        changed = [name for name in run if known.get(name) != run[name]]
        if changed:
            raise InputError(
                f"{self._folder} belongs to a run in which {', '.join(changed)} differed; leave "
                "out --resume to begin anew"
            )
        self._check_files()

    def _nothing_to_resume(self) -> InputError:
        return InputError(
            f"{self._folder}: there is no unfinished run to go on with; leave out --resume"
        )

    def _check_files(self) -> None:
        """Whether what is to be gone on with is whole."""
        if self.path.exists() and not self._part("distances").exists():
            raise InputError(
                f"{self.path} is complete, and {self._folder} is what its run has left behind; "
                "remove that folder"
            )
        try:
            whole = self._inside.file("rows").stat().st_size == self._shape[0]
            for name, kind in self._types.items():
                array = self._array(name)
                whole &= (array.shape, array.dtype) == (self._shape, kind)
        except (OSError, ValueError):
            whole = False
        if not whole:
            raise InputError(f"{self._folder} is damaged; leave out --resume to begin anew")

    def _part(self, name: str) -> Path:
        return self._inside.file(f"{name}.npy")

    def _put(self, name: str, position: int, row: NDArray[Any]) -> None:
        _write_at(self._files[name], self._starts[name] + position * row.nbytes, row.tobytes())

    def _arrays(self) -> dict[str, Any]:
        arrays: dict[str, Any] = {"sources": self._sources}
        arrays["first_id"] = np.int64(self._graph.first_id)
        if self._graph.ids is not None:
            arrays["ids"] = self._graph.ids
        for name in self._types:
            arrays[name] = self._array(name)
        return arrays

    def _array(self, name: str) -> Any:
        return np.load(self._part(name), mmap_mode="r")

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            what = problem.strerror or str(problem)
            raise RunError(
                f"{self._folder}: {what}; the rows that are finished stay there: make room, and go "
                "on with --resume"
            ) from problem


def _write_at(descriptor: int, place: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        written = os.pwrite(descriptor, view, place)
        view, place = view[written:], place + written


def _reserve(file: BinaryIO, size: int) -> None:
    file.flush()
    try:
        os.posix_fallocate(file.fileno(), file.tell(), size)
    except OSError as problem:
        if problem.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise
        file.truncate(file.tell() + size)


def _write_zarr(folder: Path, arrays: dict[str, Any]) -> None:
    zarr = library("zarr", "writing Zarr")
    group = zarr.open_group(str(folder), mode="w")
    for name, array in arrays.items():
        values = np.asarray(array) if name in ("sources", "first_id", "ids") else array
        if values.ndim < 2:
            group.attrs[name] = values.tolist()
            continue
        step = max(min(ZARR_BYTES // max(values[:1].nbytes, 1), len(values)), 1)
        chunks = step, max(values.shape[1], 1)
        kept = group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=chunks)
        for start in range(0, len(values), step):
            kept[start : start + step] = values[start : start + step]
