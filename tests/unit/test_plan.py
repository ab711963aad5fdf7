"""Memory before anything is loaded: sizes, formulas, the command, and the check of a solver."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from support.local_ranks import LocalChannel, on_ranks
from support.solving import source_solver

from groute_py import generate, read_graph, write_graph
from groute_py.cli.centrality import MEASURES
from groute_py.cli.main import commands
from groute_py.device.cpu.device import CpuDevice
from groute_py.device.cuda.runtime.memory_plan import (
    CONTEXT_BYTES,
    SPARE_BYTES,
    capacity,
    entries_that_fit,
    gpu_bytes,
    inbox_bytes,
    ring_entries,
    ring_that_fits,
    shortest,
    work_bytes,
)
from groute_py.device.monitoring import telemetry
from groute_py.engine.memory.gpus import estimate, fewest, refuse_what_cannot_fit
from groute_py.errors import InputError, SetupError
from groute_py.graph.facts import Size
from groute_py.graph.generate import size_of_spec
from groute_py.io.graph_file import GraphFile
from groute_py.partition.share import Share, partition, rows_of, share_of

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


@pytest.mark.parametrize(
    "spec", ["road:300x200", "road:1x9", "rmat:9", "rmat:8,4", "random:100,700"]
)
def test_the_size_of_a_generated_graph(spec: str) -> None:
    graph, size = generate(spec), size_of_spec(spec)
    assert size.vertices == graph.vertex_count
    assert size.arcs == pytest.approx(graph.arc_count, rel=0.02, abs=6)


@pytest.mark.parametrize("spec", ["rmat:31", "road:3", "random:1"])
def test_a_spec_that_generates_nothing(spec: str) -> None:
    with pytest.raises(InputError, match="cannot generate"):
        size_of_spec(spec)


@pytest.mark.parametrize(
    "suffix", [".csr", ".gr", ".gr.gz", ".mtx", ".wsg", ".galois", ".galois.gz"]
)
def test_the_size_of_a_file(suffix: str, tmp_path: Path) -> None:
    write_graph(generate("random:1000,5000"), tmp_path / f"graph{suffix}")
    assert GraphFile(tmp_path / f"graph{suffix}").size() == Size(1000, 5000)


def test_the_size_of_a_file_of_edges(tmp_path: Path) -> None:
    (tmp_path / "a.metis").write_text("% a comment\n3 2\n2 3\n1\n1\n")
    assert GraphFile(tmp_path / "a.metis").size() == Size(3, 4)
    banner = "%%MatrixMarket matrix coordinate pattern symmetric"
    (tmp_path / "a.mtx").write_text(f"{banner}\n% a comment\n3 3 2\n2 1\n3 1\n")
    assert GraphFile(tmp_path / "a.mtx").size() == Size(3, 4)


def test_the_size_of_a_cached_copy(tmp_path: Path) -> None:
    (tmp_path / "a.el").write_text("0 1\n1 2\n")
    assert GraphFile(tmp_path / "a.el", cache=tmp_path).size() is None
    read_graph(tmp_path / "a.el", cache=tmp_path)
    assert GraphFile(tmp_path / "a.el", cache=tmp_path).size() == Size(3, 2)


@pytest.mark.parametrize("text", ["a 1 2 3\n", "c only\nc comments\n", "p sp x 4\n"])
def test_dimacs_that_does_not_say(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.gr").write_text(text)
    assert GraphFile(tmp_path / "a.gr").size() is None


def test_a_billion_arcs() -> None:
    """Arcs are 8 bytes with 32-bit distances and 16 with wider; more GPUs need less each."""
    size = Size(1 << 26, 1 << 30)
    one, four = estimate(size, 1, INT32), estimate(size, 4, INT32)
    assert one.least == one.most
    assert 8 << 30 < one.least < 24 << 30
    assert four.least < one.least / 2
    assert four.most > four.least
    assert estimate(size, 1, INT64).least > 1.5 * one.least


@given(
    own=st.integers(1, 1 << 24),
    halo=st.integers(0, 1 << 22),
    arcs=st.integers(0, 1 << 26),
    peers=st.integers(1, 8),
    kind=st.sampled_from([INT32, INT64]),
    share=st.floats(0, 1.2),
)
def test_worklists_take_what_is_left(
    own: int, halo: int, arcs: int, peers: int, kind: Any, share: float
) -> None:
    sizes = (own, halo, arcs, peers, kind)

    def taken(entries: int) -> int:
        return work_bytes(*sizes, entries) + SPARE_BYTES

    free = int(share * taken(capacity(own)))
    entries = entries_that_fit(*sizes, free)
    assert shortest(own) <= entries <= capacity(own)
    assert entries == shortest(own) or taken(entries) <= free
    assert entries == capacity(own) or taken(entries + 1) > free


def test_what_a_plan_says_of_short_worklists() -> None:
    """On roads shorter worklists save a ninth of all."""
    result = estimate(Size(1 << 28, 5 << 27), 4, INT32)
    assert result.tight < 0.9 * result.least
    steps = (
        result.tight - 1,
        result.tight,
        result.short - 1,
        result.short,
        result.most - 1,
        result.most,
    )
    says = [result.verdict(free) for free in steps]
    short = "with short worklists"
    assert says == ["no", "perhaps", "perhaps", short, short, "yes"]


def test_what_a_plan_says_of_fused_mode() -> None:
    """Roads need more there than in rounds, since each GPU has the distances of all vertices."""
    roads = Size(24_010_000, 59_532_647)
    result = estimate(roads, 2, INT32)
    assert result.least < 0.8 * result.fused
    assert result.fused <= result.most
    assert estimate(roads, 1, INT32).fused == 0


@pytest.mark.parametrize("gpus", [2, 4, 16])
@pytest.mark.parametrize("size", [Size(24_010_000, 59_532_647), Size(1 << 26, 1 << 30)])
def test_what_a_plan_says_of_a_mode_that_is_asked_for(size: Size, gpus: int) -> None:
    either, fused, rounds = (estimate(size, gpus, INT32, m) for m in ("auto", "fused", "rounds"))
    assert fused.fused == either.fused == rounds.fused == fused.most
    assert fused.tight <= fused.short <= fused.most
    assert fused.tight <= fused.least <= fused.most
    assert (rounds.tight, rounds.least) == (either.tight, either.least)
    assert either.most == max(fused.most, rounds.most)
    assert fused.tight > rounds.tight
    assert estimate(size, 1, INT32, "fused") == estimate(size, 1, INT32)


def test_graphs_that_fit_in_rounds_only() -> None:
    """Where mode fused is asked for they are refused, with the ranks that each host has."""
    roads = Size(24_010_000, 59_532_647)
    free = estimate(roads, 4, INT32, "fused").tight - 1
    refuse_what_cannot_fit("a", roads, INT32, [free] * 4)
    refuse_what_cannot_fit("a", roads, INT32, [free] * 4, team=2)
    with pytest.raises(InputError, match=r"a takes at least 0\.7 GB on each of 4 GPUs"):
        refuse_what_cannot_fit("a", roads, INT32, [free] * 4, team=4)


def test_the_fewest_gpus() -> None:
    size = Size(1 << 26, 1 << 30)
    for free in (8 << 30, 16 << 30, 40 << 30):
        enough = fewest(size, free, INT32)
        assert enough is not None
        assert estimate(size, enough, INT32).most <= free
        if enough > 1:
            assert estimate(size, enough - 1, INT32).most > free
    assert fewest(size, 1 << 25, INT32) is None


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("spec", ["road:90x90", "rmat:12", "random:9000,20000"])
def test_shares_lie_between_least_and_most(spec: str, parts: int) -> None:
    graph = generate(spec)
    result = estimate(Size(graph.vertex_count, graph.arc_count), parts, INT32)
    held = [
        gpu_bytes(share.own_count, len(share.halo), len(share.heads), parts, INT32)
        for share in shares_of(graph, parts)
    ]
    assert result.least <= max(held) <= 1.05 * result.most


def shares_of(graph: Any, parts: int) -> list[Share]:
    cut = partition(graph.offsets, parts, "arcs")
    return [share_of(rows_of(graph, cut, part), cut, part) for part in range(parts)]


def answer(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(commands, ["plan", *words, "--json"], catch_exceptions=False)
    result = json.loads(done.stdout)
    assert isinstance(result, dict)
    return result


def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "nvml", lambda: None)
    result = answer("rmat:26", "--gpus", "8", "--gpu-memory", "80")
    assert result["arcs"] == 1 << 31
    assert result["fits"] == "yes"
    assert result["gpus_that_are_enough"] == 1
    assert answer("rmat:26")["fits"] == "unknown"
    roads = ("road:4900x4900", "--gpus", "4", "--gpu-memory", "1.6")
    assert answer(*roads, "--mode", "rounds")["fits"] == "yes"
    assert answer(*roads)["fits"] == "with short worklists"
    assert answer(*roads, "--mode", "fused")["tight_gpu_gigabytes"] > 1.2
    assert answer("rmat:20", "--undirected")["arcs"] == 2 * answer("rmat:20")["arcs"]


def test_a_graph_that_is_not_prepared() -> None:
    run = CliRunner().invoke
    said = {spec: run(commands, ["plan", spec]).stderr for spec in ("rmat:12", "road:9x9")}
    assert "with 32.0 arcs per vertex it hardly has small separators" in said["rmat:12"]
    assert "separators" not in said["road:9x9"].replace("order from separators", "")


def test_words_are_explained() -> None:
    words = ["plan", "road:90x90", "--gpus", "2", "--gpu-memory", "80"]
    said = CliRunner().invoke(commands, words).stderr
    assert all(f"{word}: " in said for word in ("tight", "least", "most", "fused", "sweep"))
    assert CliRunner().invoke(commands, [*words, "--json"]).stderr == ""


def test_what_cannot_fit_is_refused() -> None:
    done = CliRunner().invoke(commands, ["plan", "rmat:28", "--gpus", "2", "--gpu-memory", "16"])
    assert isinstance(done.exception, SetupError)
    assert "at least" in str(done.exception)
    assert "use 32 GPUs" in str(done.exception)


def test_a_file_that_does_not_say(tmp_path: Path) -> None:
    (tmp_path / "a.el").write_text("0 1\n1 2\n")
    done = CliRunner().invoke(commands, ["plan", str(tmp_path / "a.el")])
    assert isinstance(done.exception, InputError)
    assert "convert it to .csr first" in str(done.exception)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_solver_refuses_what_cannot_fit(ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On all ranks, before anything is spread; and only if no rank has the room."""
    graph = generate("road:100x100")
    least = estimate(Size(graph.vertex_count, graph.arc_count), ranks, INT32).tight

    def opened(channel: LocalChannel) -> str:
        try:
            source_solver(channel, graph, device="cpu")
        except InputError as error:
            return f"on all ranks {error.on_all_ranks}: {error}"
        return ""

    monkeypatch.setattr(CpuDevice, "room", lambda _: least - 1)
    said = "on all ranks True: road:100x100 takes at least 0.0 GB"
    assert all(error.startswith(said) for error in on_ranks(ranks, opened))
    monkeypatch.setattr(CpuDevice, "room", lambda _: least)
    assert not any(on_ranks(ranks, opened))


