"""``python -m groute_py.launch -n 4 [--print] -- sssp usa.gr``: groute-py on four ranks.

The process becomes ``mpirun``, so that signals reach it and its exit code is the job's.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
from collections.abc import Sequence

from groute_py.errors import GrouteError
from groute_py.launch.mpirun import command, plan
from groute_py.system.environment import refuse_inside_a_job


def main(argv: Sequence[str] | None = None) -> int:
    """Start the job, or print its command line; returns only if it does not start."""
    parser = argparse.ArgumentParser(
        prog="python -m groute_py.launch",
        description="Run groute-py on several ranks of this machine.",
        epilog="example: python -m groute_py.launch -n 4 -- sssp road:200x200 --verify",
    )
    add = parser.add_argument
    add("-n", dest="ranks", metavar="RANKS", type=_ranks, required=True, help="processes to start")
    add("--print", action="store_true", help="print the command, start nothing")
    add("arguments", nargs=argparse.REMAINDER, metavar="-- ARGUMENTS", help="of groute-py")
    options = parser.parse_args(argv)
    program = options.arguments[options.arguments[:1] == ["--"] :]
    if not program:
        parser.error("nothing to run: say what after --, as in -n 4 -- sssp usa.gr")
    try:
        refuse_inside_a_job()
        words = command(plan(options.ranks, program))
    except GrouteError as error:
        print(f"groute-py: {error}", file=sys.stderr)
        return error.exit_code
    if options.print:
        print(shlex.join(words))
        return 0
    sys.stdout.flush()
    os.execv(words[0], words)


def _ranks(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: expected a positive whole number")


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # which prints a traceback
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
