"""A file that one process at a time holds."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL)
"""What file systems without locks say."""


class LockedError(Exception):
    """Another process holds the file, or has removed it this moment."""


class FileLock:
    """Hold a file until `close`, or the end of the process, however it ends.

    On a file system without locks everybody holds it.

    Args:
        path: made where there is none.

    Raises:
        LockedError: someone else holds it.
        OSError: there can be no file.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(self._file)
            if not os.path.samestat(os.fstat(self._file), path.stat()):
                raise LockedError
        except FileNotFoundError:
            os.close(self._file)
            raise LockedError from None
        except BaseException:
            os.close(self._file)
            raise

    def close(self) -> None:
        """Let go; the file stays."""
        os.close(self._file)


def _lock(file: int) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise LockedError from None
    except OSError as problem:
        if problem.errno not in NO_LOCKS:
            raise
