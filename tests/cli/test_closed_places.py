"""Files and folders that may not be used, and streams that do not take what is written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.one_error import Bad, check, quick

LONG = 260 * "a"
"""Longer than a name may be."""


def without_power(words: list[str]) -> list[str]:
    """As root, who may read and write everything: a command that may not."""
    if os.geteuid() != 0:
        return words
    if shutil.which("setpriv") is None:
        pytest.skip("root may read and write everything, and there is no setpriv")
    powers = "-dac_override,-dac_read_search"
    return ["setpriv", f"--inh-caps={powers}", f"--bounding-set={powers}", *words]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("sssp locked.gr", "locked.gr: cannot be read: Permission denied"),
        ("plot locked.gr -o out.png", "locked.gr: cannot be read: Permission denied"),
        ("sssp closed/it.gr", "closed/it.gr: cannot be read: Permission denied"),
        ("sssp road:5x5 -o locked/out.npz", "out.npz: cannot be written: Permission denied"),
        ("sssp road:5x5 -o closed/out.npz", "out.npz: cannot be written: Permission denied"),
        ("sssp road:5x5 --telemetry closed/t.csv", "t.csv: cannot be written: Permission denied"),
        ("sssp road:5x5 --coordinates closed/it.co", "it.co: no such file of coordinates"),
        ("apsp road:5x5 -o closed/out.npy", "out.npy: cannot be written: Permission denied"),
        ("apsp road:5x5 -o shut.npy --resume", "shut.npy.partial: cannot be used: Permission"),
        ("convert road:5x5 closed/out.gr", "out.gr: cannot be written: Permission denied"),
        ("verify road:5x5 closed/out.npz", "out.npz: cannot be read: Permission denied"),
        (f"sssp {LONG}.gr", f"{LONG}.gr: cannot be read: File name too long"),
        (f"sssp road:5x5 -o {LONG}.npz", "a.npz: cannot be written: File name too long"),
        (f"sssp road:5x5 --telemetry {LONG}", "a: cannot be written: File name too long"),
        (f"sssp road:5x5 --coordinates {LONG}", "a: no such file of coordinates"),
        (f"apsp road:5x5 -o {LONG[:250]}.npy", "a.npy.partial: cannot be used: File name too long"),
    ],
)
def test_no_permission(words: str, says: str, tmp_path: Path) -> None:
    """Folders that may not be written to or searched, and names that are too long."""
    (tmp_path / "locked").mkdir(mode=0o500)
    (tmp_path / "closed").mkdir(mode=0o000)
    (tmp_path / "shut.npy.partial").mkdir(mode=0o000)
    (tmp_path / "locked.gr").touch(mode=0o000)
    command = without_power([sys.executable, "-m", "groute_py", *words.split()])
    with quick():
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    check(Bad("", 2, says), done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("cache", ["closed/cache", LONG])
def test_a_cache_folder_that_cannot_be(cache: str, tmp_path: Path) -> None:
    """The doctor says so."""
    (tmp_path / "closed").mkdir(mode=0o000)
    command = without_power([sys.executable, "-m", "groute_py", "doctor", "--json"])
    environ = {**os.environ, "GROUTE_PY_CACHE": str(tmp_path / cache)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cache folder"]["state"] == "wrong"


@pytest.mark.parametrize("command", ["sssp road:5x5", "info road:5x5 --json", "algorithms"])
def test_stdout_that_is_full(command: str) -> None:
    words = [sys.executable, "-m", "groute_py", *command.split()]
    with quick(), open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "cannot write: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_streams_that_are_closed(closed: tuple[int, ...], tmp_path: Path) -> None:
    """What is written elsewhere is whole, and codes are the same."""
    output = tmp_path / "out.csv"
    ends = "".join(f" {number}{'<' if number == 0 else '>'}&-" for number in closed)
    for words, code in ((f"sssp road:5x5 -o {output}", 0), (f"sssp {tmp_path}/absent.gr", 2)):
        line = f"{sys.executable} -m groute_py {words}{ends}"
        done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
        assert done.returncode == code, done
        assert bool(done.stdout) == (code == 0 and 1 not in closed)
        assert bool(done.stderr) == (code == 2 and 2 not in closed)
    assert output.read_text().count("\n") == 26


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii"])
@pytest.mark.parametrize("words", ["sssp road:9x9", "algorithms", "sssp --help", "info road:9x9"])
def test_encodings_that_have_not_every_character(words: str, encoding: str) -> None:
    environ = {**os.environ, "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "groute_py", *words.split()]
    done = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_output_to_a_reader_who_has_gone() -> None:
    line = f"{sys.executable} -m groute_py sssp road:100x100 -o /dev/stdout --output-format csv"
    with subprocess.Popen(
        line.split(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.close()
        said = run.stderr.read()
    check(Bad("", 1, "/dev/stdout: cannot be written: Broken pipe"), run.returncode, "", said)
