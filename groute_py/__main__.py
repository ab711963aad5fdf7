"""``python -m groute_py`` is the ``groute-py`` command."""

from __future__ import annotations

import gc
import os
import signal
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130

NEW_OBJECTS = 20_000
"""So many new objects start a search for cycles. By Python's own number, 700 to 2000, imports are
searched hundreds of times for what is not there, a tenth of the time to start."""


def run() -> NoReturn:
    """Run the command line; a signal that comes while it is imported ends the process at once."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's handler prints a traceback
    from groute_py.system.environment import end_job

    def end(number: int, frame: FrameType | None) -> NoReturn:
        """End at once: nothing is open yet, and imports may drop what a handler raises."""
        end_job(INTERRUPTED)
        os._exit(INTERRUPTED)

    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, end)
    gc.set_threshold(NEW_OBJECTS)
    from groute_py.cli.main import main

    main()


if __name__ == "__main__":
    run()
