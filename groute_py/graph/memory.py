"""What fits in memory."""

from __future__ import annotations

from pathlib import Path

from groute_py.errors import FormatError, GraphError

FEWEST_VERTICES = 1 << 24
"""So many vertices may be promised whatever a file holds."""
NAME_BYTES = 4
"""NumPy's bytes for a letter of the longest name, for every name."""


def available_bytes() -> int | None:
    """The memory that can be had without swapping, where Linux says so."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration):
        return None


def is_absurd(vertex_count: int, content_bytes: int) -> bool:
    """Whether there are more vertices than bytes, and more than `FEWEST_VERTICES`."""
    return vertex_count > max(FEWEST_VERTICES, content_bytes)


def check_vertex_count(path: Path, vertex_count: int, content_bytes: int) -> None:
    """Refuse a count that asks for much more memory than what was read.

    Raises:
        FormatError: there are more vertices than bytes, and more than `FEWEST_VERTICES`.
    """
    if is_absurd(vertex_count, content_bytes):
        problem = f"promises {vertex_count:,} vertices, but has only {content_bytes:,} bytes"
        raise FormatError(path, problem)


def check_name_lengths(count: int, longest: int) -> None:
    """Refuse names that, each with the room of the longest, are too much.

    Raises:
        GraphError: they need more than half of the memory that is available.
    """
    available = available_bytes()
    if available is not None and 2 * count * longest * NAME_BYTES > available:
        raise GraphError(
            f"{count:,} names with room for {longest:,} letters each need more memory than is "
            "available; shorten the longest names"
        )
