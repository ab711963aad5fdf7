"""Telemetry, from an NVML that is played; no GPU is needed."""

from __future__ import annotations

import csv
import json
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from groute_py.cli.main import commands
from groute_py.device.cpu.device import CpuDevice
from groute_py.device.monitoring import telemetry
from groute_py.device.monitoring.telemetry import (
    COLUMNS,
    GpuSamples,
    Sample,
    free_bytes,
    rows,
    summary,
)
from groute_py.errors import InputError, InterruptedRun, signalled


class NotSupportedError(Exception):
    """As NVML raises it."""


class Played:
    """Two GPUs; the second tells no energy. Each look at the first costs it five joules."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM = 1, 2
    NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX = 138, 139
    NVMLError = NotSupportedError

    def __init__(self) -> None:
        self.millijoules = 1000
        self.kibibytes = 0
        self.looks = 0
        self.looked_often = threading.Event()

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802 - NVML's names
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> int:  # noqa: N802
        if uuid not in ("GPU-a", "GPU-b"):
            raise NotSupportedError
        return int(uuid == "GPU-b")

    def nvmlDeviceGetMemoryInfo(self, gpu: int) -> Any:  # noqa: N802
        return SimpleNamespace(free=1000 + gpu, used=2000 + gpu)

    def nvmlDeviceGetUtilizationRates(self, gpu: int) -> Any:  # noqa: N802
        return SimpleNamespace(gpu=80 - gpu)

    def nvmlDeviceGetPowerUsage(self, gpu: int) -> int:  # noqa: N802
        return 350_000

    def nvmlDeviceGetTotalEnergyConsumption(self, gpu: int) -> int:  # noqa: N802
        if gpu == 1:
            raise NotSupportedError
        self.millijoules += 5000
        return self.millijoules

    def nvmlDeviceGetFieldValues(self, gpu: int, wanted: list[tuple[int, int]]) -> Any:  # noqa: N802
        """It counts what it receives, and cannot say what it sends."""
        self.kibibytes += 3
        value = SimpleNamespace(ullVal=self.kibibytes)
        return [
            SimpleNamespace(nvmlReturn=0 if field == 139 else 3, value=value)
            for field, scope in wanted
            if scope == 0xFFFFFFFF
        ]

    def nvmlDeviceGetClockInfo(self, gpu: int, clock: int) -> int:  # noqa: N802
        self.looks += 1
        if self.looks >= 10:
            self.looked_often.set()
        return 1000 * clock


def test_a_record_has_its_beginning_and_its_end() -> None:
    with GpuSamples(Played(), "GPU-a", period_s=100.0) as record:
        pass
    assert [sample.gpu for sample in record.samples] == ["GPU-a"] * 2
    assert summary(record.samples) == {
        "GPU-a": {
            "mean_utilisation": 80,
            "most_used_bytes": 2000,
            "mean_watts": 350,
            "joules": 5,
            "least_sm_megahertz": 1000,
            "nvlink_received_bytes": 3072,
        }
    }


def test_what_a_driver_does_not_tell_is_left_out() -> None:
    with GpuSamples(Played(), "GPU-b", period_s=100.0) as record:
        pass
    assert "joules" not in summary(record.samples)["GPU-b"]
    assert record.samples[0].nvlink_sent_bytes is None


def test_a_thread_looks_meanwhile() -> None:
    played = Played()
    with GpuSamples(played, "GPU-a", period_s=0.001) as record:
        assert played.looked_often.wait(10)
    assert len(record.samples) >= 5
    times = [sample.seconds for sample in record.samples]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("library", "gpu"), [(None, "GPU-a"), (Played(), None), (Played(), "MIG-c")]
)
def test_nothing_to_tell(library: Any, gpu: str | None) -> None:
    with GpuSamples(library, gpu) as record:
        pass
    assert record.samples == []
    assert summary([]) == {}


def test_free_memory() -> None:
    assert free_bytes(Played()) == [1000, 1001]
    assert free_bytes(None) == []


class Broken(Played):
    """What drivers and their bindings do that are not as they should be."""

    def __init__(self, **wrong: Any) -> None:
        super().__init__()
        for name, value in wrong.items():
            setattr(self, name, value)


def raising(error: Exception) -> Any:
    def ask(*_: object) -> Any:
        raise error

    return ask


@pytest.mark.parametrize(
    ("wrong", "free"),
    [
        ({"nvmlDeviceGetCount": raising(NotSupportedError())}, []),
        ({"nvmlDeviceGetCount": lambda: None}, []),
        ({"nvmlDeviceGetHandleByIndex": lambda i: i if i else raising(OSError())()}, [1001]),
        ({"nvmlDeviceGetMemoryInfo": raising(NotSupportedError())}, []),
        ({"nvmlDeviceGetMemoryInfo": lambda _: None}, []),
    ],
)
def test_free_memory_that_is_not_told(wrong: dict[str, Any], free: list[int]) -> None:
    assert free_bytes(Broken(**wrong)) == free


@pytest.mark.parametrize(
    "wrong",
    [
        {"nvmlDeviceGetPowerUsage": lambda _: b"350"},
        {"nvmlDeviceGetFieldValues": lambda *_: []},
        {"nvmlDeviceGetUtilizationRates": raising(TypeError())},
        {"nvmlDeviceGetHandleByUUID": raising(AttributeError())},
    ],
)
def test_no_solve_fails_of_what_nvml_says(wrong: dict[str, Any]) -> None:
    with GpuSamples(Broken(**wrong), "GPU-a") as record:
        pass
    assert isinstance(summary(record.samples), dict)


def test_a_signal_is_heard() -> None:
    """What its handler raises may come out of any call."""
    library = Broken(nvmlDeviceGetMemoryInfo=raising(signalled(InterruptedRun("SIGTERM"))))
    with pytest.raises(InterruptedRun):
        free_bytes(library)
    with pytest.raises(InterruptedRun), GpuSamples(library, "GPU-a"):
        pass


@pytest.mark.parametrize("error", ["OSError", "RuntimeError", "AttributeError"])
def test_a_library_that_is_broken(
    error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pynvml.py").write_text(f"raise {error}('no such symbol')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    assert telemetry.nvml() is None


def test_rows_are_in_order_of_time() -> None:
    late, early = (Sample(s, "GPU-a", 1, 2, 3.0, 4.0, 5, 6, 7, None) for s in (0.2, 0.1))
    assert [row[0] for row in rows([late, early])] == [0.1, 0.2]
    assert len(rows([late])[0]) == len(COLUMNS)


@pytest.mark.parametrize("library", [Played(), None], ids=["NVML", "no NVML"])
def test_the_option(library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "nvml", lambda: library)
    monkeypatch.setattr(CpuDevice, "uuid", "GPU-a")
    path = tmp_path / "line.csv"
    words = ["sssp", "road:20x20", "--device", "cpu", "--telemetry", str(path)]
    done = CliRunner().invoke(commands, [*words, "--json"], catch_exceptions=False)
    lines = list(csv.reader(path.read_text().splitlines()))
    assert lines[0] == list(COLUMNS)
    assert len(lines) >= (3 if library else 1)
    assert sorted(json.loads(done.stdout)["telemetry"]) == (["GPU-a"] if library else [])
    assert ("NVML (nvidia-ml-py) is not there" in done.stderr) == (library is None)
    for_people = CliRunner().invoke(commands, words, catch_exceptions=False).stdout
    assert ("mean watts 350" in for_people) == bool(library)


@pytest.mark.mpi
@pytest.mark.one_mpi
def test_ranks_without_gpus_have_nothing_to_tell(groute: Any, tmp_path: Path) -> None:
    words = ("sssp", "road:20x20", "--device", "cpu", "--telemetry", tmp_path / "line.csv")
    assert groute(*words, ranks=2).returncode == 0
    assert (tmp_path / "line.csv").read_text() == ",".join(COLUMNS) + "\n"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    words = ["sssp", "road:20x20", "--telemetry", str(tmp_path / "absent" / "line.csv")]
    done = CliRunner().invoke(commands, words)
    assert isinstance(done.exception, InputError)
    assert "does not exist; create it first" in str(done.exception)
