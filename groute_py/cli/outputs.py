"""The files of a command: none takes the place of another, and what is complete stays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groute_py.errors import InputError, InterruptedRun, RunError, TimeLimitError
from groute_py.system.paths import is_file_there, is_there
from groute_py.system.streams import own_descriptor

if TYPE_CHECKING:
    from groute_py.comm.base import Channel
    from groute_py.many.apsp import ManySources, Progress
    from groute_py.many.storage.store import Store
    from groute_py.results.attributes import Attributes

Files = Mapping[str, str | Path | None]
"""Files by what they are for."""


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
    for place, (what, name) in uses.items():
        if Path(place).is_relative_to(folder):
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
) -> Iterator[Store]:
    """Store complete units of an answer, as `Store`, until the block has written it. Collective.

    With ``keeps`` those of a run that ends early are kept, and its error says so.
    """
    from groute_py.comm.agree import on_root
    from groute_py.many.storage.store import Store

    store = Store(path, unit, resume=resume, choices=choices)
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
) -> dict[str, Any]:
    """Let rows stream to a file, and return what the answer says of them. Collective."""
    from groute_py.many import to_file

    with stored(channel, path, to_file.UNIT, resume=resume, keeps=keeps) as store:
        label = to_file.save_rows(channel, job, store, progress, attributes)
    return {"on": label, "solved_now": len(store.missing)}
