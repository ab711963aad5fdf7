"""Ranks on several hosts: the same answers over a real network, and the end when it breaks."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import scipy_distances
from support.several_hosts import NAMES, Hosts, running_hosts, why_not
from support.skips import needs

from groute_py import generate, prepare, verify, write_graph
from groute_py.comm.awareness import belongs, mpi_library
from groute_py.results.result import read_result

pytestmark = [
    pytest.mark.hosts,
    needs(why_not()),
]

SPEC = "rmat:10"
ENDLESS = ("sssp", "road:100x100", "--device", "cpu", "--trials", "100000000")
FIRST, OTHER = NAMES


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    if not belongs("mpich", mpi_library()):
        pytest.skip(f"the way to a host is given to MPICH's mpirun, and this is {mpi_library()}")
    with running_hosts() as hosts:
        yield hosts


@pytest.fixture(autouse=True)
def _nothing_is_left(hosts: Hosts) -> Iterator[None]:
    yield
    hosts.clear()


def answer(hosts: Hosts, each: int, *argv: object, **environ: str) -> dict[str, Any]:
    out, err = (started := hosts.launch(each, *argv, "--json", **environ)).communicate(timeout=60)
    assert started.returncode == 0, err
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("each", [1, 2])
def test_the_same_answer(hosts: Hosts, each: int, tmp_path: Path) -> None:
    graph = generate(SPEC)
    source = int(np.argmax(np.diff(graph.offsets)))
    before = hosts.bytes_sent(OTHER)
    words = ("-s", source, "--device", "cpu", "-o", tmp_path / "out.npz")
    found = answer(hosts, each, "sssp", SPEC, *words)
    result = read_result(tmp_path / "out.npz")
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
    verify(graph, result)
    assert found["statistics"]["ranks"] == 2 * each
    # from the ranks of the other host to those of this one
    crossed = np.array(found["statistics"]["bytes_sent"])[each:, :each].sum()
    assert hosts.bytes_sent(OTHER) - before > crossed > 0


@pytest.mark.parametrize("suffix", [".csr", ".gr"])
def test_a_file_that_all_hosts_see(hosts: Hosts, suffix: str, tmp_path: Path) -> None:
    """A native file is mapped on every host; a text is read on one, or in pieces on all."""
    path = tmp_path / f"graph{suffix}"
    write_graph(generate("road:300x300"), path)
    found = answer(hosts, 2, "sssp", path, "--device", "cpu", "--no-cache", "--verify")
    assert found["verified"] is True


@pytest.mark.parametrize("kept", [False, True])
def test_a_prepared_file_that_one_host_does_not_see(
    hosts: Hosts, kept: bool, tmp_path: Path
) -> None:
    """Hosts that see it map it, also one that is kept in the cache; others get it from rank 0."""
    road, path = generate("road:150x150"), tmp_path / "road.prepared"
    words: tuple[object, ...] = ("--sources", "41,42,43,44", "--reduce", "sum", "--device", "cpu")
    words = ("apsp", path, "--algorithm", "sweep", *words)
    if kept:
        path = tmp_path / "road.gr"
        write_graph(road, path)
        words = ("apsp", path, *words[2:], "--prepare", "--cache", tmp_path / "copies")
        answer(hosts, 1, *words)
    else:
        write_graph(prepare(road.changed(first_id=1), device="cpu"), path)
    seen, few = counted(hosts, *words)
    with hosts.hidden(OTHER, tmp_path):
        hidden, many = counted(hosts, *words)
    rows = np.stack([scipy_distances(road, source) for source in range(40, 44)])
    right = rows[rows < 2**62].sum()
    assert seen["sum_of_distances"] == hidden["sum_of_distances"] == right
    assert few < road.nbytes / 2
    assert many > 2 * road.nbytes  # with the hierarchy


def counted(hosts: Hosts, *words: object) -> tuple[dict[str, Any], int]:
    """The answer of two ranks on each host, and what rank 0's has sent meanwhile."""
    before = hosts.bytes_sent(FIRST)
    found = answer(hosts, 2, *words)
    return found, hosts.bytes_sent(FIRST) - before


def test_doctor_looks_at_both_hosts(hosts: Hosts) -> None:
    found = answer(hosts, 2, "doctor")
    assert found["ranks"]["found"] == "4 on 2 host(s)"
    seen = [found[f"rank {rank}"]["detail"] for rank in range(4)]
    assert [sight["host"] for sight in seen] == [FIRST, FIRST, OTHER, OTHER]
    assert [sight["local_rank"] for sight in seen] == [0, 1, 0, 1]
    assert not [what for what, finding in found.items() if finding["state"] == "wrong"]


def at_work(hosts: Hosts, ranks: int) -> dict[str, list[int]]:
    """Wait until ranks of a job exchange over the network; their processes by host."""
    before = hosts.bytes_sent(OTHER)
    within(60, lambda: hosts.bytes_sent(OTHER) - before > 2_000_000)
    found = {name: sorted(p for p in hosts.processes(name) if _is_rank(p)) for name in NAMES}
    assert sum(map(len, found.values())) == ranks
    return found


def _is_rank(process: int) -> bool:
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"groute_py" in words and b"launch" not in words and b"-hosts" not in words


def within(seconds: float, there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def no_rank_is_left(hosts: Hosts) -> bool:
    return not any(_is_rank(process) for name in NAMES for process in hosts.processes(name))


def test_a_killed_rank_of_the_other_host(hosts: Hosts) -> None:
    started = hosts.launch(2, *ENDLESS)
    ranks = at_work(hosts, 4)
    os.kill(ranks[OTHER][0], signal.SIGKILL)
    started.communicate(timeout=15)
    assert started.returncode != 0
    within(5, lambda: no_rank_is_left(hosts))


def test_a_stopped_rank_of_the_other_host(hosts: Hosts) -> None:
    """Its process cannot be looked at from here; it is silent for five times as long."""
    started = hosts.launch(2, *ENDLESS, GROUTE_PY_SILENCE_S="2")
    ranks = at_work(hosts, 4)
    os.kill(ranks[OTHER][0], signal.SIGSTOP)
    _, err = started.communicate(timeout=30)
    assert f"(process {ranks[OTHER][0]} on {OTHER}) has given no sign of life for 10 s" in err
    within(5, lambda: no_rank_is_left(hosts))


def test_a_lost_link(hosts: Hosts) -> None:
    """MPI would wait for ever; the ranks of both hosts miss each other, and end."""
    started = hosts.launch(2, *ENDLESS, GROUTE_PY_SILENCE_S="2")
    at_work(hosts, 4)
    hosts.set_link(OTHER, "down")
    try:
        within(30, lambda: no_rank_is_left(hosts))
    finally:
        hosts.set_link(OTHER, "up")
    hosts.clear()  # mpirun may wait for what the other host says of its end
    _, err = started.communicate(timeout=15)
    assert f"on {OTHER}) has given no sign of life" in err
