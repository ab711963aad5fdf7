"""Commands that need one rank: under mpirun rank 0 does the work, and all end alike."""

from __future__ import annotations

from collections.abc import Callable


def on_rank_0(action: Callable[[], None]) -> None:
    """Run ``action`` on rank 0; its error is raised on every rank."""
    from groute_py.comm.connect import connect
    from groute_py.engine.agree import on_root

    on_root(connect(), action)
