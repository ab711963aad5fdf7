"""``python -m groute_py`` is the ``groute-py`` command."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130


def run() -> NoReturn:
    """Run the command line; a signal that comes while it is imported ends the process at once."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, _end)
    from groute_py.cli.main import main

    main()


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """Nothing is open yet; what is raised while modules are imported may be dropped."""
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    run()
