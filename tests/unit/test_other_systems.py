"""Elsewhere than on Linux: one line and code 2, or an error of the import."""

from __future__ import annotations

import pytest
from support.processes import run_python

from groute_py.system.linux import check_system

SAYS = "groute-py runs on Linux; on Windows use WSL2"


@pytest.mark.parametrize("platform", ["win32", "darwin", "cygwin"])
def test_the_import(platform: str) -> None:
    with pytest.raises(ImportError, match=SAYS):
        check_system(platform, ["python", "program.py"])


@pytest.mark.parametrize(
    "words",
    [
        ["python", "-m", "groute_py", "info"],
        ["python", "-mgroute_py"],
        ["python", "-m", "groute_py.launch"],
        ["python", r"C:\Scripts\groute-py.exe"],
        ["/usr/bin/python", "/usr/local/bin/groute-py"],
    ],
)
def test_the_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        check_system("win32", words)
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"groute-py: {SAYS} (this is win32)\n"


def test_linux() -> None:
    check_system("linux", ["python", "-m", "groute_py"])


def test_nothing_else_is_imported_before() -> None:
    """Modules such as fcntl, which are not there, would fail first."""
    code = (
        "import sys; sys.platform = 'win32'; sys.orig_argv = ['python', '-m', 'groute_py']\n"
        "for name in ('fcntl', 'resource', 'click', 'numpy'): sys.modules[name] = None\n"
        "from groute_py.__main__ import run\nrun()"
    )
    done = run_python(code)
    assert done.returncode == 2
    assert done.stderr == f"groute-py: {SAYS} (this is win32)\n"
