"""Limits of memory, and checks against them.

The limits of control groups, under which Slurm and containers run, are read here: psutil does not.
"""

from __future__ import annotations

import ctypes
import resource
from functools import cache
from pathlib import Path
from typing import NamedTuple

from groute_py.errors import FormatError, GraphError, SetupError
from groute_py.system.environment import GROUPS, MEMBERSHIP
from groute_py.system.memory_pool import MemoryPool

FEWEST_VERTICES = 1 << 24
"""A file may state up to this many vertices, whatever its size."""
COMPILER_BYTES = 1 << 28
"""Addresses that Numba and LLVM take; without them LLVM aborts, which nothing can catch."""
IDLE_SHARE = 1 / 8
"""Share of the available memory that stays idle for the next answers."""
LITTLE = 1 << 26
"""Bytes that nobody asks for."""
NAME_BYTES = 4
"""NumPy's bytes for a letter of the longest name, for every name."""


class Version(NamedTuple):
    """A version of control groups: the folder and the names of their memory."""

    folder: str
    limit: str
    usage: str
    prefix: str


VERSIONS = {
    "": Version("", "memory.max", "memory.current", ""),
    "memory": Version("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
}
"""Version 2, which is one tree for all, and 1, which has one for memory; by what a process's
membership calls them."""


def available_bytes() -> int | None:
    """Return the memory that this process can have without swapping, where Linux says so.

    On this machine, in the control groups that batch systems and containers set limits by, and
    below the limit of addresses that ``ulimit -v`` sets.
    """
    rests = _known(_left_on_machine(), _left_in_groups(), _left_of_addresses())
    return min(rests, default=None)


def room_for(size: int) -> int | None:
    """Return `available_bytes`; idle memory is freed first if that makes them ``size``."""
    available = available_bytes()
    if available is None or not available < size <= available + ANSWERS.idle_bytes:
        return available
    ANSWERS.clear()
    return available_bytes()


MOST_LIMIT = 1 << 60
"""Bytes from which a limit is none; to read how much is used would take a millisecond."""

CHECKED_EVERY = 1 << 16
"""Rows between two calls of `check_room` by those who read row by row: each takes 0.1 ms."""


def check_room(size: int, what: str) -> None:
    """Raise `GraphError` for more bytes than `LITTLE` and than there are, before they are taken."""
    if size <= LITTLE:
        return
    available = room_for(size)
    if available is not None and size > available:
        raise GraphError(
            f"{what} would take {size:,} bytes of memory, more than the {available:,} that are "
            "available"
        )


def trim_heap() -> None:
    """Give freed memory back to the system: glibc keeps tens of megabytes for later."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


def _known(*counts: int | None) -> list[int]:
    return [count for count in counts if count is not None]


def _left_on_machine() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration):
        return None


def _left_of_addresses() -> int | None:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (OSError, ValueError):
        return None
    return max(limit - pages * resource.getpagesize(), 0)


def check_addresses() -> None:
    """Raise `SetupError` for a limit below which the compiler would end the process."""
    rest = _left_of_addresses()
    if rest is not None and rest < COMPILER_BYTES:
        raise SetupError(
            f"`ulimit -v` leaves {rest:,} bytes of addresses, and the compiler of the CPU's "
            f"kernels needs {COMPILER_BYTES:,}; raise that limit"
        )


def _left_in_groups() -> int | None:
    try:
        groups = _groups(MEMBERSHIP.read_text("ascii"), GROUPS)
    except (OSError, UnicodeDecodeError):
        return None
    return min(_known(*(_left_in(group, version) for group, version in groups)), default=None)


@cache
def _groups(membership: str, root: Path) -> list[tuple[Path, Version]]:
    """Return the control groups with limits of memory, by what a process's membership says."""
    groups: list[tuple[Path, Version]] = []
    for _, controllers, path in (line.split(":", 2) for line in membership.splitlines()):
        for name in VERSIONS.keys() & controllers.split(","):
            top = root / VERSIONS[name].folder
            group = top / path.lstrip("/")
            folders = [folder for folder in (group, *group.parents) if folder.is_relative_to(top)]
            groups += [(folder, VERSIONS[name]) for folder in folders]
    return groups


def _left_in(group: Path, version: Version) -> int | None:
    """Return what a group has left, or None; what files have been read into counts as free."""
    try:
        limit = int((group / version.limit).read_text("ascii"))
        if limit > MOST_LIMIT:
            return None
        used = int((group / version.usage).read_text("ascii"))
        lines = (group / "memory.stat").read_text("ascii").splitlines()
        counts = {name: int(count) for name, count in (line.split() for line in lines)}
    except (OSError, ValueError):  # also of "max"
        return None
    files = sum(counts.get(f"{version.prefix}{kind}_file", 0) for kind in ("active", "inactive"))
    return max(limit - used + files, 0)


def is_absurd(vertex_count: int, content_bytes: int) -> bool:
    """Return True if there are more vertices than bytes, and more than `FEWEST_VERTICES`."""
    return vertex_count > max(FEWEST_VERTICES, content_bytes)


def check_vertex_count(path: Path, vertex_count: int, content_bytes: int) -> None:
    """Refuse a count that asks for much more memory than what was read.

    With more vertices than bytes, and than `FEWEST_VERTICES`, by a `FormatError`; else with a
    `GraphError` if their offsets do not fit.
    """
    if is_absurd(vertex_count, content_bytes):
        problem = f"promises {vertex_count:,} vertices, but has only {content_bytes:,} bytes"
        raise FormatError(path, problem)
    check_room(8 * (vertex_count + 1), f"{path}: {vertex_count:,} vertices")


def check_name_lengths(count: int, longest: int) -> None:
    """Raise `GraphError` for names that, with the room of the longest, need half of memory."""
    available = available_bytes()
    if available is not None and 2 * count * longest * NAME_BYTES > available:
        raise GraphError(
            f"{count:,} names with room for {longest:,} letters each need more memory than is "
            "available; shorten the longest names"
        )


ANSWERS = MemoryPool(int((available_bytes() or 0) * IDLE_SHARE))
"""The memory of answers that users get."""
