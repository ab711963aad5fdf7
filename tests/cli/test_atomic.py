"""Written files: links, modes, pipes and devices stay what they are."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support.graphs import graph_of

from groute_py import InputError, read_graph, write_graph
from groute_py.results.result import read_result
from groute_py.system.atomic_file import replacing

GRAPH = graph_of(2, [(0, 1, 5)])


def test_a_link_stays(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "g.gr", tmp_path / "there" / "real.gr"
    link.symlink_to(target)
    for _ in range(2):  # first it leads nowhere
        write_graph(GRAPH, link)
        assert link.is_symlink()
        assert list(target.parent.iterdir()) == [target]
        assert read_graph(target, cache=False).arc_count == 1


def test_the_mode_stays(tmp_path: Path) -> None:
    (tmp_path / "g.gr").touch(mode=0o600)
    write_graph(GRAPH, tmp_path / "g.gr")
    assert stat.S_IMODE((tmp_path / "g.gr").stat().st_mode) == 0o600


def test_a_system_that_links_no_file_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    (tmp_path / "g.gr").touch(mode=0o640)
    write_graph(GRAPH, tmp_path / "g.gr")
    assert read_graph(tmp_path / "g.gr", cache=False).arc_count == 1
    assert stat.S_IMODE((tmp_path / "g.gr").stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["g.gr"]


def test_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "g.gr")
    result: list[str] = []
    reader = threading.Thread(target=lambda: result.append((tmp_path / "g.gr").read_text()))
    reader.start()
    write_graph(GRAPH, tmp_path / "g.gr")
    reader.join()
    assert result == ["p sp 2 1\na 1 2 5\n"]
    assert (tmp_path / "g.gr").is_fifo()


def test_a_device() -> None:
    with replacing(Path("/dev/null")) as file:
        file.write(b"nothing")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_standard_output(tmp_path: Path, kind: str) -> None:
    code = (
        "from pathlib import Path; from groute_py.system.atomic_file import replacing\n"
        "with replacing(Path('/dev/stdout')) as file: file.write(b'said')"
    )
    command = [sys.executable, "-c", code]
    if kind == "pipe":
        assert subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout == b"said"
    else:
        with open(tmp_path / "out", "wb") as file:
            subprocess.run(command, stdout=file, check=True)
        assert (tmp_path / "out").read_bytes() == b"said"
        assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_standard_output_that_has_something_already(tmp_path: Path, mode: str) -> None:
    """It goes on there, and what the command itself has to say stands elsewhere."""
    (tmp_path / "out").write_text("before\n")
    words = "sssp road:2x1 -o /dev/stdout --output-format txt --device cpu --json"
    with open(tmp_path / "out", mode) as file:
        file.write(b"head\n")
        file.flush()
        done = subprocess.run(
            [sys.executable, "-m", "groute_py", *words.split()],
            stdout=file,
            stderr=subprocess.PIPE,
            check=True,
        )
    first = "before\nhead\n" if mode == "ab" else "head\n"
    text = (tmp_path / "out").read_text()
    assert text.startswith(f"{first}0 0\n1 ")
    assert text.count("\n") == first.count("\n") + 2
    assert json.loads(done.stderr)["output"] == "/dev/stdout"


@pytest.mark.parametrize(
    "job", ["nearest road:2x1 --facilities 0", "centrality closeness road:2x1"]
)
def test_a_job_whose_output_leads_to_standard_output(tmp_path: Path, job: str) -> None:
    (tmp_path / "out.csv").symlink_to("/dev/stdout")
    words = [*job.split(), "--device", "cpu", "-o", str(tmp_path / "out.csv")]
    for form in ([], ["--json"]):
        command = [sys.executable, "-m", "groute_py", *words, *form]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        assert done.stdout.startswith("vertex,")
        assert done.stdout.count("\n") == 3
        assert "out.csv" in done.stderr


@pytest.mark.parametrize(("suffix", "begin"), [(".npy", b"\x93NUMPY"), ("", b"vertex,")])
def test_the_suffix_of_what_leads_to_standard_output(
    tmp_path: Path, suffix: str, begin: bytes
) -> None:
    path = tmp_path / f"out{suffix}"
    path.symlink_to("/dev/stdout")
    command = [sys.executable, "-m", "groute_py", "sssp", "road:2x1", "--device", "cpu", "-o", path]
    assert subprocess.run(command, capture_output=True, check=True).stdout.startswith(begin)


@pytest.mark.parametrize("form", ["npz", "npy", "csv"])
@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_any_form_on_standard_output(tmp_path: Path, mode: str, form: str) -> None:
    """Writers that go back to put sizes into what they have written find that they cannot."""
    words = f"sssp road:9x9 --device cpu --output-format {form} -o"
    command = [sys.executable, "-m", "groute_py", *words.split()]
    with open(tmp_path / "out", mode) as file:
        subprocess.run([*command, "/dev/stdout"], stdout=file, stderr=subprocess.PIPE, check=True)
    piped = subprocess.run([*command, "/dev/stdout"], capture_output=True, check=True).stdout
    subprocess.run([*command, tmp_path / "right"], capture_output=True, check=True)
    if form != "npz":
        right = (tmp_path / "right").read_bytes()
        assert (tmp_path / "out").read_bytes() == piped == right
        return
    (tmp_path / "piped").write_bytes(piped)
    wanted = read_result(tmp_path / "right")
    for name in ("out", "piped"):
        result = read_result(tmp_path / name)
        np.testing.assert_array_equal(result.distances, wanted.distances)
        np.testing.assert_array_equal(result.predecessors, wanted.predecessors)


def test_standard_input_is_no_place_for_an_answer(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("mine")
    words = "sssp road:9x9 -o /dev/stdin --output-format csv"
    with open(tmp_path / "in") as file:
        done = subprocess.run(
            [sys.executable, "-m", "groute_py", *words.split()],
            stdin=file,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "/dev/stdin: cannot be written: it is open only to be read" in done.stderr
    assert (tmp_path / "in").read_text() == "mine"


def test_what_is_printed_comes_before(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from groute_py.system.atomic_file import replacing\n"
        "print('first')\n"
        "with replacing(Path('/dev/fd/1')) as file: file.write(b'second\\n')\n"
        "print('third')"
    )
    with open(tmp_path / "out", "wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert (tmp_path / "out").read_text().split() == ["first", "second", "third"]


def test_a_verilog_file_beside_an_edge_list(tmp_path: Path) -> None:
    """An ``.e`` has its vertices in a ``.v``, which may be something else."""
    (tmp_path / "g.v").write_text("module g; endmodule\n")
    with pytest.raises(InputError, match=r"g\.v is there already"):
        write_graph(GRAPH, tmp_path / "g.e")
    (tmp_path / "g.e").write_text("")
    with pytest.raises(InputError, match=r"g\.v is there already"):
        write_graph(GRAPH, tmp_path / "g.e")
    assert (tmp_path / "g.v").read_text() == "module g; endmodule\n"
    for _ in range(2):
        write_graph(GRAPH, tmp_path / "h.e")
    assert (tmp_path / "h.v").read_text() == "0\n1\n"
