"""A file that one process at a time holds.

Unlike filelock it checks after locking that the path still leads to the locked file, and falls back
where a network file system has no locks.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import ExitStack
from pathlib import Path

NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL)
"""Errors of file systems without locks."""


class LockedError(Exception):
    """Another process holds the file, or has removed it this moment, perhaps with its folder."""


class FileLock:
    """Holds a file until `close`, or the end of the process; else raises `LockedError`.

    Several processes may hold it if it is ``shared`` by each, and on a file system without locks
    everybody does. The file is made where there is none; a link is not followed. ``descriptor`` is
    open to read and write until `close`.
    """

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        self._path = path
        with ExitStack() as unlocked:
            try:
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                self.descriptor = os.open(path, flags, 0o666)
                unlocked.callback(os.close, self.descriptor)
                _lock(self.descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
                if not os.path.samestat(os.fstat(self.descriptor), path.lstat()):
                    raise LockedError
            except FileNotFoundError:
                raise LockedError from None
            self._held = unlocked.pop_all()

    def close(self) -> None:
        """Let go; the file stays."""
        self._held.close()

    def remove(self) -> None:
        """Remove the file, and let go."""
        self._path.unlink(missing_ok=True)
        self.close()


def _lock(file: int, kind: int) -> None:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        raise LockedError from None
    except OSError as problem:
        if problem.errno not in NO_LOCKS:
            raise
