"""``groute-py doctor``: is everything in place, and if not, what to do."""

from __future__ import annotations

import click

from groute_py.cli import show
from groute_py.cli.options import json_option
from groute_py.environment import place


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check versions, MPI, GPUs, peer access and caches, and say what to do about what is wrong.

    Run it the way the real job runs, also under mpirun or srun.
    """
    from groute_py.doctor import examine

    findings = examine()
    if as_json:
        rows = {f.what: {"state": f.state, "found": f.found, "advice": f.advice} for f in findings}
        show.answer(rows, as_json=True)
        return
    show.table(
        ["check", "state", "found", "advice"],
        [[f.what, f.state, f.found, f.advice] for f in findings],
    )
    wrong = sum(f.state == "wrong" for f in findings)
    if place().rank == 0:
        click.echo(f"{wrong} of {len(findings)} checks need attention" if wrong else "all is well")
