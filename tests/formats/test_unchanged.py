"""A native file that is read again: checked anew only where it may have changed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import groute_py
from groute_py import FormatError, generate, read_graph, write_graph
from groute_py.graph import check_arrays, csr
from groute_py.io import unchanged

LONG_AGO_NS = 10**18


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that has lain there for long, on a disk; nothing has been read."""
    monkeypatch.setattr(unchanged, "_last", None)
    monkeypatch.setattr(unchanged, "file_system", lambda _: "ext4")
    monkeypatch.setattr(unchanged, "SETTLED_S", 0.0)
    path = tmp_path / "road.csr"
    write_graph(generate("road:9x9"), path)
    settle(path)
    return path


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The arcs that are checked, or weighed, each time."""
    found: list[int] = []

    def noted(heads: np.ndarray, *words: object) -> None:
        found.append(len(heads))
        check_arrays.check_arcs(heads, *words)  # type: ignore[arg-type]

    def weighed(graph: csr.Graph) -> object:
        found.append(graph.arc_count)
        return facts_of(graph)

    facts_of = unchanged.facts_of
    monkeypatch.setattr(csr, "check_arcs", noted)
    monkeypatch.setattr(unchanged, "facts_of", weighed)
    return found


def settle(path: Path) -> None:
    """Set the time of its last change back, as `cp -p` does."""
    os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))


def change(path: Path, old: int, new: int) -> None:
    """Change an int32 in place."""
    content = path.read_bytes()
    words = [np.int32(value).tobytes() for value in (old, new)]
    assert words[0] in content
    with path.open("r+b") as file:
        file.write(content.replace(*words, 1))


def test_a_file_that_stays_is_checked_once(path: Path, checks: list[int]) -> None:
    answers = [groute_py.sssp(path, 1, device="cpu").distances.tolist() for _ in range(3)]
    assert answers[1:] == answers[:1] * 2
    assert len(checks) == 2  # when it was read, and for its facts
    assert read_graph(path) is read_graph(path)


@pytest.mark.parametrize("settled", [True, False])
def test_a_file_that_changes_is_checked_again(path: Path, settled: bool) -> None:
    graph, before = read_graph(path), path.stat()
    change(path, int(graph.heads[-1]), 1 << 30)
    if settled:
        settle(path)
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # a coarse clock
        settle(path)
    assert (path.stat().st_mtime_ns == before.st_mtime_ns) == settled
    with pytest.raises(FormatError, match="leads to vertex 1073741824"):
        read_graph(path)


def test_what_replaces_a_file_is_checked(path: Path) -> None:
    before = read_graph(path)
    write_graph(generate("road:9x8"), path)
    settle(path)
    now = read_graph(path)
    assert now is not before
    assert now.weights.tolist() == generate("road:9x8").weights.tolist()


def test_another_file_takes_its_place(path: Path, tmp_path: Path, checks: list[int]) -> None:
    write_graph(generate("road:5x5"), tmp_path / "other.csr")
    settle(tmp_path / "other.csr")
    for _ in range(2):
        assert read_graph(path).vertex_count == 81
        assert read_graph(tmp_path / "other.csr").vertex_count == 25
    assert len(set(checks)) == 2
    assert len(checks) >= 4


@pytest.mark.parametrize("kind", ["tmpfs", "overlay", "nfs4", ""])
def test_elsewhere_nothing_counts(kind: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change through a mapping may leave no trace."""
    monkeypatch.setattr(unchanged, "file_system", lambda _: kind)
    assert read_graph(path) is not read_graph(path)


@pytest.mark.parametrize("set_back", [True, False])
def test_a_file_that_was_just_changed_does_not_count(
    path: Path, set_back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unchanged, "SETTLED_S", 60.0)
    if set_back:
        settle(path)
    else:
        os.utime(path)
    assert read_graph(path) is not read_graph(path)


def test_where_mounts_cannot_be_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> str:
        raise PermissionError

    monkeypatch.setattr(unchanged, "file_system", refuse)
    assert read_graph(path) is not read_graph(path)


def test_a_file_that_changes_while_it_is_checked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = iter(range(9))
    taken = unchanged.State.of

    def changing(file: object) -> unchanged.State:
        return taken(file)._replace(ctime_ns=next(states))  # type: ignore[arg-type]

    monkeypatch.setattr(unchanged.State, "of", changing)
    assert read_graph(path) is not read_graph(path)
