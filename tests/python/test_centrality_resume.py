"""Centralities whose sums are saved: a run that is ended goes on, to the same bits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of, random_graph
from support.local_ranks import on_ranks

from groute_py import Graph, InputError, RunError
from groute_py.centrality import bounds
from groute_py.centrality.accumulation import accumulated
from groute_py.centrality.choices import Choices
from groute_py.centrality.distances import reduced
from groute_py.cli.saved_sums import SavedSums
from groute_py.comm.solo import SoloChannel
from groute_py.graph.symmetrize import mirrored
from groute_py.io.array_archive import save_arrays
from groute_py.many import saving
from groute_py.many.saving import Pace
from groute_py.many.storage.kept_sums import KeptSums

MEASURES = ("closeness", "harmonic", "betweenness", "edge-betweenness", "diameter")


@pytest.fixture(autouse=True)
def saved_after_each_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "EVERY_S", 0.0)
    monkeypatch.setattr(saving, "SHARE", 0)
    monkeypatch.setattr(saving, "FIRST", {"cpu": 1, "cuda": 1})
    monkeypatch.setattr(saving, "at_once", lambda _: 1)
    monkeypatch.setattr(bounds, "FEW", 0)


@pytest.fixture
def graph() -> Graph:
    given = random_graph(40, 100, seed=7, greatest=4)
    return mirrored(Graph(given.offsets, given.heads, given.weights + 1))


@contextmanager
def ended_after(saves: int) -> Iterator[None]:
    """The block ends, by an error of rank 0, when a run in it has saved so often."""
    save, left = KeptSums.save, [saves]

    def counted(kept: KeptSums, *found: Any) -> None:
        save(kept, *found)
        left[0] -= 1
        if left[0] == 0:
            raise RunError("ended")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KeptSums, "save", counted)
        with pytest.raises(RunError, match="ended"):
            yield


def solved(
    channel: Any, graph: Graph, measure: str, sums: SavedSums | None, device: str, some: Any = None
) -> list[Any] | None:
    """All numbers that values are made of, on rank 0."""
    how: dict[str, Any] = {"keep": None if sums is None else sums.keep}
    asked = channel, lambda: (graph, some), Choices(device=device)
    if measure.endswith("betweenness"):
        found = accumulated(*asked, by_arc=measure.startswith("edge"), errors=True, **how)
        if found is None:
            return None
        return [found.totals, found.squares, found.most_paths]
    rows = reduced(*asked, measure, **how)
    return None if rows is None else [*rows.rows.arrays.values(), rows.sources]


def shown(values: list[Any]) -> list[Any]:
    return [value.tolist() if isinstance(value, np.ndarray) else value for value in values]


@pytest.mark.parametrize("measure", MEASURES)
def test_the_same_bits(device: str, graph: Graph, tmp_path: Path, measure: str) -> None:
    """A run that is ended twice gives what one that is not ended gives, at other ranks too."""
    path, choices = tmp_path / "out.csv", {"measure": measure}
    some = None if measure == "diameter" else np.arange(0, 40, 2)
    alone = solved(SoloChannel(), graph, measure, None, device, some)
    # a GPU has all these rows at once, so that nothing is saved between them
    begins_on = "cpu" if measure in ("closeness", "harmonic") else device
    done = []
    for ranks, resume in ((2, False), (3, True)):
        sums = SavedSums(path, choices, resume=resume)

        def work(channel: Any, sums: SavedSums = sums) -> None:
            own = sums if channel.rank == 0 else SavedSums(path, choices, resume=False)
            with own.ending():
                solved(channel, graph, measure, own, begins_on, some)

        with ended_after(2):
            on_ranks(ranks, work)
        assert sums.state.endswith(f"kept in {path}.partial; go on with --resume")
        done.append(int(sums.state.split()[0]))
    last = SavedSums(path, choices, resume=True)
    with last.ending():
        resumed = solved(SoloChannel(), graph, measure, last, device, some)
        last.finish(lambda: None)
    assert resumed is not None
    assert alone is not None
    assert shown(resumed) == shown(alone)
    assert done[1] > done[0] > 0
    assert some is None or last.new == len(some) - done[1]
    assert not list(tmp_path.iterdir())


def begun(graph: Graph, path: Path, **choices: Any) -> None:
    """Two sources of a run are saved."""
    sums = SavedSums(path, choices, resume=False)
    with ended_after(2), sums.ending():
        solved(SoloChannel(), graph, "betweenness", sums, "cpu")


def resume(graph: Graph, path: Path, some: Any = None, **choices: Any) -> list[Any] | None:
    sums = SavedSums(path, choices, resume=True)
    with sums.ending():
        return solved(SoloChannel(), graph, "betweenness", sums, "cpu", some)


def test_what_changed_is_refused(graph: Graph, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    begun(graph, path, measure="betweenness", weighted=True)
    same = {"measure": "betweenness", "weighted": True}
    for other, some, changed, what in (
        (graph, None, {"measure": "closeness"}, "measure"),
        (graph, None, {"weighted": False}, "weighted"),
        (graph, np.arange(3), {}, "sources"),
        (graph.changed(weights=graph.weights + 1), None, {}, "graph"),
    ):
        with pytest.raises(InputError, match=f"run in which {what} differed; leave out --resume"):
            resume(other, path, some, **(same | changed))
    assert resume(graph, path, **same) is not None


@pytest.mark.parametrize("how", ["short", "other", "foreign"])
def test_sums_that_are_damaged(graph: Graph, tmp_path: Path, how: str) -> None:
    path, file = tmp_path / "out.csv", tmp_path / "out.csv.partial" / "sums.npz"
    begun(graph, path)
    if how == "short":
        os.truncate(file, 300)
    elif how == "other":
        np.savez(file, totals=np.zeros(3))
    else:
        (file.parent / "notes").touch()
    with pytest.raises(InputError, match="holds notes" if how == "foreign" else "is damaged"):
        resume(graph, path)


def test_a_disk_that_is_full(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums before stay, and half of a file is none."""
    path, save = tmp_path / "out.csv", save_arrays

    def full(file: Any, arrays: Any) -> None:
        if arrays["is_done"].sum() > 3:
            file.write(b"PK")
            raise OSError(28, os.strerror(28))
        save(file, arrays)

    sums, says = SavedSums(path, {}, resume=False), r"No space left .* go on with --resume"
    with monkeypatch.context() as patch:
        patch.setattr("groute_py.many.storage.kept_sums.save_arrays", full)
        with pytest.raises(RunError, match=says), sums.ending():
            solved(SoloChannel(), graph, "betweenness", sums, "cpu")
    assert sums.state.startswith("3 of 40 sources are done")
    alone = solved(SoloChannel(), graph, "betweenness", None, "cpu")
    resumed = resume(graph, path)
    assert resumed is not None
    assert alone is not None
    assert shown(resumed) == shown(alone)


