"""Parts of an answer in files: complete or cut off, whatever ends the run."""

from __future__ import annotations

import errno
import os
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.keeping import write_at_once
from support.kept_rows import listing

from groute_py import InputError, InterruptedRun, RunError, TimeLimitError
from groute_py.cli.resumable import parts_kept
from groute_py.comm.solo import SoloChannel
from groute_py.errors import GrouteError, signalled, too_late
from groute_py.many.storage import kept_parts, part_file, row_files
from groute_py.many.storage.folder import RunFolder
from groute_py.many.storage.kept_parts import KeptParts

RUN = {"graph": "a", "sources": "b"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write each part when it comes."""
    write_at_once(monkeypatch)


def part(*numbers: int) -> tuple[Any, ...]:
    """One of three arrays, of which two are of other lengths."""
    return np.array(numbers), np.repeat(numbers, 2).astype(np.float32), np.empty((0, 2), np.int32)


def begun(folder: Path, *, resume: bool = False, **other: str) -> tuple[KeptParts, list[Any]]:
    kept = KeptParts(folder / "out.csv", "sources", resume=resume)
    kept.begin(SoloChannel(), lambda: RUN | other, 9, 3)
    return kept, kept.parts


def run(folder: Path, *parts: tuple[Any, ...], end: GrouteError) -> None:
    """A command that begins anew, keeps parts, and ends with an error."""
    with parts_kept(SoloChannel(), folder / "out.csv", "sources", resume=False) as kept:
        kept.begin(SoloChannel(), lambda: RUN, 9, 3)
        for one in parts:
            kept.take(one)
        raise end


def numbers(parts: list[Any]) -> list[int]:
    assert all(found[2].shape == (0, 2) and found[1].dtype == np.float32 for found in parts)
    return [number for found in parts for number in found[0].tolist()]


def test_a_run_goes_on(tmp_path: Path) -> None:
    kept, parts = begun(tmp_path)
    assert parts == []
    for some in (part(4), part(1, 2)):
        kept.take(some)
    kept.close()
    kept, parts = begun(tmp_path, resume=True)
    assert numbers(parts) == [4, 1, 2]
    assert kept.state.startswith("3 of 9 sources are complete in")
    kept.take(part(7))
    assert kept.new == 1
    kept.close()
    kept, parts = begun(tmp_path, resume=True)
    assert numbers(parts) == [4, 1, 2, 7]
    kept.replace(part(8, 1))
    kept.close()
    kept, parts = begun(tmp_path, resume=True)
    assert numbers(parts) == [8, 1]
    kept.finish()
    assert kept.state == f"all sources are in {tmp_path / 'out.csv'}"
    assert listing(tmp_path) == []


def test_parts_wait_until_it_is_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_parts, "EVERY_S", 1000)
    kept, _ = begun(tmp_path)
    kept.take(part(4))
    kept.replace(part(4))
    assert kept.state.startswith("0 of 9")
    monkeypatch.setattr(kept, "_due_s", 0)
    kept.take(part(5))
    kept.close()
    monkeypatch.undo()
    assert numbers(begun(tmp_path, resume=True)[1]) == [4, 5]


def test_parts_that_wait_are_written_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_parts, "EVERY_S", 1000)
    with pytest.raises(InterruptedRun) as caught:
        run(tmp_path, part(4), part(5, 6), end=InterruptedRun("interrupted by SIGTERM"))
    folder = tmp_path / "out.csv.partial"
    state = f"3 of 9 sources are complete in {folder}; go on with --resume"
    assert str(caught.value) == f"interrupted; {state}"
    assert numbers(begun(tmp_path, resume=True)[1]) == [4, 5, 6]


def test_an_interrupt_when_a_part_is_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there once: what was handed to the disk is not written again at the end."""
    written, calls = part_file.write_at, count(1)

    def interrupted(*arguments: Any) -> None:
        written(*arguments)
        if next(calls) == 2 * 3 * 2:  # of two parts, of three arrays with their heads
            raise InterruptedRun("interrupted by SIGTERM")

    monkeypatch.setattr(part_file, "write_at", interrupted)
    with pytest.raises(InterruptedRun, match="interrupted; 1 of 9"):
        run(tmp_path, part(4), part(5), part(6), end=too_late())
    assert numbers(begun(tmp_path, resume=True)[1]) == [4, 5]


def test_an_interrupt_while_the_folder_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove, tries = RunFolder.remove, list[int]()

    def interrupted(folder: RunFolder) -> None:
        tries.append(1)
        if len(tries) == 1:
            folder.clear()
            raise signalled(InterruptedRun("interrupted by SIGINT; out.csv is complete"))
        remove(folder)

    monkeypatch.setattr(RunFolder, "remove", interrupted)
    monkeypatch.setattr(kept_parts, "EVERY_S", 1000)

    def finished() -> None:
        with parts_kept(SoloChannel(), tmp_path / "out.csv", "sources", resume=False) as kept:
            kept.begin(SoloChannel(), lambda: RUN, 9, 3)
            kept.take(part(1))

    with pytest.raises(InterruptedRun, match=r"all sources are in .*out\.csv"):
        finished()
    assert listing(tmp_path) == []


def test_a_disk_that_is_full_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is that which ended the run."""

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(kept_parts, "EVERY_S", 1000)
    monkeypatch.setattr(part_file, "write_at", full)
    with pytest.raises(TimeLimitError, match="; 0 of 9"):
        run(tmp_path, part(4), end=too_late())


@pytest.mark.parametrize("left", range(1, 600, 67))
def test_a_torn_part_is_cut_off(tmp_path: Path, left: int) -> None:
    kept, _ = begun(tmp_path)
    file = tmp_path / "out.csv.partial" / "parts"
    kept.take(part(4))
    size = file.stat().st_size
    kept.take(part(5, 6))
    kept.close()
    os.truncate(file, min(size + left, file.stat().st_size - 1))
    kept, parts = begun(tmp_path, resume=True)
    assert numbers(parts) == [4]
    kept.take(part(3))
    kept.close()
    assert numbers(begun(tmp_path, resume=True)[1]) == [4, 3]


@pytest.mark.parametrize("verb", ["take", "replace"])
def test_a_full_disk(tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, _ = begun(tmp_path)
    kept.take(part(4))
    written, pwrite = 0, os.pwrite

    def full(*arguments: Any) -> int:
        nonlocal written
        written += 1
        if written > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return pwrite(*arguments)

    with monkeypatch.context() as change:
        change.setattr(row_files.os, "pwrite", full)
        with pytest.raises(RunError, match=r"No space left .*; the sources that .* --resume"):
            getattr(kept, verb)(part(5))
    kept.close()
    assert numbers(begun(tmp_path, resume=True)[1]) == [4]


def test_a_disk_that_is_full_at_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(kept_parts, "write_run", full)
    with pytest.raises(RunError, match="No space left on device; nothing was written"):
        begun(tmp_path)
    assert listing(tmp_path) == []


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no unfinished run to go on with"):
        begun(tmp_path, resume=True)
    first, _ = begun(tmp_path)
    with pytest.raises(InputError, match="another run is working on"):
        begun(tmp_path, resume=True)
    first.close()
    with pytest.raises(InputError, match="a run in which limits, sources differed"):
        begun(tmp_path, resume=True, sources="c", limits="5")
    (tmp_path / "out.csv.partial" / "parts").unlink()
    with pytest.raises(InputError, match=r"out.csv.partial is damaged; leave out --resume"):
        begun(tmp_path, resume=True)
