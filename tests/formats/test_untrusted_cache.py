"""Cache folders that others can write to: only the user's own files are used and changed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.local_ranks import on_ranks
from support.processes import Job

from groute_py import Graph, InputError, read_graph, write_graph
from groute_py.errors import CacheWarning
from groute_py.graph.generate import generate
from groute_py.io import array_file, cache, cache_folder, datasets
from groute_py.io.formats import native
from groute_py.io.graph_file import GraphFile
from groute_py.source.graph_source import GraphSource, Mapped

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
STRANGER = 12345


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "there" / "g.gr"
    path.parent.mkdir()
    write_graph(generate("road:9x9"), path)
    return path


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own cache folder, which nobody has named."""
    folder = tmp_path / "own"
    result = replace(cache_folder.settings(), cache_folder=folder, cache_is_own=True)
    for module in (cache_folder, datasets):
        monkeypatch.setattr(module, "settings", lambda: result)
    return folder


def forged(text: Path, copy: Path) -> None:
    """Put another graph's copy in the place of a text's, with the right size and time."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    graph = generate("road:3x3")
    cache.Copy(text, copy, native).write(graph)


def same(graph: Graph, text: Path) -> bool:
    other = read_graph(text, cache=False)
    return np.array_equal(graph.heads, other.heads) and np.array_equal(graph.weights, other.weights)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_the_own_folder_is_closed(own: Path, text: Path) -> None:
    old = os.umask(0o002)
    try:
        read_graph(text, cache=True)
    finally:
        os.umask(old)
    assert [mode_of(folder) for folder in (own, own / "graphs")] == [0o700, 0o700]
    assert len(list((own / "graphs").iterdir())) == 1


@pytest.mark.parametrize("part", ["", "graphs"])
@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777, 0o1777])
def test_an_own_folder_that_others_can_write_to(
    own: Path, text: Path, part: str, mode: int
) -> None:
    (own / "graphs").mkdir(parents=True, mode=0o700)
    own.chmod(0o700)
    (own / part).chmod(mode)
    copy = own / "graphs" / cache.copy_name(text)
    forged(text, copy)
    before = copy.read_bytes()
    with pytest.warns(
        CacheWarning, match=r"others can write to the cache folder .*chmod go-w"
    ) as w:
        graph = read_graph(text, cache=True)
    assert len(w) == 1
    assert same(graph, text)
    assert copy.read_bytes() == before
    assert list(copy.parent.iterdir()) == [copy]


@root_only
@pytest.mark.parametrize("linked", [False, True])
def test_an_own_folder_of_somebody_else(own: Path, text: Path, *, linked: bool) -> None:
    """Also a link of somebody else that leads to a folder of the user."""
    if linked:
        (own.parent / "private").mkdir(mode=0o700)
        own.symlink_to(own.parent / "private")
        os.lchown(own, STRANGER, STRANGER)
    else:
        own.mkdir(mode=0o700)
        os.chown(own, STRANGER, STRANGER)
    with pytest.warns(CacheWarning, match="belongs to another user"):
        graph = read_graph(text, cache=True)
    assert same(graph, text)
    assert not list(own.iterdir())


def test_the_command_says_so_once(tmp_path: Path, text: Path) -> None:
    folder = tmp_path / "groute-py"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    environ = {k: v for k, v in os.environ.items() if k != "GROUTE_PY_CACHE"}
    code = (
        "import groute_py.io.cache as c; c.LARGE_PLAIN = 1\n"
        "import sys; from groute_py.cli.main import main; sys.argv = sys.argv[:1] + sys.argv[1:]\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "info", str(text)],
        env={**environ, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("groute-py: no copy of a graph is kept or used: others can write")
    assert done.stderr.count("\n") == 1
    assert not list(folder.iterdir())


@root_only
def test_a_copy_of_somebody_else_is_not_believed(tmp_path: Path, text: Path) -> None:
    kept = tmp_path / "kept"
    copy = kept / cache.copy_name(text)
    forged(text, copy)
    assert not same(read_graph(text, cache=kept), text)  # by ourselves it would be believed
    os.chown(copy, STRANGER, STRANGER)
    assert GraphFile(text, cache=kept).native() is None
    assert same(read_graph(text, cache=kept), text)
    assert copy.lstat().st_uid == 0


def test_a_link_is_not_followed(tmp_path: Path, text: Path) -> None:
    """Neither to read a copy nor to write one."""
    kept, mine = tmp_path / "kept", tmp_path / "mine"
    copy = kept / cache.copy_name(text)
    forged(text, mine)
    before = mine.read_bytes()
    kept.mkdir()
    copy.symlink_to(mine)
    assert GraphFile(text, cache=kept).native() is None
    assert same(read_graph(text, cache=kept), text)
    assert mine.read_bytes() == before
    assert not copy.is_symlink()
    assert same(read_graph(text, cache=kept), text)


def test_a_pipe_where_the_copy_would_be(tmp_path: Path, text: Path) -> None:
    (tmp_path / "kept").mkdir()
    os.mkfifo(tmp_path / "kept" / cache.copy_name(text))
    assert same(read_graph(text, cache=tmp_path / "kept"), text)


def test_a_folder_within_that_is_a_link(
    own: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = replace(cache_folder.settings(), cache_is_own=False)
    monkeypatch.setattr(cache_folder, "settings", lambda: result)
    own.mkdir()
    (own.parent / "mine").mkdir()
    (own / "graphs").symlink_to(own.parent / "mine")
    with pytest.warns(CacheWarning, match="graphs: is a link, which is not followed"):
        read_graph(text, cache=True)
    assert not list((own.parent / "mine").iterdir())


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_any_damage_of_a_copy_is_found(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the damaged file would still be a graph."""
    monkeypatch.setattr(array_file, "BLOCK", 100)
    read_graph(text, cache=tmp_path / "kept")
    (copy,) = (tmp_path / "kept").iterdir()
    whole = copy.read_bytes()
    contents = cache.map_copy(copy)
    for place in range(0, len(contents.digested), 97):
        flip(copy, place)
        assert same(read_graph(text, cache=tmp_path / "kept"), text)
        assert copy.read_bytes() == whole
    weights = whole.index(contents.weights.tobytes())
    flip(copy, weights)
    with pytest.raises(InputError, match="damaged native graph: its content does not have its dig"):
        read_graph(copy)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_damage_on_ranks(
    tmp_path: Path, text: Path, ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One rank finds it, and all read the text."""
    monkeypatch.setattr(array_file, "BLOCK", 100)
    read_graph(text, cache=tmp_path / "kept")
    (copy,) = (tmp_path / "kept").iterdir()
    flip(copy, len(cache.map_copy(copy).digested) // 2)

    def work(channel: object) -> tuple[type, int]:
        supply = GraphSource(text, cache=tmp_path / "kept").supply(channel)  # type: ignore[arg-type]
        return type(supply), supply.facts(channel).arc_count  # type: ignore[arg-type]

    expected = read_graph(text, cache=False).arc_count
    for kind, arcs in on_ranks(ranks, work):
        assert kind is not Mapped
        assert arcs == expected
    again = on_ranks(ranks, work)
    assert {arcs for _, arcs in again} == {expected}
    assert all((kind is Mapped) == (ranks > 1) for kind, _ in again)


@pytest.mark.parametrize(
    ("source", "most"), [(0o600, 0o600), (0o640, 0o640), (0o604, 0o600), (0o644, 0o644)]
)
@pytest.mark.parametrize("umask", [0o002, 0o022, 0o077])
def test_a_copy_has_at_most_the_rights_of_its_source(
    tmp_path: Path, text: Path, source: int, most: int, umask: int
) -> None:
    text.chmod(source)
    old = os.umask(umask)
    try:
        read_graph(text, cache=tmp_path / "kept")
    finally:
        os.umask(old)
    (copy,) = (tmp_path / "kept").iterdir()
    assert mode_of(copy) == most & ~umask
    assert GraphFile(text, cache=tmp_path / "kept").native() == copy


@root_only
def test_a_group_that_the_source_does_not_have(tmp_path: Path, text: Path) -> None:
    text.chmod(0o640)
    (tmp_path / "kept").mkdir()
    os.chown(tmp_path / "kept", -1, STRANGER)
    (tmp_path / "kept").chmod(0o2770)  # files in it get its group
    read_graph(text, cache=tmp_path / "kept")
    (copy,) = (tmp_path / "kept").iterdir()
    assert copy.lstat().st_gid == STRANGER
    assert mode_of(copy) == 0o600


def test_a_source_that_is_closed_later(tmp_path: Path, text: Path) -> None:
    read_graph(text, cache=tmp_path / "kept")
    (copy,) = (tmp_path / "kept").iterdir()
    assert mode_of(copy) & 0o077
    text.chmod(0o600)
    assert GraphFile(text, cache=tmp_path / "kept").native() is None
    read_graph(text, cache=tmp_path / "kept")
    assert mode_of(copy) == 0o600


def _part(folder: Path) -> Path:
    return folder / "datasets" / "USA-road-d.W.gr.gz.part"


def _file(folder: Path) -> Path:
    return folder / "datasets" / "USA-road-d.W.gr.gz"


@pytest.mark.parametrize("place", [_part, _file])
def test_a_link_where_a_download_would_be(own: Path, place: Callable[[Path], Path]) -> None:
    (own / "datasets").mkdir(mode=0o700, parents=True)
    own.chmod(0o700)
    (own.parent / "mine").write_text("mine")
    place(own).symlink_to(own.parent / "mine")
    with pytest.raises(InputError, match="is a link or no plain file of yours"):
        datasets.fetch("dimacs:W")
    assert (own.parent / "mine").read_text() == "mine"
    assert place(own).is_symlink()


@root_only
@pytest.mark.parametrize("place", [_part, _file])
def test_a_download_of_somebody_else(own: Path, place: Callable[[Path], Path]) -> None:
    (own / "datasets").mkdir(mode=0o700, parents=True)
    own.chmod(0o700)
    place(own).write_text("theirs")
    os.chown(place(own), STRANGER, STRANGER)
    with pytest.raises(InputError, match="no plain file of yours"):
        datasets.fetch("dimacs:W")
    assert place(own).read_text() == "theirs"


def test_no_download_into_a_folder_that_others_can_write_to(own: Path) -> None:
    own.mkdir()
    own.chmod(0o777)
    with pytest.raises(InputError, match="others can write to the cache folder"):
        datasets.fetch("dimacs:W")
    assert not list(own.iterdir())


def test_the_doctor_leaves_nothing_through_a_link(tmp_path: Path, groute: Job) -> None:
    environ = {"GROUTE_PY_CACHE": "", "XDG_CACHE_HOME": str(tmp_path)}
    (tmp_path / "groute-py").mkdir()
    (tmp_path / "groute-py").chmod(0o777)
    done = groute("doctor", "--json", **environ)
    assert done.returncode == 0
    assert "others can write to the cache folder" in done.stdout
    assert not list((tmp_path / "groute-py").iterdir())
