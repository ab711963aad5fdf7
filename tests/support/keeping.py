"""Runs that store parts of their answer, and what ends them: a signal, a full disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from groute_py.device.cpu import rows
from groute_py.errors import InterruptedRun, signalled
from groute_py.many.storage import store


def write_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let parts be written when they come."""
    monkeypatch.setattr(store, "EVERY_S", 0)
    monkeypatch.setattr(store, "SHARE", 0)


def row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each row that cores find be a block of its own."""
    monkeypatch.setattr(rows, "BLOCK_BYTES", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})


def failing(code: int) -> Callable[..., Any]:
    """A function that raises the `OSError` of a code of `errno`, whatever it is called with."""

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


def raising_at(call: int, function: Callable[..., Any], error: BaseException) -> Any:
    """The function, which raises an error at one of its calls, counted from 1."""
    calls = 0

    def called(*words: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise error
        return function(*words, **named)

    return called


@contextmanager
def interrupted_at(call: int, owner: Any, name: str) -> Iterator[None]:
    """Raise what SIGTERM does, in the block, at a call of ``owner.name``, counted from 1."""
    error = signalled(InterruptedRun("interrupted by SIGTERM; nothing was written"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, raising_at(call, getattr(owner, name), error))
        yield
