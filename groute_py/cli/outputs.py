"""The files of a command: none replaces another, and what is complete stays; standard output."""

from __future__ import annotations

import csv
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

import click

from groute_py.cli import show
from groute_py.errors import InputError, InterruptedRun, RunError, TimeLimitError
from groute_py.system.atomic_file import translating_errors
from groute_py.system.environment import place
from groute_py.system.paths import is_file_there, is_stdout, is_there, own_descriptor

if TYPE_CHECKING:
    from groute_py.comm.base import Channel
    from groute_py.many.apsp import ManySources
    from groute_py.many.delivery import Progress
    from groute_py.many.storage.store import RunPart, Store
    from groute_py.results.tables import Attributes

Files = Mapping[str, str | Path | None]  # files by what they are for


def check_outputs_apart(inputs: Files, outputs: Files) -> None:
    """Raise `InputError` if an output would replace an input or another output.

    Two inputs may be one file. Files that are read without being named count too, as does the
    folder OUT.partial of each output.
    """
    uses: dict[str, tuple[str, Path]] = {}
    for what, path in _with_companions(inputs):
        uses.setdefault(os.path.realpath(path), (what, path))
    for what, path in _replaceable(outputs):
        before, _ = uses.setdefault(os.path.realpath(path), (what, path))
        if before != what:
            raise InputError(f"{path}: is both {before} and {what}; name another file")
    for what, path in _replaceable(outputs):
        _check_folder_free(what, path, uses)


def _check_folder_free(output: str, path: Path, uses: Mapping[str, tuple[str, Path]]) -> None:
    """Raise `InputError` if a file is, or lies in, what ``--resume`` would go on with."""
    from groute_py.many.storage.folder import folder_of

    folder = os.path.realpath(folder_of(path))
    for folder_or_file, (what, name) in uses.items():
        if Path(folder_or_file).is_relative_to(folder):
            other = f"part of the unfinished work of {output}"
            raise InputError(f"{name}: is both {what} and {other}; name another file")


def _with_companions(files: Files) -> Iterator[tuple[str, Path]]:
    from groute_py.io.companions import companion_names

    for what, path in _replaceable(files):
        yield what, path
        for name, holds in companion_names(path).items():
            yield f"the {holds} of {what}", name


def _replaceable(files: Files) -> Iterator[tuple[str, Path]]:
    """Yield the files that are named, without pipes and devices, which no output replaces."""
    for what, name in files.items():
        if name is None or own_descriptor(Path(name)) is not None:
            continue
        if is_file_there(name) or not is_there(name):
            yield what, Path(name)


@contextmanager
def stored(
    channel: Channel,
    path: Path,
    unit: str,
    *,
    resume: bool,
    choices: Mapping[str, Any] | None = None,
    keeps: bool = True,
    part: RunPart | None = None,
) -> Iterator[Store]:
    """Store complete units of an answer, as `Store`, until the block has written it. Collective.

    With ``keeps`` those of a run that ends early are kept, and its error says so.
    """
    from groute_py.comm.agree import on_root
    from groute_py.many.storage.store import Store

    store = Store(path, unit, resume=resume, choices=choices, part=part)
    try:
        yield store
        on_root(channel, store.finish)
    except (InterruptedRun, TimeLimitError) as end:
        if not keeps:
            raise
        with suppress(RunError):  # what ends the run is the error
            store.flush()
        is_late = isinstance(end, TimeLimitError)
        why = str(end).partition("; ")[0] if is_late else "interrupted"
        end.args = (f"{why}; {store.state}",)
        raise
    finally:
        store.close()


def save_rows(
    channel: Channel,
    job: ManySources,
    path: Path,
    resume: bool,
    progress: Progress | None,
    attributes: Attributes | None = None,
    *,
    keeps: bool = True,
    part: RunPart | None = None,
) -> dict[str, Any]:
    """Let rows stream to a file, and return what the answer says of them. Collective."""
    from groute_py.many import to_file

    with stored(channel, path, to_file.UNIT, resume=resume, keeps=keeps, part=part) as store:
        label = to_file.save_rows(channel, job, store, progress, attributes)
        state = {"rows": store.state} if part is not None else {}
    return {"on": label, "solved_now": len(store.missing)} | state


STDOUT = "/dev/stdout"

TEXTS = (".csv", ".json", ".geojson")  # forms that a terminal can show
MOST_LINES = 40  # lines of a table that are shown on a terminal


class AnswerFile:
    """The file that a command is asked for; standard output gets it once it is complete.

    Its ``name`` is None for no file, and ``file`` is where the answer is to be written. Without an
    ``output`` a command that ``shows`` prints a table on a terminal. With ``drafts`` the answer for
    standard output is written into a draft before.
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
            if titles[-1] == "attribution":  # which the answer below has too
                titles, rows = titles[:-1], [row[:-1] for row in rows]
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
