"""Short GPU memory: smaller pieces, an answer for peers, an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from cupy.cuda import driver, runtime

from groute_py.errors import InputError

T = TypeVar("T")

LOOKED_AT = 1 << 21
"""Vertices that are processed together; their temporary arrays take 40 MB."""

NO_MEMORY = 2
"""CUDA's status of a call that found no memory, in both of its interfaces."""

FULL = "a GPU has no memory left for an exchange in the kernel"
"""The reason against fused mode if memory is short."""


def pieces(count: int, length: int = LOOKED_AT) -> Iterator[slice]:
    """Slices that cover ``count`` items, for when little memory is free."""
    return (slice(first, min(first + length, count)) for first in range(0, count, length))


def if_it_fits(action: Callable[[], T]) -> T | None:
    """The result of an action, or None if GPU memory is short, so that peers can be informed."""
    try:
        return action()
    except (MemoryError, runtime.CUDARuntimeError, driver.CUDADriverError):
        return None


@contextmanager
def within_memory(what: str, label: str, remedy: str) -> Iterator[None]:
    """Raise `InputError` where the GPU has no memory left for something."""
    try:
        yield
    except (MemoryError, runtime.CUDARuntimeError, driver.CUDADriverError) as problem:
        if getattr(problem, "status", NO_MEMORY) != NO_MEMORY:
            raise
        raise InputError(f"{what} does not fit on {label} ({problem}); {remedy}") from problem
