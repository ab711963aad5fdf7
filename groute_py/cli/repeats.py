"""The group of commands: it refuses repeated options, and lets a clock run.

An option with one value may be given once: of two values one would be lost without a word.
"""

from __future__ import annotations

from collections import Counter

import click

from groute_py.system.clock import Clock, current, running

REMEDIES = {
    "source": "for several sources use groute-py apsp --sources ID,ID,…",
    "sources": "name several sources in one value: --sources ID,ID,…",
}
"""What to do instead, by parameter; else to drop one."""


class Commands(click.Group):
    """A group whose commands refuse repeated options, and account for their time."""

    def invoke(self, ctx: click.Context) -> object:
        with running(current() or Clock("start")):
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, left = super().resolve_command(ctx, args)
        if command is not None:
            _refuse_repeats(click.Context(command, ctx, name), left)
        return name, command, left


def _refuse_repeats(context: click.Context, args: list[str]) -> None:
    """Raise `click.UsageError` for an option given more than once that takes one value."""
    _, _, order = context.command.make_parser(context).parse_args(args=list(args))
    for parameter, times in Counter(order).items():
        if not isinstance(parameter, click.Option) or times == 1:
            continue
        if parameter.multiple or parameter.is_flag or parameter.count:
            continue
        remedy = REMEDIES.get(parameter.name or "", "give it once")
        raise click.UsageError(f"{parameter.opts[-1]} was given {times} times; {remedy}", context)
