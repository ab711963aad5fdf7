"""Commands run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from click.testing import CliRunner, Result

from groute_py.cli.main import commands

Run = Callable[..., Result]


def run_command(*words: object) -> Result:
    """Run a command; an error is raised here."""
    done = CliRunner().invoke(commands, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def as_json(done: Result) -> dict[str, Any]:
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert isinstance(result, dict)
    return result
