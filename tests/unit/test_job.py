"""What doctor makes of what the ranks of a job see."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
from support.local_ranks import on_ranks

from groute_py.cli import doctor_job as job
from groute_py.cli.doctor_checks import about_the_job, about_ways
from groute_py.cli.doctor_job import RankView
from groute_py.comm import team
from groute_py.kernels.source import MAX_PEERS

ONE = RankView(
    host="a",
    local_rank=0,
    software="groute-py 1",
    library="MPICH 5.0",
    aware=False,
    gpu="01",
    uuid="GPU-1",
    visible=("01", "02"),
    hidden_by=None,
    clock=100.0,
    cache_seen=True,
)
TWO = replace(ONE, local_rank=1, gpu="02", uuid="GPU-2")
FAR = replace(ONE, host="b", uuid="GPU-3")


def states(*found: RankView) -> dict[str, str]:
    return {finding.what: finding.state for finding in about_the_job(list(found))}


def test_a_good_job() -> None:
    assert set(states(ONE, TWO, FAR).values()) == {"good"}


@pytest.mark.parametrize(
    ("what", "found"),
    [
        ("GPU binding", [replace(ONE, visible=("01",), hidden_by="--gpus-per-task=1"), TWO]),
        ("GPU binding", [ONE, ONE]),
        ("clocks", [ONE, replace(FAR, clock=107.0)]),
        ("MPI libraries", [ONE, replace(TWO, library="Open MPI 5.0")]),
        ("software", [ONE, replace(TWO, software="groute-py 2")]),
        ("GPU-awareness", [ONE, replace(TWO, aware=True)]),
    ],
)
def test_what_does_not_go_together(what: str, found: list[RankView]) -> None:
    assert [name for name, state in states(*found).items() if state == "wrong"] == [what]
    finding = next(f for f in about_the_job(found) if f.what == what)
    assert finding.advice


def test_the_hiding_setting_is_named() -> None:
    found = [ONE, replace(TWO, visible=("02",), hidden_by="--gpus-per-task=1")]
    finding = next(f for f in about_the_job(found) if f.what == "GPU binding")
    assert "rank 1 does not see the GPU of rank 0, which --gpus-per-task=1" in finding.observation
    assert "--gpu-bind=none" in finding.advice


def test_a_cache_of_each_host() -> None:
    finding = list(about_the_job([ONE, replace(FAR, cache_seen=False)]))[-1]
    assert finding.observation == "each host has its own"


def test_without_gpus_nothing_is_said_of_binding() -> None:
    assert "GPU binding" not in states(replace(ONE, gpu=None, uuid=None, visible=()))


NO_GPU = replace(ONE, gpu=None, uuid=None, visible=())


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ([ONE, TWO], "fused inside kernels, if"),
        ([ONE, TWO, FAR], "fused within 2 hosts, in rounds between them, if"),
        ([ONE, FAR], "in rounds: one rank a host"),
        ([ONE, FAR, TWO], "in rounds: rank 2 on a does not follow the others of its host"),
        ([ONE, replace(TWO, visible=("02",))], "in rounds: rank 1 does not see the GPU of rank 0"),
        ([ONE, ONE], "in rounds: ranks share a GPU"),
        ([ONE, NO_GPU], "in rounds: not every rank has a GPU"),
    ],
)
def test_how_ranks_will_exchange(found: list[RankView], says: str) -> None:
    assert job.exchange(found).startswith(says)
    assert says.startswith(
        next(f.observation for f in about_the_job(found) if f.what == "exchange")[:9]
    )


def test_a_kernel_serves_so_many() -> None:
    buses = tuple(f"{bus:02}" for bus in range(MAX_PEERS + 1))
    found = [replace(ONE, gpu=bus, visible=buses) for bus in buses]
    assert job.exchange(found).startswith(f"in rounds: a kernel can serve {MAX_PEERS} ranks")
    assert job.exchange(found[:-1]).startswith("fused")


def test_pretended_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "settings", lambda: SimpleNamespace(hosts=2))
    hosts = [sight.host for sight in on_ranks(4, job.sights)[0]]
    assert [host.rpartition("/")[2] for host in hosts] == ["0", "0", "1", "1"]


def test_ranks_look() -> None:
    found = on_ranks(3, job.sights)[0]
    assert len(found) == 3
    assert job.skew_s(found) < 5
    assert job.cache_is_shared(found)


@dataclass(frozen=True)
class Way:
    """As `groute_py.device.cuda.peer.bandwidth` measures it, which needs CuPy."""

    gigabytes_per_s: float
    latency_us: float


def test_what_was_measured_between_gpus() -> None:
    near, far = Way(390.0, 1.9), Way(400.0, 2.1)
    ways = {(0, 0): Way(2000.0, 0.5), (0, 1): near, (1, 0): far, (1, 1): Way(2000.0, 0.6)}
    bandwidth, latency = about_ways(ways)
    assert bandwidth.observation == "390 to 400 GB/s"
    assert bandwidth.state == latency.state == "good"
    assert bandwidth.detail["0 to 1"] == {"gigabytes_per_s": 390.0, "latency_us": 1.9}
    assert latency.observation == "1.90 to 2.10 µs a load, 0.50 from own memory"


def test_a_slow_way_is_named() -> None:
    ways = {(0, 0): Way(2000.0, 0.5), (0, 1): Way(390.0, 1.9), (0, 2): Way(20.0, 4.0)}
    bandwidth, _ = about_ways(ways)
    assert bandwidth.state == "absent"
    assert "slower than others: 0 and 2" in bandwidth.advice


def test_no_way_at_all() -> None:
    assert list(about_ways({(0, 0): Way(2000.0, 0.5)})) == []


LATE = """
import signal, sys, time
import groute_py.cli.doctor as command
from groute_py.cli import doctor_checks as checks

command.PATIENCE_S, command.LAST_RESORT_S = 1.0, {last_resort_s}

def examine():
    {how}

checks.examine = examine
sys.argv = ["groute-py", "doctor"]
from groute_py.cli.main import main
main()
"""


@pytest.mark.parametrize(
    ("how", "last_resort_s", "says"),
    [
        ("time.sleep(60)", 25, "not all ranks have answered within 1 s"),
        # as in a blocking call, such as MPI's start
        (
            "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM]); time.sleep(60)",
            1,
            "in examine",
        ),
    ],
    ids=["a signal is heard", "nothing is heard"],
)
def test_doctor_gives_up(how: str, last_resort_s: float, says: str) -> None:
    words = [sys.executable, "-c", LATE.format(how=how, last_resort_s=last_resort_s)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert says in done.stderr
    assert done.stdout == ""


def test_a_uuid_that_cupy_cuts_short() -> None:
    inventory = pytest.importorskip("groute_py.device.cuda.runtime.gpu")
    whole = bytes(range(1, 17))
    assert inventory.uuid_of({"uuid": whole}) == "GPU-01020304-0506-0708-090a-0b0c0d0e0f10"
    short = inventory.uuid_of({"uuid": whole[:3]})
    assert short == "GPU-01020300-0000-0000-0000-000000000000"
