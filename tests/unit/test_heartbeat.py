"""The watch of ranks on each other: what counts as lost, and beats over real connections."""

from __future__ import annotations

import os
import platform
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from support.local_ranks import LocalChannel, on_ranks

from groute_py.comm import heartbeat as wiring
from groute_py.comm.heartbeat import (
    AWAY_S,
    BEAT,
    FAR,
    FAREWELL,
    GONE_S,
    Peer,
    Watch,
    heartbeat,
    wires,
)

HERE = platform.node()


@pytest.fixture
def sleeper() -> Iterator[int]:
    """A process that waits for its input."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


def peer(process: int, host: str = HERE) -> Peer:
    return Peer(3, host, process, last_seen=100.0)


def test_a_rank_that_beats_is_fine(sleeper: int) -> None:
    assert peer(sleeper).problem(now=110.0, silence_s=10) is None


def test_a_stopped_rank_is_lost(sleeper: int) -> None:
    os.kill(sleeper, signal.SIGSTOP)
    os.waitid(os.P_PID, sleeper, os.WSTOPPED | os.WNOWAIT)
    result = peer(sleeper).problem(now=111.0, silence_s=10)
    assert result == f"rank 3 (process {sleeper} on {HERE}) is stopped for 11 s"


def test_a_busy_rank_is_left_alone() -> None:
    """This very process, which runs."""
    assert peer(os.getpid()).problem(now=1e6, silence_s=10) is None


def test_a_rank_of_another_host_has_longer() -> None:
    far = peer(1, host="elsewhere")
    assert far.problem(now=100 + 10 * FAR, silence_s=10) is None
    result = far.problem(now=101 + 10 * FAR, silence_s=10)
    assert result == "rank 3 (process 1 on elsewhere) has given no sign of life for 51 s"


def test_a_broken_connection_is_a_lost_rank() -> None:
    broken = Peer(0, "elsewhere", 1, last_seen=100.0, broken=True)
    assert broken.problem(now=100 + GONE_S, silence_s=10) is None
    assert "is gone" in str(broken.problem(now=101 + GONE_S, silence_s=10))


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_that_end_in_order_are_not_lost(ranks: int) -> None:
    lost: list[str] = []

    def work(channel: LocalChannel) -> None:
        for _ in range(2):
            with heartbeat(channel, 5.0, lost.append):
                channel.gather(None)

    on_ranks(ranks, work)
    assert lost == []


def test_a_silent_rank_is_told(sleeper: int) -> None:
    """It answers nothing, though its connection stands."""
    mine, its = socket.socketpair()
    lost: list[str] = []
    with its:
        watch = Watch({mine: Peer(1, HERE, sleeper, time.monotonic())}, answers=True)
        watch.run(0.3, lost.append)
    assert len(lost) == 1
    assert lost[0].startswith(f"rank 1 (process {sleeper} on {HERE}) has given no sign of life")


def test_who_says_farewell_is_not_lost(sleeper: int) -> None:
    mine, its = socket.socketpair()
    lost: list[str] = []
    watch = Watch({mine: Peer(1, HERE, sleeper, time.monotonic())}, answers=True)
    watching = threading.Thread(target=watch.run, args=(0.3, lost.append))
    with its:
        its.send(BEAT)
        watching.start()
        assert its.recv(1) == BEAT
        its.send(FAREWELL)
    watching.join(1.0)
    assert watching.is_alive()
    watch.end()
    watching.join(5.0)
    assert not watching.is_alive()
    assert lost == []


def test_a_watcher_that_was_away_judges_nobody(
    sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a whole job is stopped and goes on: all have been silent, also to the watcher."""
    clock = iter([100.0, 100.0, 100.0 + AWAY_S + 600])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock, 1000.0))
    mine, its = socket.socketpair()
    silent, judged = Peer(1, HERE, sleeper, 100.0), list[float]()

    def judge(now: float, silence_s: float) -> None:
        judged.append(now - silent.last_seen)
        if len(judged) == 2:
            watch.end()

    monkeypatch.setattr(silent, "problem", judge)
    with its:
        watch = Watch({mine: silent}, answers=True)
        watch.run(10.0, print)
    assert judged == [0.0, 0.0]


def test_wires_lead_to_rank_0() -> None:
    def work(channel: LocalChannel) -> list[int]:
        result = wires(channel)
        for wire in result.values():
            wire.close()
        return sorted(result)

    assert on_ranks(3, work) == [[1, 2], [0], [0]]


def test_strangers_get_no_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    """One says too little, one knows no secret; the rank that comes after them is accepted."""
    server = socket.create_server(("127.0.0.1", 0))
    secret, port = bytes(wiring.SECRET_BYTES), server.getsockname()[1]
    strangers = [socket.create_connection(("127.0.0.1", port)) for _ in range(2)]
    strangers[0].close()
    strangers[1].sendall(wiring.HELLO.pack(b"x" * wiring.SECRET_BYTES, 1))
    rank = socket.create_connection(("127.0.0.1", port))
    rank.sendall(wiring.HELLO.pack(secret, 1))
    with server, strangers[1], rank:
        result = wiring._accepted(server, secret, 1)
        assert list(result) == [1]
        assert rank.recv(len(secret)) == secret
        assert strangers[1].recv(1) == b""
        result[1].close()


@pytest.mark.parametrize("function", ["_reached", "_server"])
def test_a_rank_that_is_not_reached_is_not_watched(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "MEET_S", 0.1)
    monkeypatch.setattr(wiring, function, lambda *of: None)

    def work(channel: LocalChannel) -> list[int]:
        with heartbeat(channel, 1.0, lost.append) as unwatched:
            return unwatched

    lost: list[str] = []
    assert on_ranks(3, work) == [[1, 2], [], []]
    assert lost == []
