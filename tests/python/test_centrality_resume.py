"""Centralities whose sums are saved: a run that is ended goes on, to the same bits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of, random_graph
from support.keeping import write_at_once
from support.local_ranks import on_ranks
from support.opening import opened_on

from groute_py import Graph, InputError, RunError
from groute_py.centrality import bounds
from groute_py.centrality.dependencies import accumulated
from groute_py.centrality.distances import reduced
from groute_py.cli.outputs import stored
from groute_py.comm.base import SoloChannel
from groute_py.graph.symmetrize import mirrored
from groute_py.many import reduce
from groute_py.many.opened import Work
from groute_py.many.storage.store import PartFile, Store

MEASURES = ("closeness", "harmonic", "betweenness", "edge-betweenness", "diameter")


@pytest.fixture(autouse=True)
def saved_after_each_source(monkeypatch: pytest.MonkeyPatch) -> None:
    write_at_once(monkeypatch)
    monkeypatch.setattr(reduce, "EVERY_S", 0.0)
    monkeypatch.setattr(reduce, "SHARE", 0)
    monkeypatch.setattr(reduce, "FIRST", {"cpu": 1, "cuda": 1})
    monkeypatch.setattr(reduce, "at_once", lambda _: 1)
    monkeypatch.setattr(bounds, "FEW", 0)


@pytest.fixture
def graph() -> Graph:
    given = random_graph(40, 100, seed=7, greatest=4)
    return mirrored(Graph(given.offsets, given.heads, given.weights + 1))


@contextmanager
def ended_after(saves: int) -> Iterator[None]:
    """The block ends, by an error of rank 0, when a run in it has saved so often."""
    save, left = Store.replace, [saves]

    def counted(store: Store, *units: Any, **arrays: Any) -> None:
        save(store, *units, **arrays)
        left[0] -= 1
        if left[0] == 0:
            raise RunError("ended")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "replace", counted)
        with pytest.raises(RunError, match="ended"):
            yield


def solved(
    channel: Any, graph: Graph, measure: str, store: Store | None, device: str, some: Any = None
) -> list[Any] | None:
    """All numbers that values are made of, on rank 0."""
    work = Work(keep=store)
    asked: Any = opened_on(channel, graph, device=device), some
    if measure.endswith("betweenness"):
        result = accumulated(*asked, work, by_arc=measure.startswith("edge"), errors=True)
        if result is None:
            return None
        return [result.totals, result.squares, result.most_paths]
    rows = reduced(*asked, measure, work)
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
    states: list[str] = []

    def work(channel: Any, *, resume: bool) -> None:
        with command(channel, path, resume=resume, **choices) as store:
            try:
                solved(channel, graph, measure, store, begins_on, some)
            finally:
                states.extend([store.state] if channel.rank == 0 else [])

    for ranks, resume in ((2, False), (3, True)):
        with ended_after(2):
            on_ranks(ranks, partial(work, resume=resume))
        assert states[-1].endswith(f"complete in {path}.partial; go on with --resume")
    with command(SoloChannel(), path, resume=True, **choices) as last:
        resumed = solved(SoloChannel(), graph, measure, last, device, some)
    assert resumed is not None
    assert alone is not None
    assert shown(resumed) == shown(alone)
    done = [int(state.split()[0]) for state in states]
    assert done[1] > done[0] > 0
    assert some is None or len(last.missing) == len(some) - done[1]
    assert not list(tmp_path.iterdir())


def command(channel: Any, path: Path, *, resume: bool = False, **choices: Any) -> Any:
    return stored(channel, path, "sources", resume=resume, choices=choices)


def begun(graph: Graph, path: Path, **choices: Any) -> None:
    """Two sources of a run are saved."""
    with ended_after(2), command(SoloChannel(), path, **choices) as store:
        solved(SoloChannel(), graph, "betweenness", store, "cpu")


def resume(graph: Graph, path: Path, some: Any = None, **choices: Any) -> list[Any] | None:
    with command(SoloChannel(), path, resume=True, **choices) as store:
        return solved(SoloChannel(), graph, "betweenness", store, "cpu", some)


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


def test_sums_that_are_damaged(graph: Graph, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    begun(graph, path)
    (file,) = (tmp_path / "out.csv.partial").glob("parts-*")
    with open(file, "wb") as content:
        for array in (np.array(["units", "totals"]), np.arange(3), np.zeros(3)):
            np.save(content, array)
    with pytest.raises(InputError, match="is damaged"):
        resume(graph, path)


def test_a_disk_that_is_full(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums before stay."""
    path, replace = tmp_path / "out.csv", PartFile.replace

    def full(file: PartFile, part: Any) -> None:
        if len(part["units"]) > 3:
            raise OSError(28, os.strerror(28))
        replace(file, part)

    says = r"No space left .* go on with --resume"
    with monkeypatch.context() as patch:
        patch.setattr(PartFile, "replace", full)
        with pytest.raises(RunError, match=says), command(SoloChannel(), path) as store:
            solved(SoloChannel(), graph, "betweenness", store, "cpu")
    assert store.state.startswith("3 of 40 sources are complete")
    alone = solved(SoloChannel(), graph, "betweenness", None, "cpu")
    resumed = resume(graph, path)
    assert resumed is not None
    assert alone is not None
    assert shown(resumed) == shown(alone)


