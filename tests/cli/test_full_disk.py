"""A disk that is full: code 1 whatever is written, one message, and nothing half-written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.one_error import Bad, check
from support.processes import Job

ROOM = 64 << 10
FILLER = "filler"

OUTPUTS = [
    "sssp road:60x60 -o @out.npz",
    "sssp road:60x60 -o @out.npy",
    "sssp road:60x60 -o @out.csv",
    "apsp road:60x60 --sources 0,1 -o @out.npy",
    "apsp road:60x60 --sources 0,1 -o @out.npz",
    "sssp road:20x20 --telemetry @out.csv",
    "generate road:60x60 -o @out.gr",
    "generate road:60x60 -o @out.csr",
    "generate road:60x60 -o @out.csv.gz",
    "generate road:60x60 -o @out.e",
]


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file system of 64 KiB, where this process may have one."""
    if os.geteuid() != 0:
        pytest.skip("only root makes a small file system")
    folder = tmp_path_factory.mktemp("disk")
    words = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small file system here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("words", OUTPUTS)
def test_a_full_disk(words: str, ranks: int, disk: Path, groute: Job) -> None:
    old = disk / f"out{words.rpartition('@out')[2]}"
    old.write_text("what was there\n")
    with pytest.raises(OSError, match="No space left"):
        (disk / FILLER).write_bytes(bytes(ROOM))
    try:
        done = groute(*words.replace("@", f"{disk}/").split(), ranks=ranks)
        check(Bad(words, 1, str(old)), done.returncode, done.stdout, done.stderr)
        assert {path.name for path in disk.iterdir()} == {FILLER, old.name}
        assert old.read_text() == "what was there\n"
    finally:
        old.unlink(missing_ok=True)
