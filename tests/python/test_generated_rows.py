"""Generated graphs of which each rank makes its own rows: those of the whole graph."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from support.graphs import scipy_distances
from support.local_ranks import on_ranks
from support.skips import EMULATED, needs_gpu

import groute_py
from groute_py import InputError, generate
from groute_py.comm.base import SoloChannel
from groute_py.device.base import unreached
from groute_py.device.registry import maker_on_gpu, share_in_place
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.graph import drawn
from groute_py.graph.arrays import host_array, on_device
from groute_py.graph.facts import facts_of
from groute_py.graph.generate import random_graph_of
from groute_py.partition.cutting import Cutting
from groute_py.partition.share import Partition, partition, quality, rows_of, share_of
from groute_py.source import generated as module
from groute_py.source.generated import Generated, count_generated

RANKS = [1, 2, 3, 4]
DEVICES = ["cpu", pytest.param("cuda", marks=needs_gpu)]
SPECS = ["rmat:0,40", "rmat:1,20", "rmat:7", "rmat:8,9", "random:3,70", "random:50,2001"]


@pytest.fixture(autouse=True)
def _small_graphs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOKED_AT", 0)
    monkeypatch.setattr(drawn, "BLOCK", 1 << 7)


def supply_of(spec: str, channel: Any, device: str) -> Generated:
    """The supply of a graph on a rank that makes its rows."""
    supply = count_generated(spec, channel, maker_on_gpu(device, 0))
    assert supply is not None
    return supply


def numbers(share: Any) -> list[Any]:
    """A share, in host memory."""
    arrays = (getattr(share, name) for name in ("offsets", "heads", "weights", "halo", "halo_home"))
    lists = [host_array(array).tolist() for array in arrays]
    return [share.first, share.own_count, *lists, share.halo_starts.tolist()]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("how", ["arcs", "first"])
@pytest.mark.parametrize("spec", SPECS)
def test_shares_are_those_of_the_whole_graph(spec: str, how: str, ranks: int, device: str) -> None:
    """Ranks that own no vertex among them: there may be one or two."""
    if ranks == 1 and device == "cpu":
        pytest.skip("one rank reads the graph as a whole")
    whole = generate(spec)

    def work(channel: Any) -> Any:
        supply = supply_of(spec, channel, device)
        facts = supply.facts(channel)
        spread = supply.spread(channel, Cutting(how, "none"))
        assert on_device(spread.rows.heads) == (device == "cuda")
        share = share_in_place(spread.rows, spread.partition, channel.rank)
        return facts, spread.partition.bounds.tolist(), spread.quality, numbers(share)

    cut = partition(whole.offsets, ranks, how)
    for rank, (facts, bounds, costs, share) in enumerate(on_ranks(ranks, work)):
        assert facts == facts_of(whole)
        assert bounds == cut.bounds.tolist()
        assert costs == quality(whole, cut)
        assert share == numbers(share_of(rows_of(whole, cut, rank), cut, rank))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
@pytest.mark.parametrize("spec", ["rmat:6", "random:40,999"])
def test_seeds(spec: str, seed: int, device: str) -> None:
    whole, random = generate(spec, seed=seed), random_graph_of(spec, seed)
    assert random is not None

    def work(channel: Any) -> Any:
        make = maker_on_gpu(device, 0) or module.HostMaker
        maker = make(random)
        assert maker.count(channel) is not None
        cut = Partition(np.array([0, 11, whole.vertex_count]))
        own = maker.make(channel, cut)
        assert own is not None
        return own.rows.to_host()

    parts = on_ranks(2, work)
    assert np.concatenate([part.heads for part in parts]).tolist() == whole.heads.tolist()
    assert np.concatenate([part.weights for part in parts]).tolist() == whole.weights.tolist()
    assert parts[0].offsets.tolist() == whole.offsets[:12].tolist()
    assert (parts[1].offsets + whole.offsets[11]).tolist() == whole.offsets[11:].tolist()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("hops", [False, True])
def test_solves(hops: bool, ranks: int, device: str) -> None:
    if ranks == 1 and device == "cpu":
        pytest.skip("one rank reads the graph as a whole")
    whole = generate("rmat:7")

    def work(channel: Any) -> Any:
        mode = "auto" if EMULATED or ranks == 1 else "rounds"  # threads map none of their memory
        options = Options(device=device, hops=hops, mode=mode)
        supply = supply_of("rmat:7", channel, device)
        with SourceSolver(supply, channel, options) as solver:
            return solver.sssp(3)

    result = on_ranks(ranks, work)[0]
    graph = whole.with_unit_weights() if hops else whole
    expected = scipy_distances(graph, 3)
    expected[np.isinf(expected)] = unreached(np.dtype(np.int64))
    assert result.distances.tolist() == expected.tolist()
    groute_py.verify(whole, result, hops=hops)


@pytest.mark.parametrize("device", DEVICES[1:])
@pytest.mark.parametrize("ranks", [1, 2])
def test_no_room_on_a_gpu(ranks: int, device: str) -> None:
    """Rank 0 then has the whole graph in host memory, though another one has room."""
    whole = generate("rmat:7")

    def work(channel: Any) -> Any:
        supply = supply_of("rmat:7", channel, device)
        supply._maker._room = lambda: 0 if channel.rank == 0 else 1 << 40
        spread = supply.spread(channel, Cutting())
        assert not on_device(spread.rows.heads)
        return spread.rows.heads

    assert np.concatenate(on_ranks(ranks, work)).tolist() == whole.heads.tolist()


def test_what_is_not_made_by_each_rank() -> None:
    """Roads, small graphs, and those that rank 0 may have to renumber."""

    def work(channel: Any) -> Any:
        return [count_generated(spec, channel, None) for spec in ("road:9x9", "random:9,80")]

    assert on_ranks(2, work) == [[None, None]] * 2
    assert count_generated("rmat:5", SoloChannel(), None) is None
    with pytest.raises(InputError, match="the scale is at most 30"):
        on_ranks(2, partial(count_generated, "rmat:31", on_gpu=None))


@pytest.mark.parametrize("device", DEVICES[1:])
@pytest.mark.parametrize("prepare", [False, True])
def test_nothing_is_made_on_the_host(
    prepare: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the graph is to be prepared, which for contraction is too dense."""
    whole = generate("rmat:7")
    monkeypatch.setattr(module, "generate", lambda _: pytest.fail("on the host"))
    result = groute_py.sssp("rmat:7", 3, device=device, prepare=prepare)
    assert result is not None
    groute_py.verify(whole, result)


@pytest.mark.parametrize("device", DEVICES[1:])
def test_a_sort_that_fails(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.cuda.graph import generate as making

    monkeypatch.setattr(making, "sort_keys", lambda keys: None)
    assert not on_device(
        supply_of("rmat:7", SoloChannel(), device).spread(SoloChannel(), Cutting()).rows.heads
    )


@pytest.mark.parametrize("device", DEVICES)
def test_other_jobs_take_the_whole_graph(device: str) -> None:
    whole = generate("rmat:6")
    with groute_py.open("rmat:6", device=device) as solver:
        tree = solver.sssp(5)
        matrix = solver.matrix([5], range(64))
        assert tree is not None
        assert matrix is not None
        groute_py.verify(whole, tree)
        assert matrix.distances.tolist() == [tree.distances.tolist()]
