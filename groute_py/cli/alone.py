"""Commands that need one rank: under mpirun all ranks end alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from groute_py.errors import GrouteError, everywhere

P = ParamSpec("P")


def on_rank_0(action: Callable[[], None]) -> None:
    """Run ``action`` on rank 0; its error is raised on every rank."""
    from groute_py.comm.agree import on_root
    from groute_py.comm.connect import connect

    on_root(connect(), action)


def alike(command: Callable[P, None]) -> Callable[P, None]:
    """Let each error of a command be every rank's: they all do the same, and none hears another."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except GrouteError as error:
            raise everywhere(error) from error.__cause__

    return wrapped
