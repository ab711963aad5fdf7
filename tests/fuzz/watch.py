"""Sees what Python code does to files, processes and the network, by an audit hook."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

PATHS_OF = {
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.utime": (0,),
    "shutil.rmtree": (0,),
}
"""Which arguments of an audit event are paths that it changes."""

FORBIDDEN = {
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "socket.connect",
    "pickle.find_class",
}
"""Events that no reader has a reason for."""

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Watch:
    """Records what happens outside ``folder`` while it is `open`.

    What Numba does to keep compiled code does not count. A path that is relative counts as
    relative to the working folder.
    """

    def __init__(self, folder: Path) -> None:
        self._inside, self._active = os.path.realpath(folder), False
        self._seen: list[str] = []
        sys.addaudithook(self._hook)

    @contextmanager
    def open(self) -> Iterator[list[str]]:
        """The list that is filled with strange events within the block."""
        self._seen, self._active = [], True
        try:
            yield self._seen
        finally:
            self._active = False

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._active and (strange := self._strange(event, arguments)) and not _by_compiler():
            self._seen.append(strange)

    def _strange(self, event: str, arguments: tuple[Any, ...]) -> str | None:
        """What an event does that it should not do, if anything."""
        if event in FORBIDDEN:
            return f"{event} {arguments[:1]}"
        paths = [arguments[place] for place in PATHS_OF.get(event, ())]
        if event == "open":
            path, mode, flags = arguments
            writes = isinstance(flags, int) and flags & WRITING
            paths = [path] if writes or set(mode or "") & set("wax+") else []
        outside = (path for path in paths if not self._is_inside(path))
        return next((f"{event} {path!r}" for path in outside), None)

    def _is_inside(self, path: object) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return True  # a descriptor: it was opened before
        real = os.path.realpath(os.fsdecode(path))
        return real in (self._inside, os.devnull) or real.startswith(self._inside + os.sep)


def _by_compiler() -> bool:
    """Whether Numba or an import is at work, which keep compiled code in files."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if "/numba/" in frame.f_code.co_filename or "<frozen importlib" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
