"""The check before a job that what it takes of the host's memory is there."""

from __future__ import annotations

from groute_py.errors import InputError
from groute_py.system.memory_limits import available_bytes


def refuse_beyond(needed: int, what: str, advice: str) -> None:
    """Raise `InputError` if so many bytes of memory are not free, as far as that is known.

    Args:
        needed: bytes.
        what: takes them, in the plural.
        advice: what to do instead.
    """
    refuse_more(needed, available_bytes(), what, advice)


def refuse_more(needed: int, free: int | None, what: str, advice: str) -> None:
    """Raise `InputError` if more bytes are needed than are free.

    Args:
        needed, what, advice: as for `refuse_beyond`.
        free: bytes, of the host or a GPU; None if that is not known.
    """
    if free is not None and needed > free:
        raise InputError(
            f"{what} take {needed:,} bytes, and {free:,} bytes of memory are free; {advice}"
        )
