"""Writing files that are complete or absent.

The one library for it, atomicwrites, is no longer maintained. Nothing here calls fsync, so a file
is not safe from a loss of power.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from groute_py.errors import GrouteError, InputError, RunError
from groute_py.system.own_files import draft_beside
from groute_py.system.paths import check_stream, is_stream, opened

OWN_FILES = Path("/proc/self/fd")
"""Links to the files that this process has open."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of a full or failing disk."""

_placed: dict[Path, tuple[Path, int]] = {}
"""Files that this process has put in place, or is about to, by their absolute paths: the paths that
were given, and the numbers of their inodes."""


def what_was_written() -> str:
    """Name the complete files of this process, for a message that it was ended."""
    there = [str(path) for at, (path, inode) in _placed.items() if _inode_at(at) == inode]
    if not there:
        return "nothing was written"
    return f"{' and '.join(there)} {'is' if len(there) == 1 else 'are'} complete"


def _inode_at(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file that takes the place of the one at `path` when the block ends well.

    Where `path` is a link, the file that it leads to is replaced; where there is a file, its mode
    is kept. Pipes and devices are written to as they are.
    """
    if is_stream(path):
        with opened(path) as stream:
            yield stream
        return
    target = path.resolve()
    draft = draft_beside(target)
    try:
        with _new_file(draft) as file:
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            _give_name(file, draft)
        _placed[path.absolute()] = path, draft.stat().st_ino
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _new_file(draft: Path) -> BinaryIO:
    """Open a file without a name, of which nothing is left when the process is killed.

    Where the file system has no such files it has the name of the draft.
    """
    if not OWN_FILES.is_dir():
        return open(draft, "xb")
    try:
        flags = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC
        return open(os.open(draft.parent, flags, 0o666), "w+b")
    except OSError:
        return open(draft, "xb")


def _give_name(file: BinaryIO, draft: Path) -> None:
    """Give a file the name of the draft, if it has none.

    Some systems have files without a name, but let nobody link them: then the draft is a copy.
    """
    descriptor = file.fileno()
    status = os.fstat(descriptor)
    if status.st_nlink > 0:
        return
    try:
        # with a descriptor of a folder Python follows the link, as it has to
        os.link(OWN_FILES / str(descriptor), draft, src_dir_fd=descriptor, follow_symlinks=True)
    except OSError:
        with open(draft, "xb") as copy:
            file.seek(0)
            shutil.copyfileobj(file, copy)
            os.fchmod(copy.fileno(), stat.S_IMODE(status.st_mode))


def put(draft: Path, path: Path) -> None:
    """Let a complete file replace the one at `path`, on one disk without a copy."""
    if is_stream(path):
        _copy(draft, path)
        return
    target = path.resolve()
    try:
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
        _placed[path.absolute()] = path, draft.stat().st_ino
        draft.replace(target)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        _copy(draft, path)


def _copy(draft: Path, path: Path) -> None:
    with open(draft, "rb") as source, replacing(path) as file:
        shutil.copyfileobj(source, file)


@contextmanager
def translating_errors(path: Path) -> Iterator[None]:
    """Raise what the system says of a file that is written as an error of ours."""
    try:
        yield
    except OSError as problem:
        raise _not_written(path, problem) from problem


def _not_written(path: Path, problem: OSError) -> GrouteError:
    what = f"{path}: cannot be written: {problem.strerror or problem}"
    # NumPy says of a file that took only a part how much that was, and no more
    if problem.errno in FULL or problem.errno is None:
        return RunError(f"{what}; make room, or name another disk")
    return RunError(what) if problem.errno == errno.EPIPE else InputError(what)


def check_writable(path: Path) -> None:
    """Raise an error now if a file could not be put at `path` later."""
    with translating_errors(path):
        if path.is_dir():
            raise InputError(f"{path}: is a directory; name a file in it")
        if is_stream(path):
            check_stream(path)
            return
        folder = path.resolve().parent
        if not folder.is_dir():
            raise InputError(f"{path}: the folder {folder} does not exist; create it first")
        with tempfile.TemporaryFile(dir=folder):
            pass