def test_ranks_whose_room_is_not_known_are_let_go_on() -> None:
    refuse_what_cannot_fit("a", Size(1 << 30, 1 << 40), INT32, [None, 1])
    with pytest.raises(InputError, match="use GPUs with more memory"):
        refuse_what_cannot_fit("a", Size(1 << 30, 1 << 40), INT32, [1, CONTEXT_BYTES])


@given(told=st.integers(0, 1 << 26), peers=st.integers(2, 8), free=st.integers(0, 1 << 34))
def test_rings_are_as_long_as_there_is_room_for(told: int, peers: int, free: int) -> None:
    ring = ring_that_fits(told, peers, INT32, free)
    least, most = ring_that_fits(0, peers, INT32, 1 << 40), ring_entries(told)
    if free >= inbox_bytes(told, peers, INT32) + SPARE_BYTES:
        assert ring == most
    if ring:
        assert least <= ring <= most
        assert peers * 8 * ring + SPARE_BYTES <= free
        assert ring == most or peers * 8 * 2 * ring + SPARE_BYTES > free
    else:
        assert peers * 8 * least + SPARE_BYTES > free


@pytest.mark.parametrize("method", ["delta-stepping", "frontier-dijkstra"])
def test_what_one_rank_holds_is_not_shared_out(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method that one rank solves by needs the room on that one's GPU."""
    graph = generate("road:100x100")
    size = Size(graph.vertex_count, graph.arc_count)
    least = estimate(size, 1, INT32).tight

    def opened(channel: LocalChannel) -> str:
        try:
            source_solver(channel, graph, device="cpu", algorithm=method)
        except InputError as error:
            return str(error)
        return ""

    monkeypatch.setattr(CpuDevice, "room", lambda _: least - 1)
    said = on_ranks(2, opened)
    if method == "delta-stepping":
        assert said == ["", ""]
    else:
        assert all("on each of 1 GPUs" in error for error in said)
        assert all("use a method that GPUs can share" in error for error in said)


ROAD_ARCS = size_of_spec("road:10x10").arcs


@pytest.mark.parametrize(
    ("job", "wanted"),
    [
        ("matrix:100x50", 40_000),
        ("nearest", 100 * (32 + 8) + ROAD_ARCS * 8),
        ("nearest:3", 13_500),
        ("isochrone", 100 * (24 + 8) + ROAD_ARCS * 8),
        ("isochrone:3", 100 * (8 + 3 * 16)),
        ("route", None),
        ("route:1000", None),
        *((f"centrality:{measure}", None) for measure in MEASURES),
    ],
)
def test_the_memory_of_a_job(job: str, wanted: int | None) -> None:
    result = answer("road:10x10", "--gpu-memory", "80", "--job", job)["job_host_gigabytes"]
    assert result > 0 if wanted is None else result == wanted / 1e9


def test_the_memory_of_a_centrality() -> None:
    """Squares are summed only where sources are drawn; arcs have sums of their own."""
    words = ("rmat:20", "--gpu-memory", "2", "--job")
    arcs, sums = 32 << 20, 1 << 20
    exact = answer(*words, "centrality:betweenness")
    drawn = answer(*words, "centrality:betweenness:1000")
    by_arc = answer(*words, "centrality:edge-betweenness")
    gained = drawn["job_gpu_gigabytes"] - exact["job_gpu_gigabytes"]
    assert gained == pytest.approx(16 * sums / 1e9)
    gained = by_arc["job_gpu_gigabytes"] - exact["job_gpu_gigabytes"]
    assert gained == pytest.approx(16 * (arcs - sums) / 1e9)
    assert exact["job_fits"] == "yes"
    says = r"centrality:betweenness:9 of rmat:24 takes at least .* GB on each GPU, and 2.0 GB are"
    with pytest.raises(SetupError, match=says):
        answer("rmat:24", "--gpu-memory", "2", "--job", "centrality:betweenness:9")


def test_no_such_job() -> None:
    with pytest.raises(InputError, match=r"is unknown; .* centrality:MEASURE"):
        answer("road:10x10", "--job", "centrality:spread")
    with pytest.raises(InputError, match="job 'all' is unknown; a job is matrix:KxT"):
        answer("road:10x10", "--job", "all")
