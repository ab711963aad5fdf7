"""What the plugins for the tests of other projects share: functions that count their calls."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

CALLS: Counter[str] = Counter()


def put_counted(names: Iterable[str], ours: Any, there: Any) -> None:
    """Set functions of ``ours`` as attributes of ``there``, counted."""
    for name in names:
        setattr(there, name, _counted(getattr(ours, name)))


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        CALLS[function.__name__] += 1
        return function(*args, **kwargs)

    return call


def tell_calls(terminal: Any, prefix: str, names: Iterable[str]) -> None:
    for name in names:
        terminal.write_line(f"{prefix}.{name}: {CALLS[name]} calls")
