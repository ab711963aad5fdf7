"""``groute-py doctor``: is everything in place, and if not, what to do."""

from __future__ import annotations

import faulthandler
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import click

from groute_py.cli import show
from groute_py.cli.options import json_option
from groute_py.cli.signals import on_signal
from groute_py.errors import RunError
from groute_py.system.environment import place

STDERR = 2  # the file descriptor of standard error

PATIENCE_S, LAST_RESORT_S = 20.0, 5.0
"""Ranks that have not answered by then will not; so much later where no signal is heard."""


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check versions, MPI, GPUs, peer access and caches, and say what to do about what is wrong.

    Run it the way the real job runs, also under mpirun or srun.
    """
    from groute_py.cli.doctor_checks import examine

    with _patience():
        findings = examine()
    if as_json:
        rows = {}
        for f in findings:
            rows[f.what] = {"state": f.state, "found": f.observation, "advice": f.advice}
            rows[f.what] |= {} if f.detail is None else {"detail": f.detail}
        show.answer(rows, as_json=True)
        return
    show.table(
        ["check", "state", "found", "advice"],
        [[f.what, f.state, f.observation, f.advice] for f in findings],
    )
    wrong = sum(f.state == "wrong" for f in findings)
    if place().rank == 0:
        click.echo(f"{wrong} of {len(findings)} checks need attention" if wrong else "all is well")


@contextmanager
def _patience() -> Iterator[None]:
    """End the process if the block takes too long.

    A blocking call, such as MPI's start, hears no signal and holds all of Python back; then a
    thread of C's shows where it hangs, and ends it.
    """

    def too_late() -> RunError:
        return RunError(
            f"not all ranks have answered within {PATIENCE_S:.0f} s; can the hosts reach each "
            "other, and is the MPI library the launcher's?"
        )

    on_signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    faulthandler.dump_traceback_later(PATIENCE_S + LAST_RESORT_S, exit=True, file=STDERR)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
