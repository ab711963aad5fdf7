"""The folder OUT.partial of a run: opened once, not through a link, and only if it is a run's.

All files in it are reached through the open folder, so that what takes its name meanwhile is not
touched. A run signs the file ``lock``; a folder without that belongs to somebody else and stays as
it is, and so does every file that does not have the name of a run's.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, RunError
from groute_py.graph.csr import Graph
from groute_py.io.untrusted import json_object
from groute_py.system.atomic_file import FULL
from groute_py.system.file_lock import FileLock, LockedError

LOCK = "lock"  # the file that a run holds while it works on the folder

RUN = "run.json"
"""The file that identifies the graph, the vertices and the choices of the run."""

TOKEN = "[0-9a-f]{16}"
"""In the names of a run's other files, so that no other run ever writes into them: on a disk
without locks two may have the folder."""

FILE = re.compile(rf"{LOCK}|{RUN}|(rows|parts|next)-{TOKEN}|(distances|predecessors)-{TOKEN}\.npy")
DRAFT_FOLDER = re.compile(rf"zarr-{TOKEN}")  # folder in which a Zarr group is made
SIGNATURE = b"groute-py run\n"  # bytes that a run writes into the lock


class RunFolder:
    """An open folder, and a run's claim on it."""

    def __init__(self, path: Path, *, create: bool, shared: bool = False) -> None:
        self.path = path
        is_new = create and _make(path)
        self._descriptor = _open(path)
        try:
            if not is_new or _names(self._descriptor):
                _check_own(path, self._descriptor)
            self._lock = FileLock(self.file(LOCK), shared=shared)
            self._sign()
        except BaseException:
            if is_new and not _names(self._descriptor) and self.is_same():
                path.rmdir()
            os.close(self._descriptor)
            raise

    def _sign(self) -> None:
        """Write into the lock whose it is, or leave none: the disk may be full."""
        try:
            if not os.fstat(self._lock.descriptor).st_size:
                os.pwrite(self._lock.descriptor, SIGNATURE, 0)
        except OSError:
            self._lock.remove()
            raise

    def file(self, name: str) -> Path:
        """The path of a file in it, by way of the open folder."""
        return Path(f"/proc/self/fd/{self._descriptor}") / name

    def is_same(self) -> bool:
        """Return whether the path still leads to this folder."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.path.lstat())
        except OSError:
            return False

    def clear(self) -> None:
        """Remove what a run has put there, but for the lock."""
        for name in _names(self._descriptor):
            if (FILE.fullmatch(name) or DRAFT_FOLDER.fullmatch(name)) and name != LOCK:
                _remove(name, self._descriptor)

    def remove(self) -> None:
        """Remove it as far as that goes; the lock last, since whoever finds none may begin."""
        with suppress(OSError):
            self.clear()
            self._lock.remove()
            if self.is_same():
                self.path.rmdir()

    def close(self) -> None:
        """Let go of it; all that is in it stays."""
        self._lock.close()
        os.close(self._descriptor)


def folder_of(path: Path) -> Path:
    """The folder OUT.partial of an output."""
    return path.with_name(path.name + ".partial")


def check_folder(output: Path) -> None:
    """Raise `InputError` if there is something at OUT.partial that is not a run's folder."""
    path = folder_of(output)
    try:
        descriptor = _open(path)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise _unusable(path, problem) from problem
    try:
        _check_own(path, descriptor)
    except OSError as problem:
        raise _unusable(path, problem) from problem
    finally:
        os.close(descriptor)


def claim_folder(output: Path, *, resume: bool, shared: bool = False) -> RunFolder:
    """The folder of an output, there and in nobody else's hands but of those that share it."""
    path = folder_of(output)
    try:
        return RunFolder(path, create=not resume, shared=shared)
    except LockedError:
        raise InputError(
            f"{path}: another run is working on {output}; wait for it, or name another --output"
        ) from None
    except OSError as problem:
        if resume and isinstance(problem, FileNotFoundError):
            raise nothing_to_resume(path) from None
        if problem.errno in FULL:
            raise _nothing_written(path, problem) from problem
        raise _unusable(path, problem) from problem


@contextmanager
def beginning(folder: RunFolder) -> Iterator[None]:
    """Clear the folder for a run that begins in the block, and remove it if that fails."""
    try:
        folder.clear()
        yield
    except BaseException as problem:  # a signal as well: room without a run is of no use
        folder.remove()
        if not isinstance(problem, OSError):
            raise
        raise _nothing_written(folder.path, problem) from problem


