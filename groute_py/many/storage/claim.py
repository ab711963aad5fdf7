"""The claim of a run on the folder beside its output, and how a run begins there."""

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
    """The folder OUT.partial of an output."""
    return path.with_name(path.name + ".partial")


def state_seen(path: Path, unit: str) -> str:
    """How far a run has come, in words, as other ranks than the one that writes see it.

    That one may be about to remove the folder.

    Args:
        path: OUT.
        unit: what is counted, such as ``rows``.
    """
    folder = folder_of(path)
    if not folder.exists():
        return f"all {unit} are in {path}"
    return f"complete {unit} are kept in {folder}, or all in {path} once that is gone"


def claimed(path: Path, *, resume: bool) -> RunFolder:
    """The folder of an output, there and in nobody else's hands.

    Args:
        path: OUT.
        resume: it has to be there; else it is made where there is none.

    Raises:
        InputError: there is nothing to go on with, another run is working on it, or it is not a
            run's.
        RunError: the disk is full, or fails.
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
            raise _nothing_written(folder, problem) from problem
        raise unusable(folder, problem) from problem


@contextmanager
def beginning(folder: RunFolder) -> Iterator[None]:
    """Clear the folder for a run that begins in the block, and remove it if that fails.

    Raises:
        RunError: the disk is full, or fails.
    """
    try:
        folder.clear()
        yield
    except BaseException as problem:  # a signal as well: room without a run is of no use
        folder.remove()
        if not isinstance(problem, OSError):
            raise
        raise _nothing_written(folder.path, problem) from problem


@contextmanager
def keeping(folder: Path, what: str) -> Iterator[None]:
    """Let what the disk says in the block be an error that says how to go on.

    Args:
        folder: where complete work is kept.
        what: that work, such as ``rows``.

    Raises:
        RunError: the disk is full, or fails.
    """
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise RunError(
            f"{folder}: {reason}; the {what} that are finished stay there: make room, and go on "
            "with --resume"
        ) from problem


def taken_over(folder: Path, path: Path, what: str) -> RunError:
    """The error for a folder that is another run's by now, which only disks without locks allow."""
    return RunError(
        f"{folder}: another run has begun on {path} meanwhile; this one's {what} are lost: give "
        "each run an output of its own"
    )


def _nothing_written(folder: Path, problem: OSError) -> RunError:
    return RunError(f"{folder}: {problem.strerror or problem}; nothing was written")
