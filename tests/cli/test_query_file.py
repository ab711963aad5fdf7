"""The file that ``groute-py query`` has mapped is changed, or replaced."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.graphs import graph_of
from support.querying import answer_of, running

import groute_py

QUESTION = {"source": 0, "target": 2000, "id": 7}


def row_of(length: int, path: Path) -> Path:
    """The file of a graph 0 → 1 → … whose arcs have this length."""
    graph = graph_of(2001, [(vertex, vertex + 1, length) for vertex in range(2000)])
    result = groute_py.prepare(graph, device="cpu") if path.suffix == ".prepared" else graph
    groute_py.write_graph(result, path)
    return path


@pytest.mark.parametrize(
    ("name", "how"),
    [("row.csr", "cut off"), ("row.csr", "overwritten"), ("row.prepared", "overwritten")],
)
def test_a_file_that_is_changed_in_use(name: str, how: str, tmp_path: Path) -> None:
    """An error is the answer, and the command ends with it."""
    path, other = row_of(1, tmp_path / name), row_of(3, tmp_path / f"other-{name}")
    with running(path) as process:
        assert answer_of(process, QUESTION) == {"id": 7, "distance": 2000}
        if how == "cut off":
            os.truncate(path, 4096)
        else:
            shutil.copyfile(other, path)
        answer = answer_of(process, QUESTION)
        _, err = process.communicate(timeout=30)
    assert answer["id"] == 7
    assert answer["kind"] == "RunError"
    assert f"{name}: was changed while it was in use; start again" in answer["error"]
    assert process.returncode == 1
    assert answer["error"] in err
    assert "Traceback" not in err


def test_a_file_that_is_replaced_in_use(tmp_path: Path) -> None:
    path, other = row_of(1, tmp_path / "row.csr"), row_of(3, tmp_path / "other.csr")
    with running(path) as process:
        other.replace(path)
        assert answer_of(process, QUESTION) == {"id": 7, "distance": 2000}
        process.communicate(timeout=30)
    assert process.returncode == 0
