"""Readers open what is named and its companions, and look at nothing else."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.graphs import graph_of

from groute_py import read_graph, write_graph
from groute_py.io.companions import companion, companion_names
from groute_py.io.coordinates import coordinates_beside
from groute_py.io.graph_file import GraphFile
from groute_py.io.registry import FORMATS
from groute_py.maps.places import places_of

WRITTEN = [
    f"{suffix}{packed}"
    for name, form in FORMATS.items()
    if name != "prepared graph"  # of an ordinary graph no such file is written
    for suffix in form.suffixes
    for packed in (("", ".gz") if form.compressible else ("",))
]


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of all files that are looked at or opened from now on."""
    seen: set[str] = set()

    def noting(real: Callable[..., Any]) -> Callable[..., Any]:
        def noted(path: Any, *arguments: Any, **options: Any) -> Any:
            if isinstance(path, str | Path):
                seen.add(os.fspath(path))
            return real(path, *arguments, **options)

        return noted

    for place, names in ((os, ("stat", "lstat", "open")), (builtins, ("open",))):
        for name in names:
            monkeypatch.setattr(place, name, noting(getattr(place, name)))
    return seen


@pytest.mark.parametrize("suffix", WRITTEN)
def test_what_readers_look_at(tmp_path: Path, touched: set[str], suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    graph = graph_of(2, [(0, 1, 1), (1, 0, 1)])
    write_graph(graph, path)
    touched.clear()
    GraphFile(path, cache=False).size()
    read = read_graph(path, cache=False)
    if coordinates_beside(path) is None:
        with pytest.raises(ValueError, match="has no coordinates"):
            places_of(read, beside=path)
    beside = {name for name in touched if Path(name).parent == tmp_path} - {str(path)}
    assert beside <= {str(name) for name in companion_names(path)}
    assert str(path) in touched


def test_names(tmp_path: Path) -> None:
    graph = tmp_path / "a.e.gz"
    assert companion(graph, "vertices") is None
    (tmp_path / "a.v.xz").touch()
    assert companion(graph, "vertices") == tmp_path / "a.v.xz"
    (tmp_path / "a.v").touch()
    assert companion(graph, "vertices") == tmp_path / "a.v"
    (tmp_path / "a.v.gz").touch()
    assert companion(graph, "vertices") == tmp_path / "a.v.gz", "written with the graph"
    assert companion(graph, "coordinates") is None
    assert companion_names(tmp_path / "a.csv") == {}
