"""A run's claim on the folder OUT.partial beside its output, and what is said when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groute_py.errors import InputError, RunError
from groute_py.many.storage.folder import RunFolder, unusable
from groute_py.many.storage.record import nothing_to_resume
from groute_py.system.atomic_file import FULL
from groute_py.system.file_lock import LockedError


def folder_of(path: Path) -> Path:
    """The folder of an output."""
    return path.with_name(path.name + ".partial")


def claimed(path: Path, *, resume: bool) -> RunFolder:
    """The folder of an output, there and in nobody else's hands.

    Args:
        path: OUT.
        resume: it has to be there; else it is made where there is none.

    Raises:
        InputError: there is nothing to go on with, another run is working on it, or the folder is
            not a run's.
        RunError: the disk is full.
    """
    folder = folder_of(path)
    try:
        return RunFolder(folder, create=not resume)
    except LockedError:
        raise InputError(
            f"{folder}: another run is working on {path}; wait for it, or name another --output"
        ) from None
    except OSError as problem:
        if resume and isinstance(problem, FileNotFoundError):
            raise nothing_to_resume(folder) from None
        if problem.errno in FULL:
            raise nothing_written(folder, problem) from problem
        raise unusable(folder, problem) from problem


def nothing_written(folder: Path, problem: OSError) -> RunError:
    """The error for a run that could not begin."""
    return RunError(f"{folder}: {problem.strerror or problem}; nothing was written")


def taken_over(folder: Path, path: Path, what: str) -> RunError:
    """The error for a folder that is another run's by now, which only disks without locks allow."""
    return RunError(
        f"{folder}: another run has begun on {path} meanwhile; this one's {what} are lost: give "
        "each run an output of its own"
    )


@contextmanager
def kept_in(folder: Path, what: str) -> Iterator[None]:
    """Let a system error in the block be a `RunError` that says what stays in the folder."""
    try:
        yield
    except OSError as problem:
        raise RunError(
            f"{folder}: {problem.strerror or problem}; {what} stay there: make room, and go on "
            "with --resume"
        ) from problem
