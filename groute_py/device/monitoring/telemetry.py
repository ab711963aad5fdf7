"""Samples of NVML while a GPU works; without NVML there are none.

A thread asks the driver ten times a second, and never the GPU's streams, so that no solve waits for
it. Counters (energy, NVLink) are taken at both ends too, so they cover short solves.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from types import TracebackType
from typing import Any

from groute_py.errors import GrouteError

PERIOD_S = 0.1

ALL_LINKS = 0xFFFFFFFF
"""The scope of a field for the sum over all NVLinks of a GPU."""


Nvml = Any
"""The module ``pynvml``; any of its functions may raise what a driver lacks."""


@dataclass(frozen=True)
class Sample:
    """One look at one GPU; None for unknown figures. Counters grow since its driver was loaded."""

    seconds: float  # since the record began
    gpu: str  # its UUID
    utilisation: int | None  # percent of the time in which a kernel ran
    used_bytes: int | None  # of its memory, by all processes
    watts: float | None
    joules: float | None
    sm_megahertz: int | None
    memory_megahertz: int | None
    nvlink_sent_bytes: int | None
    nvlink_received_bytes: int | None


COLUMNS = tuple(field.name for field in fields(Sample))


def nvml() -> Nvml | None:
    """NVML, ready to be asked, or None where it is not there."""
    with _quietly():
        import pynvml

        pynvml.nvmlInit()
        return pynvml
    return None


@contextmanager
def _quietly() -> Iterator[None]:
    """Pass over whatever a driver or its library raises, but not what a signal handler does."""
    try:
        yield
    except GrouteError:
        raise
    except Exception:  # noqa: BLE001 - no solve fails of what NVML says
        return


def free_bytes(library: Nvml | None) -> list[int]:
    """Free memory of each GPU of this host that tells it; empty without NVML."""
    sizes: list[int] = []
    if library is None:
        return sizes
    with _quietly():
        for index in range(library.nvmlDeviceGetCount()):
            with _quietly():  # one whose memory is the host's, or one that is lost
                handle = library.nvmlDeviceGetHandleByIndex(index)
                sizes.append(int(library.nvmlDeviceGetMemoryInfo(handle).free))
    return sizes


class GpuSamples:
    """Samples of a GPU (its UUID) in a block; none without NVML or without a GPU."""

    def __init__(self, library: Nvml | None, gpu: str | None, period_s: float = PERIOD_S) -> None:
        self._gpu, self._period_s = gpu or "", period_s
        self._library = library if gpu is not None else None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.samples: list[Sample] = []

    def __enter__(self) -> GpuSamples:
        self._start = time.monotonic()
        if self._library is not None:
            self._look()
            self._thread.start()
        return self

    def __exit__(self, _kind: object, _error: object, _trace: TracebackType | None) -> None:
        if self._library is not None:
            self._ended.set()
            self._thread.join()
            self._look()

    def _watch(self) -> None:
        while not self._ended.wait(self._period_s):
            self._look()

    def _look(self) -> None:
        assert self._library is not None
        seconds = round(time.monotonic() - self._start, 4)
        with _quietly():  # a GPU it does not know, such as a part of one
            self.samples.append(_sample(self._library, self._gpu, seconds))


def _sample(library: Nvml, gpu: str, seconds: float) -> Sample:
    handle = library.nvmlDeviceGetHandleByUUID(gpu)

    def read(ask: Any, *more: Any) -> Any:
        with _quietly():
            return ask(handle, *more)
        return None

    utilisation = read(library.nvmlDeviceGetUtilizationRates)
    memory = read(library.nvmlDeviceGetMemoryInfo)
    sent, received = _nvlink(library, read)
    return Sample(
        seconds,
        gpu,
        None if utilisation is None else int(utilisation.gpu),
        None if memory is None else int(memory.used),
        _thousandth(read(library.nvmlDeviceGetPowerUsage)),
        _thousandth(read(library.nvmlDeviceGetTotalEnergyConsumption)),
        read(library.nvmlDeviceGetClockInfo, library.NVML_CLOCK_SM),
        read(library.nvmlDeviceGetClockInfo, library.NVML_CLOCK_MEM),
        sent,
        received,
    )


def _nvlink(library: Nvml, read: Any) -> list[int | None]:
    """Bytes sent and received over all links, which NVML counts in KiB."""
    counters = (
        library.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX,
        library.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX,
    )
    fields = read(library.nvmlDeviceGetFieldValues, [(counter, ALL_LINKS) for counter in counters])
    if fields is None:
        return [None, None]
    return [None if f.nvmlReturn else int(f.value.ullVal) << 10 for f in fields]


def summary(samples: list[Sample]) -> dict[str, dict[str, float]]:
    """Means, most memory, least clock, and growth of counters, by GPU."""
    by_gpu: dict[str, dict[str, float]] = {}
    for gpu in sorted({sample.gpu for sample in samples}):
        own = [sample for sample in samples if sample.gpu == gpu]
        columns = {name: _values(own, name) for name in COLUMNS[2:]}
        figures = {
            "mean_utilisation": _mean(columns["utilisation"]),
            "most_used_bytes": max(columns["used_bytes"], default=None),
            "mean_watts": _mean(columns["watts"]),
            "joules": _grown(columns["joules"]),
            "least_sm_megahertz": min(columns["sm_megahertz"], default=None),
            "nvlink_sent_bytes": _grown(columns["nvlink_sent_bytes"]),
            "nvlink_received_bytes": _grown(columns["nvlink_received_bytes"]),
        }
        by_gpu[gpu] = {name: value for name, value in figures.items() if value is not None}
    return by_gpu


def rows(samples: list[Sample]) -> list[tuple[Any, ...]]:
    """The time line, for a table with the columns `COLUMNS`."""
    return [astuple(sample) for sample in sorted(samples, key=lambda s: (s.seconds, s.gpu))]


def _values(samples: list[Sample], name: str) -> list[float]:
    return [value for sample in samples if (value := getattr(sample, name)) is not None]


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _grown(counter: list[float]) -> float | None:
    return max(counter) - min(counter) if counter else None


def _thousandth(value: int | None) -> float | None:
    return None if value is None else value / 1000