def test_one_run_at_a_time(graph: Graph, tmp_path: Path) -> None:
    with command(SoloChannel(), tmp_path / "out.csv") as first:
        first.begin(SoloChannel(), dict, 3)
        with pytest.raises(InputError, match="another run is working on"):
            resume(graph, tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_the_wider_type(device: str, tmp_path: Path) -> None:
    """Where distances come to need 64 bits, sums of sources that did not are kept."""
    path, long = tmp_path / "out.csv", np.int32(2**30)
    arcs = [(0, 1, 5), (1, 2, 7), (3, 4, long), (4, 5, long), (5, 6, long)]
    graph = graph_of(7, arcs)
    alone = solved(SoloChannel(), graph, "betweenness", None, "cpu")
    with command(SoloChannel(), path) as store:
        saved = solved(SoloChannel(), graph, "betweenness", store, device)
    assert saved is not None
    assert alone is not None
    assert shown(saved) == shown(alone)


class Clock:
    """Gives seconds that pass when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(reduce, "time", SimpleNamespace(monotonic=lambda: self.now))


def test_the_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Saves come about every so many seconds, and take a small part of the time."""
    monkeypatch.setattr(reduce, "EVERY_S", 30.0)
    monkeypatch.setattr(reduce, "SHARE", 20)
    monkeypatch.setattr(reduce, "FIRST", {"cpu": 1000})
    clock, store = Clock(monkeypatch), Store(tmp_path / "out.csv", "sources")
    stops = reduce.slices(SoloChannel(), 500, store, "cpu", 100)
    stop = next(stops)
    assert stop == 9
    for solving_s, writing_s, count in ((15, 0.5, 18), (31, 3, 18 * 60 // 31), (1, 0, 34 * 8)):
        store.writing_s = writing_s
        clock.now += solving_s + writing_s
        before, stop = stop, next(stops)
        assert stop == before + count
    clock.now += 1
    assert next(stops) is None
    assert next(stops, "the end") == "the end"


def test_no_core_is_idle_until_the_next_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a source takes longer than the time between two saves."""
    monkeypatch.setattr(reduce, "EVERY_S", 30.0)
    monkeypatch.setattr(reduce, "at_once", lambda _: 64)
    clock, store = Clock(monkeypatch), Store(tmp_path / "out.csv", "sources")
    stops = reduce.slices(SoloChannel(), 10_000, store, "cpu", 82_000_000)
    counts = []
    for seconds in (20, 60, 600, 1):
        counts.append(next(stops))
        clock.now += seconds
    assert counts == [64, 128, 192, 256]
    assert next(stops) == 256 + 64 * reduce.GROWTH
