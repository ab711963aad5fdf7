"""``groute-py algorithms``: what each method can do."""

from __future__ import annotations

import json
from typing import Any

import click

from groute_py.cli.options import json_option
from groute_py.system.environment import place


@click.command()
@json_option
def algorithms(as_json: bool) -> None:
    """List the methods of sssp --algorithm: where they run, what weights they take, what they cost.

    n is the number of vertices and m that of arcs. A method that is not distributed runs on rank 0,
    and the other ranks wait.
    """
    from groute_py.algorithms.choose import algorithms

    rows = [
        {
            "algorithm": method.name,
            "devices": list(method.devices),
            "distributed": method.distributed,
            "weights": method.weights,
            "complexity": method.complexity,
            "summary": method.summary,
        }
        for method in algorithms().values()
    ]
    if as_json:
        if place().rank == 0:
            click.echo(json.dumps(rows))
        return
    if place().rank == 0:
        lines = [[_shown(value) for value in row.values()] for row in rows]
        click.echo("\n".join(_aligned([list(rows[0]), *lines])))


def _aligned(lines: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)
