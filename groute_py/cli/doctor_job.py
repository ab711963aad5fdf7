"""A report of all ranks of a job: their hosts and GPUs, and differences between them."""

from __future__ import annotations

import os
import platform
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import groute_py
from groute_py.comm import awareness
from groute_py.comm.base import Channel
from groute_py.comm.team import hosts_of, scattered
from groute_py.device.registry import gpu_problem
from groute_py.errors import InputError
from groute_py.io.cache_folder import base_folder
from groute_py.kernels.source import MAX_PEERS
from groute_py.system.environment import hiding, local_rank, why_hidden
from groute_py.system.paths import is_there
from groute_py.system.settings import settings

TOLERABLE_SKEW_S = 1.0
"""Clocks may differ so much; the age of cached graphs is judged by them."""


@dataclass(frozen=True)
class RankView:
    """The view of one rank."""

    host: str  # as `groute_py.comm.team.hosts_of`
    local_rank: int
    software: str
    library: str
    aware: bool
    gpu: str | None  # a PCI address, as in `visible`
    uuid: str | None
    visible: tuple[str, ...]  # all that CUDA shows it
    hidden_by: str | None  # the setting that may hide others from it
    clock: float  # `time.time` when all ranks were asked
    cache_seen: bool  # a file that rank 0 has left in the cache folder is there

    def shown(self) -> str:
        """Return a line for people."""
        gpu = f"GPU {self.uuid} at {self.gpu}" if self.gpu else "no GPU"
        return f"{self.host}, local rank {self.local_rank}, {gpu}, {self.library}"


def sights(channel: Channel) -> list[RankView]:
    """Gather what every rank sees, in rank order; collective."""
    mark = settings().cache_folder / f"groute-py-doctor-{channel.broadcast(secrets.token_hex(8))}"
    has_mark = channel.rank == 0 and _leave(mark)
    local = local_rank(channel.rank)
    host = hosts_of(channel)[channel.rank]
    library, aware = awareness.mpi_library(), awareness.gpu_aware()[0]
    visible = _visible()
    gpu, uuid = visible[local % len(visible)] if visible else (None, None)
    software = f"groute-py {groute_py.__version__}, Python {platform.python_version()}"
    channel.gather(None)  # the mark is there, and all are asked for the time at once
    mine = RankView(
        host,
        local,
        software,
        library,
        aware,
        gpu,
        uuid,
        tuple(bus for bus, _ in visible),
        hiding(),
        time.time(),
        is_there(mark),
    )
    sights = channel.gather(mine)
    if has_mark:
        with suppress(OSError):
            mark.unlink(missing_ok=True)
    return sights


def _leave(mark: Path) -> bool:
    """Return True if a file has been left; the finding on the cache folder says why not."""
    try:
        base_folder().mkdir(parents=True, exist_ok=True)
        os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666))
    except (OSError, InputError):
        return False
    return True


def _visible() -> list[tuple[str, str]]:
    """Return the address and the UUID of each GPU that CUDA shows to this process."""
    if gpu_problem() is not None:
        return []
    from groute_py.device.cuda.runtime.gpu import gpus

    return [(gpu.bus, gpu.uuid) for gpu in gpus()]


def hidden(sights: list[RankView]) -> str | None:
    """Name a rank that does not see the GPU of others on its host, or None."""
    for rank, sight in enumerate(sights):
        peers = [
            peer
            for peer, other in enumerate(sights)
            if other.host == sight.host and other.gpu and other.gpu not in sight.visible
        ]
        if peers:
            return why_hidden(rank, peers, sight.hidden_by)
    return None


def exchange(sights: list[RankView]) -> str:
    """Say how ranks will exchange, as far as can be seen without a graph."""
    hosts = [sight.host for sight in sights]
    count = len(set(hosts))
    if not all(sight.gpu for sight in sights):
        return "in rounds: not every rank has a GPU"
    if count == len(sights):
        return "in rounds: one rank a host"
    if problem := scattered(hosts) or hidden(sights):
        return f"in rounds: {problem}"
    if len({(sight.host, sight.gpu) for sight in sights}) < len(sights):
        return "in rounds: ranks share a GPU"
    if max(map(hosts.count, hosts)) > MAX_PEERS:
        return f"in rounds: a kernel can serve {MAX_PEERS} ranks of a host and no more"
    within = f"within {count} hosts, in rounds between them" if count > 1 else "inside kernels"
    return f"fused {within}, if these GPUs have peer access"


def shared_gpus(sights: list[RankView]) -> Iterator[str]:
    """Yield the GPUs that several ranks take."""
    takers: dict[str, list[int]] = {}
    for rank, sight in enumerate(sights):
        if sight.uuid:
            takers.setdefault(sight.uuid, []).append(rank)
    for uuid, ranks in takers.items():
        if len(ranks) > 1:
            yield f"{uuid} of {sights[ranks[0]].host} by ranks {', '.join(map(str, ranks))}"


def differing(sights: list[RankView], what: Callable[[RankView], object]) -> str | None:
    """Describe how ranks differ in something; None if they do not."""
    values = [what(sight) for sight in sights]
    other = next((rank for rank, value in enumerate(values) if value != values[0]), None)
    return None if other is None else f"rank 0: {values[0]}; rank {other}: {values[other]}"


def skew_s(sights: list[RankView]) -> float:
    """Return the distance of the ranks' clocks, as far as asking takes no time."""
    clocks = [sight.clock for sight in sights]
    return max(clocks) - min(clocks)


def cache_is_shared(sights: list[RankView]) -> bool:
    """Return whether every host sees the same cache folder."""
    return all(sight.cache_seen for sight in sights)
