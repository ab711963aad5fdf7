"""Rasters on several ranks by bands of rows: the bits of one rank, whatever is at the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.local_ranks import on_ranks
from support.rasters import check, random_raster
from support.skips import EMULATED

from groute_py import CostDistance, InputError, VerificationError, cost_distance
from groute_py.device.registry import of_module
from groute_py.grids import bands
from groute_py.grids import cost_distance as job

ALL: dict[str, Any] = {"allocation": True, "back_direction": True}


@pytest.fixture(autouse=True)
def ranks_are_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "connect", lambda channel: channel)


def on_bands(ranks: int, friction: Any, sources: Any, **words: Any) -> CostDistance:
    """The answer of so many ranks; only rank 0 has the raster, and the answer."""

    def work(channel: Any) -> Any:
        own = (friction, sources) if channel.rank == 0 else (None, None)
        return cost_distance(*own, **words, comm=channel)

    answer, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    return answer


def check_same(ranks: int, friction: Any, sources: Any, **words: Any) -> CostDistance:
    """Compare all bits with those of one rank."""
    alone = on_bands(1, friction, sources, **words, **ALL)
    answer = on_bands(ranks, friction, sources, **words, **ALL)
    for one, other in zip(alone, answer, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    return answer


@pytest.mark.parametrize("first", range(0, 24 if EMULATED else 300, 12))
def test_random_rasters(first: int, device: str) -> None:
    for seed in range(first, first + 12):
        friction, sources, words = random_raster(seed)
        answer = check_same(2 + seed % 3, friction, sources, **words, device=device)
        check(answer, friction, sources, words)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 64])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_each_row_is_one_ranks_own(count: int, ranks: int) -> None:
    every = [bands.BandRows(count, rank, ranks) for rank in range(ranks)]
    own = [list(range(rows.first, rows.last))[rows.own] for rows in every]
    assert [row for rows in own for row in rows] == list(range(count))
    assert max(map(len, own)) - min(map(len, own)) <= 1
    for rank, rows in enumerate(every):
        for peer, (start, other) in rows.shared.items():
            theirs, its_own = every[peer].shared[rank]
            assert rows.first + start == every[peer].first + theirs
            assert rows.first + start + other in own[peer]
            assert rows.first + start + its_own in own[rank]
            assert other + its_own == 1


def winding(length: int, across: int) -> Any:
    """A corridor that goes up and down from edge to edge, through all bands each time."""
    friction = np.zeros((length, across))
    friction[:, ::2] = np.random.default_rng(5).uniform(1, 2, friction[:, ::2].shape)
    friction[0, 1::4] = friction[-1, 3::4] = 1
    return friction


CASES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "more ranks than rows": (np.ones((3, 20)), [(2, 7)], {}),
    "a row that both neighbours lower": (np.ones((3, 20)), [(0, 0), (2, 19)], {}),
    "one row": (np.ones((1, 9)), [(0, 4)], {}),
    "one column": (np.arange(1.0, 10).reshape(9, 1), [(8, 0)], {}),
    "one cell": ([[2.0]], [(0, 0)], {}),
    "walls": (np.diag([0.0, 1, 0, 0, 0, 0, 0, 0]), [(1, 1)], {}),
    "a wall between bands": (np.repeat([1.0, 1, 1, 0, 1, 1], 7).reshape(6, 7), [(0, 0)], {}),
    "a source in the last band": (np.ones((70, 40), np.float32), [(69, 0)], {"cutoff": 55}),
    "sources at the edge": (np.ones((40, 9)), [(20, 0), (19, 8), (20, 8), (19, 8)], {}),
    "a corridor": (winding(39, 41), [(38, 0)], {"neighbours": 4}),
    "two ends of a corridor": (winding(39, 41), [(38, 0), (0, 40)], {}),
    "beyond the cutoff next to it": (winding(39, 41), [(38, 0)], {"cutoff": 777.7}),
    "level steps": (np.where(np.arange(70) == 3, 1 << 21, 2e-6), [(0, 0)], {"neighbours": 4}),
}


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", CASES)
def test_edges(name: str, ranks: int, device: str) -> None:
    friction, sources, words = CASES[name]
    if name == "level steps":
        friction = np.tile(friction, (40, 1)).astype(np.float32)
    answer = check_same(ranks, friction, sources, **words, device=device)
    check(answer, np.asarray(friction), np.array(sources), words)


@pytest.mark.parametrize("ranks", [2, 3])
def test_large(ranks: int, device: str) -> None:
    friction = np.random.default_rng(7).uniform(1, 10, (200, 150)).astype(np.float32)
    friction[80:, 40] = np.nan
    check_same(ranks, friction, [(5, 5), (140, 120)], device=device)


def refused(ranks: int, *words: Any, **options: Any) -> set[str]:
    """The messages of all ranks."""

    def work(channel: Any) -> str:
        how = {**options, **({"cutoff": 3} if channel.rank == 1 and "cutoff" in options else {})}
        with pytest.raises((InputError, VerificationError)) as error:
            cost_distance(*words, **how, comm=channel)
        assert error.value.on_all_ranks
        return str(error.value)

    return set(on_ranks(ranks, work))


def test_errors_are_those_of_all_ranks(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    friction = np.ones((9, 4))
    friction[[2, 7], [1, 3]] = np.nan
    sources = [(7, 3), (0, 0), (2, 1)]
    (message,) = refused(3, friction, sources, device=device)
    assert {message} == refused(1, friction, sources, device=device)
    assert "sources lie on barriers (2), such as (2, 1)" in message
    (message,) = refused(2, friction, [(9, 0)], device=device)
    assert "(9, 0) is outside" in message
    (message,) = refused(2, friction, [(0, 0)], device=device, cutoff=4)
    assert "rank 1 was called with cutoff 3, rank 0 with 4" in message
    monkeypatch.setattr(bands, "MOST_CELLS", 12)
    (message,) = refused(3, np.ones((6, 4)), [(0, 0)], device=device)
    assert "friction has 16 cells on a rank; a rank may have 12; take more ranks" in message


def test_a_wrong_distance_is_found(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = of_module(bands.GRIDS[device], "RasterGrid")
    forget_beyond = grid.forget_beyond

    def damaged(self: Any) -> None:
        forget_beyond(self)
        if not len(self._problem.sources):
            self.distances[3, 2] *= 0.5

    monkeypatch.setattr(grid, "forget_beyond", damaged)
    (message,) = refused(2, np.ones((9, 4)), [(0, 0)], device=device, back_direction=True)
    assert "not the least over their neighbours" in message