def test_one_run_at_a_time(graph: Graph, tmp_path: Path) -> None:
    first = KeptSums(tmp_path / "out.csv", {"graph": "", "sources": ""}, 3, resume=False)
    with pytest.raises(InputError, match="another run is working on"):
        resume(graph, tmp_path / "out.csv")
    first.close()
    first.close()
    assert first.state == "nothing was kept"
    assert not list(tmp_path.iterdir())


def test_the_wider_type(device: str, tmp_path: Path) -> None:
    """Where distances come to need 64 bits, sums of sources that did not are kept."""
    path, long = tmp_path / "out.csv", np.int32(2**30)
    arcs = [(0, 1, 5), (1, 2, 7), (3, 4, long), (4, 5, long), (5, 6, long)]
    graph = graph_of(7, arcs)
    alone = solved(SoloChannel(), graph, "betweenness", None, "cpu")
    sums = SavedSums(path, {}, resume=False)
    with sums.ending():
        saved = solved(SoloChannel(), graph, "betweenness", sums, device)
    assert saved is not None
    assert alone is not None
    assert shown(saved) == shown(alone)


def test_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Saves come about every so many seconds, and take a small part of the time."""
    monkeypatch.setattr(saving, "EVERY_S", 30.0)
    monkeypatch.setattr(saving, "SHARE", 20)
    monkeypatch.setattr(saving, "FIRST", {"cpu": 1000})
    monkeypatch.setattr(saving, "at_once", lambda _: 1)
    now = [0.0]

    def wait(seconds: float) -> None:
        now[0] += seconds

    pace = Pace(lambda: now[0])
    pace.begin("cpu", 40, 60)
    assert pace.following == 9
    wait(15)
    assert not pace.is_due
    pace.save(lambda: wait(0.5))
    assert pace.following == 18
    wait(31)
    assert pace.is_due
    pace.save(lambda: wait(3))
    assert pace.following == 18 * 60 // 31
    wait(1)
    pace.save(lambda: None)
    assert pace.following == 34 * 8


def test_no_core_is_idle_until_the_next_save(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a source takes longer than the time between two saves."""
    monkeypatch.setattr(saving, "EVERY_S", 30.0)
    monkeypatch.setattr(saving, "at_once", lambda _: 64)
    now = [0.0]
    pace = Pace(lambda: now[0])
    pace.begin("cpu", 24_000_000, 58_000_000)
    for seconds in (20, 60, 600, 1):
        assert pace.following == 64
        now[0] += seconds
        pace.save(lambda: None)
    assert pace.following == 64 * saving.GROWTH
