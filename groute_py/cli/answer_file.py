"""The place of an answer: a file, or standard output by way of a draft."""

from __future__ import annotations

import csv
import shutil
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import click

from groute_py.cli import show
from groute_py.errors import InputError
from groute_py.system.atomic_file import translating_errors
from groute_py.system.environment import place
from groute_py.system.streams import is_stdout

STDOUT = "/dev/stdout"

TEXTS = (".csv", ".json", ".geojson")
"""Forms that a terminal can show."""

MOST_LINES = 40
"""Lines of a table that are shown on a terminal."""


class AnswerFile:
    """The file that a command is asked for; standard output gets it once it is complete.

    Args:
        output: the file's name, ``-`` for standard output, or None.
        form: of standard output, such as ``csv``; None for a table on a terminal, else ``csv``.
        shows: whether a command without ``output`` shows its table.
        drafts: whether what goes to standard output is written into a draft before.

    Attributes:
        name: of the file, or of standard output; None for no file.
        file: where the answer is to be written.
        is_piped: standard output gets the answer.
    """

    def __init__(
        self, output: str | None, form: str | None, *, shows: bool = False, drafts: bool = True
    ) -> None:
        self._shows_table = output is None and form is None and is_terminal()
        if output == "-" or (output is None and (shows or form is not None)):
            output = STDOUT
        self.name, self.is_piped = output, is_stdout(output) and not Path(str(output)).suffix
        self._output, self._form = output, form
        self.file, self._drafts = Path(output or ""), drafts and self.is_piped
        if self._drafts:
            self.file = self._folder() / f"answer.{form or 'csv'}"

    def check(self, check: Callable[[], object]) -> None:
        """Raise `InputError` for a form that does not suit; errors of ``check`` name no draft."""
        if self._form is not None and not self.is_piped:
            raise InputError(f"{self._output}: its suffix says the form; leave out --format")
        is_binary = self._drafts and self.file.suffix not in TEXTS
        if is_binary and is_terminal():
            raise InputError(f"{self.file.suffix} is not for a terminal; name a file by --output")
        if self._drafts and self.file.suffix == ".zarr":
            raise InputError("--format zarr: it is a folder; name it by --output")
        try:
            check()
        except InputError as error:
            if self._drafts:
                form = f"--format {self._form or 'csv (the default)'}"
                error.args = (str(error).replace(str(self.file), form),)
            raise

    def deliver(self) -> None:
        """Print the answer, if standard output gets it."""
        if not self._drafts:
            return
        if self._shows_table:
            self._show()
            return
        sys.stdout.flush()
        with translating_errors(Path(STDOUT)), open(self.file, "rb") as file:
            shutil.copyfileobj(file, cast(Any, sys.stdout.buffer))
            sys.stdout.buffer.flush()

    def _show(self) -> None:
        with open(self.file, encoding="utf-8", newline="") as file:
            lines = csv.reader(file)
            titles, rows = next(lines), list(islice(lines, MOST_LINES))
            more = sum(1 for _ in lines)
        show.table(titles, rows)
        if more:
            show.note(f"{more:,} lines more; name a file by --output, or pipe them")

    def _folder(self) -> Path:
        """A folder of its own on rank 0, until the command ends."""
        if place().rank > 0:
            return Path()
        return Path(click.get_current_context().with_resource(TemporaryDirectory()))


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()
