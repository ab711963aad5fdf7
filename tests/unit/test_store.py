"""Parts of an answer in files: complete or cut off, whatever ends the run."""

from __future__ import annotations

import errno
import os
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.keeping import failing, write_at_once
from support.kept_rows import listing
from support.local_ranks import on_ranks

from groute_py import InputError, InterruptedRun, RunError, TimeLimitError
from groute_py.cli.outputs import stored
from groute_py.comm.base import SoloChannel
from groute_py.errors import GrouteError, signalled, too_late
from groute_py.many.storage import row_files, store
from groute_py.many.storage.folder import RunFolder
from groute_py.many.storage.store import Store

RUN = {"graph": "a", "sources": "b"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write each part when it comes."""
    write_at_once(monkeypatch)


def part(*units: int) -> dict[str, Any]:
    """Three arrays, of which two are of other lengths."""
    some = np.repeat(units, 2).astype(np.float32)
    return {"units": np.array(units), "some": some, "none": np.empty((0, 2), np.int32)}


def begun(folder: Path, *, resume: bool = False, **other: str) -> Store:
    opened = Store(folder / "out.csv", "sources", resume=resume, choices=other)
    opened.begin(SoloChannel(), lambda: RUN, 9)
    return opened


def run(folder: Path, *some: dict[str, Any], end: GrouteError) -> None:
    """A command that begins anew, adds parts, and ends with an error."""
    with stored(SoloChannel(), folder / "out.csv", "sources", resume=False) as opened:
        opened.begin(SoloChannel(), lambda: RUN, 9)
        for one in some:
            opened.add(**one)
        raise end


def units(opened: Store) -> list[int]:
    """Those of all parts."""
    assert all(one["none"].shape == (0, 2) for one in opened.parts)
    assert all(one["some"].dtype == np.float32 for one in opened.parts)
    listed = [unit for one in opened.parts for unit in one["units"].tolist()]
    assert sorted({*range(9)} - {*listed}) == opened.missing.tolist()
    return listed


def test_a_run_goes_on(tmp_path: Path) -> None:
    opened = begun(tmp_path)
    assert opened.parts == []
    for some in (part(4), part(1, 2)):
        opened.add(**some)
    opened.close()
    opened = begun(tmp_path, resume=True)
    assert units(opened) == [4, 1, 2]
    assert opened.state.startswith("3 of 9 sources are complete in")
    opened.add(**part(7))
    opened.close()
    opened = begun(tmp_path, resume=True)
    assert units(opened) == [4, 1, 2, 7]
    opened.replace(**part(8, 1))
    opened.close()
    opened = begun(tmp_path, resume=True)
    assert units(opened) == [8, 1]
    opened.finish()
    assert opened.state == f"all sources are in {tmp_path / 'out.csv'}"
    opened.close()
    opened.close()
    assert listing(tmp_path) == []


def test_a_run_without_a_complete_unit_leaves_nothing(tmp_path: Path) -> None:
    opened = begun(tmp_path)
    assert opened.state == "nothing was written"
    opened.close()
    assert listing(tmp_path) == []


def test_parts_wait_until_it_is_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "EVERY_S", 1000)
    opened = begun(tmp_path)
    opened.add(**part(4))
    assert opened.state == "nothing was written"
    monkeypatch.setattr(opened, "_due_s", 0)
    opened.add(**part(5))
    opened.close()
    monkeypatch.undo()
    assert units(begun(tmp_path, resume=True)) == [4, 5]


def test_what_waits_is_written_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "EVERY_S", 1000)
    with pytest.raises(InterruptedRun) as caught:
        run(tmp_path, part(4), part(5, 6), end=InterruptedRun("interrupted by SIGTERM"))
    folder = tmp_path / "out.csv.partial"
    state = f"3 of 9 sources are complete in {folder}; go on with --resume"
    assert str(caught.value) == f"interrupted; {state}"
    assert units(begun(tmp_path, resume=True)) == [4, 5, 6]


@pytest.mark.parametrize(("changing", "left"), [(False, [4, 5]), (True, [4])])
def test_the_last_state_is_written_at_the_end(
    tmp_path: Path, changing: bool, left: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it was about to change."""

    def interrupted() -> None:
        with stored(SoloChannel(), tmp_path / "out.csv", "sources", resume=False) as opened:
            opened.begin(SoloChannel(), lambda: RUN, 9)
            opened.replace(**part(4))
            monkeypatch.setattr(opened, "_due_s", np.inf)
            opened.replace(**part(4, 5))
            if changing:
                opened.withdraw()
            raise InterruptedRun("interrupted by SIGTERM")

    with pytest.raises(InterruptedRun, match=rf"interrupted; {len(left)} of 9"):
        interrupted()
    assert units(begun(tmp_path, resume=True)) == left


def test_an_interrupt_when_a_part_is_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there once: what was handed to the disk is not written again at the end."""
    written, calls = store.write_at, count(1)

    def interrupted(*arguments: Any) -> None:
        written(*arguments)
        if next(calls) == 2 * 4 * 2:  # of two parts: names and three arrays, with their heads
            raise InterruptedRun("interrupted by SIGTERM")

    monkeypatch.setattr(store, "write_at", interrupted)
    with pytest.raises(InterruptedRun, match="interrupted; 1 of 9"):
        run(tmp_path, part(4), part(5), part(6), end=too_late())
    assert units(begun(tmp_path, resume=True)) == [4, 5]


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
    monkeypatch.setattr(store, "EVERY_S", 1000)

    def finished() -> None:
        with stored(SoloChannel(), tmp_path / "out.csv", "sources", resume=False) as opened:
            opened.begin(SoloChannel(), lambda: RUN, 9)
            opened.add(**part(1))

    with pytest.raises(InterruptedRun, match=r"all sources are in .*out\.csv"):
        finished()
    assert listing(tmp_path) == []


def test_what_other_ranks_say(tmp_path: Path) -> None:
    """They see the folder, and not what is in it."""
    folder, path = tmp_path / "out.csv.partial", tmp_path / "out.csv"

    def work(channel: Any) -> list[str]:
        opened = Store(path, "sources")
        said = [opened.state]
        opened.begin(channel, lambda: RUN, 9)
        said.append(opened.state)
        channel.gather(None)
        if channel.rank == 0:
            opened.finish()
        channel.gather(None)
        opened.close()
        return [*said, opened.state]

    assert on_ranks(2, work)[1] == [
        "nothing was written",
        f"complete sources are in {folder}, or all in {path} once that is gone",
        f"all sources are in {path}, or none was complete",
    ]


def test_a_disk_that_is_full_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is that which ended the run."""

    monkeypatch.setattr(store, "EVERY_S", 1000)
    monkeypatch.setattr(store, "write_at", failing(errno.ENOSPC))
    with pytest.raises(TimeLimitError, match="; nothing was written"):
        run(tmp_path, part(4), end=too_late())
    assert listing(tmp_path) == []


@pytest.mark.parametrize("left", range(1, 900, 97))
def test_a_torn_part_is_cut_off(tmp_path: Path, left: int) -> None:
    opened = begun(tmp_path)
    (file,) = (tmp_path / "out.csv.partial").glob("parts-*")
    opened.add(**part(4))
    size = file.stat().st_size
    opened.add(**part(5, 6))
    opened.close()
    os.truncate(file, min(size + left, file.stat().st_size - 1))
    opened = begun(tmp_path, resume=True)
    assert units(opened) == [4]
    opened.add(**part(3))
    opened.close()
    assert units(begun(tmp_path, resume=True)) == [4, 3]


@pytest.mark.parametrize("verb", ["add", "replace"])
def test_a_full_disk(tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = begun(tmp_path)
    opened.add(**part(4))
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
            getattr(opened, verb)(**part(5))
    opened.close()
    assert units(begun(tmp_path, resume=True)) == [4]


def test_a_disk_that_is_full_at_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "write_run", failing(errno.ENOSPC))
    with pytest.raises(RunError, match="No space left on device; nothing was written"):
        begun(tmp_path)
    assert listing(tmp_path) == []


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no unfinished run to go on with"):
        begun(tmp_path, resume=True)
    first = begun(tmp_path)
    first.add(**part(4))
    with pytest.raises(InputError, match="another run is working on"):
        begun(tmp_path, resume=True)
    first.close()
    with pytest.raises(InputError, match="a run in which limits, sources differed"):
        begun(tmp_path, resume=True, sources="c", limits="5")
    (file,) = (tmp_path / "out.csv.partial").glob("parts-*")
    for damage in (part(9), {"some": np.zeros(1)}):
        with open(file, "wb") as content:
            for array in (np.array(list(damage)), *damage.values()):
                np.save(content, array)
        with pytest.raises(InputError, match=r"out.csv.partial is damaged; leave out --resume"):
            begun(tmp_path, resume=True)
    file.unlink()
    with pytest.raises(InputError, match=r"out.csv.partial is damaged; leave out --resume"):
        begun(tmp_path, resume=True)
