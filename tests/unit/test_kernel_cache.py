"""A home that cannot be written does not keep CuPy from being imported."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from groute_py.device import kernel_cache
from groute_py.device.kernel_cache import find_kernel_cache
from groute_py.device.registry import gpu_problem
from groute_py.errors import CacheWarning
from groute_py.system.settings import cupy_cache

VARIABLE = "CUPY_CACHE_DIR"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a user who has CuPy, and has not imported it; what is set is forgotten."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(VARIABLE, "")  # it is restored afterwards
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(kernel_cache, "find_spec", lambda name: name)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    return tmp_path


def found() -> str | None:
    """The folder that is named to CuPy."""
    find_kernel_cache()
    return os.environ.get(VARIABLE)


def test_where_it_can_be_written_it_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found() is None
    assert (home / ".cupy/kernel_cache").is_dir()
    monkeypatch.setenv(VARIABLE, str(home / "named"))
    assert found() == str(home / "named")


def replaced(reason: str) -> None:
    with pytest.warns(CacheWarning, match=reason) as said:
        folder = found()
    assert len(said) == 1
    assert folder is not None
    assert Path(folder).stat().st_mode & 0o777 == 0o700
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found() == folder


def test_no_folder_can_be_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("HOME", str(home / "file"))
    replaced(r"file/\.cupy/kernel_cache cannot be written \(Not a directory\); CUPY_CACHE_DIR")


def test_no_file_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(dir: str) -> Any:
        if dir == cupy_cache() and VARIABLE not in os.environ:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return open(os.devnull)

    monkeypatch.setattr(kernel_cache, "TemporaryFile", refuse)
    replaced(r"\(Read-only file system\)")


def test_one_that_is_named_cannot_be_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(home / "file" / "cache"))
    replaced("file/cache cannot be written")


def test_a_name_is_taken_as_cupy_takes_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv(VARIABLE, "~/cache")
    assert found() == "~/cache"
    assert (home / "~/cache").is_dir()
    assert not (home / "cache").exists()


def test_an_empty_name_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    replaced(r"only: '' cannot be written \(No such file or directory\)")


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(path: Path) -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "expanduser", homeless)
    replaced("Not a directory")


def test_without_cupy_nothing_is_looked_at(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "find_spec", lambda _: None)
    assert found() is None
    assert not (home / ".cupy").exists()


CUPY = """
import os
usual = os.path.expanduser("~/.cupy/kernel_cache")
os.makedirs(os.environ.get("CUPY_CACHE_DIR", usual), exist_ok=True)
class cuda:
    class runtime:
        CUDARuntimeError = RuntimeError
        getDeviceCount = staticmethod(lambda: 0)
"""
"""What it does when it is imported."""

SCRIPT = """
import os
from groute_py.device.registry import gpu_problem
print(gpu_problem())
print(os.environ.get("CUPY_CACHE_DIR"))
"""


def test_it_is_imported(home: Path) -> None:
    (home / "cupy.py").write_text(CUPY)
    (home / "file").write_text("")
    named = {"HOME": str(home / "file"), "PYTHONPATH": str(home)}
    words = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(words, env=os.environ | named, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    problem, folder = done.stdout.splitlines()
    assert problem.startswith("CUDA sees no GPU")
    assert "groute-py-cupy-" in folder
    assert not Path(folder).exists()  # once the process has ended


def test_no_folder_at_all(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(prefix: str) -> str:
        raise FileNotFoundError("no usable temporary directory")

    (home / "file").write_text("")
    monkeypatch.setenv("HOME", str(home / "file"))
    monkeypatch.setattr(kernel_cache, "mkdtemp", refuse)
    problem = gpu_problem.__wrapped__()
    assert problem == (
        "CuPy finds no folder to write to (no usable temporary directory); "
        "set CUPY_CACHE_DIR to one"
    )


def test_a_library_that_cupy_cannot_load(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "cupy.py").write_text("raise OSError('libnvrtc.so: cannot open')")
    monkeypatch.syspath_prepend(home)
    problem = gpu_problem.__wrapped__()
    assert problem.startswith("CuPy cannot be imported (libnvrtc.so: cannot open); pip install")
