"""Memory of a host that several ranks have together."""

from __future__ import annotations

import os
from mmap import mmap

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.errors import GraphError
from groute_py.system.memory_limits import check_room

OPEN_FILE = "/proc/{}/fd/{}"
"""The path of a process's open file, for the other ranks."""


def shared_memory(channel: Channel, nbytes: int, what: str) -> NDArray[np.uint8]:
    """Return zeros that all ranks of a channel, which are of one host, read and write. Collective.

    If they do not fit in memory, or a rank cannot map them, that is a `GraphError` on all ranks.
    """
    if channel.size == 1:
        check_room(nbytes, what)
        return np.zeros(nbytes, np.uint8)
    file = -1

    def make() -> tuple[str, int]:
        nonlocal file
        check_room(nbytes, what)
        file = os.memfd_create("groute-py")
        os.ftruncate(file, nbytes)
        return OPEN_FILE.format(os.getpid(), file), os.fstat(file).st_ino

    try:
        path, identity = on_root(channel, make)
        with collective(channel):
            return _mapped(path, identity, nbytes, what)
    finally:
        if file >= 0:
            os.close(file)


def _mapped(path: str, identity: int, nbytes: int, what: str) -> NDArray[np.uint8]:
    try:
        with open(path, "r+b", buffering=0) as file:
            if os.fstat(file.fileno()).st_ino == identity:
                return np.frombuffer(mmap(file.fileno(), nbytes), np.uint8)
    except OSError as problem:
        raise GraphError(f"a rank cannot map {what} that another one has ({problem})") from problem
    raise GraphError(f"a rank cannot map {what}: another process has {path}")