def nothing_to_resume(path: Path) -> InputError:
    """The error for a folder without a run in it."""
    return InputError(f"{path}: there is no unfinished run to go on with; leave out --resume")


def _nothing_written(folder: Path, problem: OSError) -> RunError:
    return RunError(f"{folder}: {problem.strerror or problem}; nothing was written")


def _unusable(path: Path, problem: OSError) -> InputError:
    what = problem.strerror or str(problem)
    return InputError(f"{path}: cannot be used: {what}; remove it, or name another --output")


def _make(path: Path) -> bool:
    try:
        path.mkdir()
    except FileExistsError:
        return False
    return True


def _open(path: Path) -> int:
    if path.is_symlink():
        raise InputError(f"{path}: is a link, which is not followed; {_ADVICE}")
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


_ADVICE = "it stays as it is: move it away, or name another --output"


BEGINS_S, POLL_S = 1.0, 0.02
"""Seconds that a run may take to sign the folder that it has made, and between looks."""


def _check_own(path: Path, folder: int) -> None:
    end = time.monotonic() + BEGINS_S
    while not _is_signed(folder):
        if not set(_names(folder)) - {LOCK} and time.monotonic() < end:
            time.sleep(POLL_S)
            continue
        raise InputError(f"{path}: is there already and is not of a run of groute-py; {_ADVICE}")


def _is_signed(folder: int) -> bool:
    try:
        lock = os.open(LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return False
    try:
        return os.read(lock, len(SIGNATURE) + 1) == SIGNATURE
    finally:
        os.close(lock)


def _remove(name: str, folder: int) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        shutil.rmtree(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)


FILES = "files"  # the field of a record that has the token of the run's files


def run_of(
    graph: Graph | str, vertices: Mapping[str, NDArray[np.int64]], choices: Mapping[str, Any]
) -> dict[str, Any]:
    """The record of a run; complete work is the same only if all of this is."""
    return {
        "graph": graph if isinstance(graph, str) else digest_of(graph),
        **{
            name: hashlib.sha256(some.astype("<i8").tobytes()).hexdigest()
            for name, some in vertices.items()
        },
        **choices,
    }


def digest_of(graph: Graph) -> str:
    """Return a digest of the arcs of a graph."""
    digest = hashlib.sha256()
    for array in (graph.offsets, graph.heads, graph.weights):
        digest.update(f"{array.dtype.str}{len(array)};".encode())
        digest.update(np.ascontiguousarray(array).data.cast("B") if len(array) else b"")
    return digest.hexdigest()


def write_run(folder: RunFolder, run: dict[str, Any], token: str) -> None:
    """Write the record of a run that begins, whole at once."""
    draft = folder.file(f"next-{secrets.token_hex(8)}")
    with open(draft, "xb") as file:
        file.write(f"{json.dumps(run | {FILES: token}, indent=1, allow_nan=False)}\n".encode())
    draft.replace(folder.file(RUN))


def shared_token(folder: RunFolder, run: dict[str, Any]) -> str:
    """The token of the files of a run that several processes begin, each of which may be first."""
    if not folder.file(RUN).exists():
        text = json.dumps(run, sort_keys=True, allow_nan=False)
        write_run(folder, run, hashlib.sha256(text.encode()).hexdigest()[:16])
    return token_of(folder, run, "remove it, or name another --output")


def token_of(
    folder: RunFolder, run: dict[str, Any], cure: str = "leave out --resume to begin anew"
) -> str:
    """The token of the files of a run."""
    try:
        record = json_object(folder.file(RUN).read_bytes())
        token = str(record.pop(FILES, ""))
        if not re.fullmatch(TOKEN, token):
            raise ValueError(token)
    except FileNotFoundError:
        raise nothing_to_resume(folder.path) from None
    except (OSError, ValueError) as problem:
        damaged = f"{folder.path}/{RUN} is damaged; leave out --resume"
        raise InputError(damaged) from problem
    names = sorted(run.keys() | record.keys())
    if changed := [name for name in names if record.get(name) != run.get(name)]:
        raise InputError(
            f"{folder.path} belongs to a run in which {', '.join(changed)} differed; {cure}"
        )
    return token
