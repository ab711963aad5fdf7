"""``--telemetry FILE``: a time series and a summary of the GPUs during a solve."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groute_py.comm.base import Channel
    from groute_py.device.monitoring.telemetry import Record


def record(file: str | None, gpu: str | None) -> Record:
    """A record of this rank's GPU, not begun yet; an empty one where none is wanted."""
    from groute_py.device.monitoring.telemetry import Record, nvml

    return Record(None if file is None else nvml(), gpu)


def report(channel: Channel, record: Record, file: str | None) -> dict[str, Any]:
    """Write the time line of all ranks' GPUs on rank 0; returns each one's figures. Collective."""
    from groute_py.comm.agree import on_root
    from groute_py.device.monitoring.telemetry import summary

    if file is None:
        return {}
    # ranks that share a GPU saw the same
    by_gpu = {s[0].gpu: s for s in reversed(channel.gather(record.samples)) if s}
    samples = [sample for seen in by_gpu.values() for sample in seen]
    on_root(channel, lambda: _write(samples, Path(file)))
    return summary(samples)


def _write(samples: list[Any], path: Path) -> None:
    from groute_py.device.monitoring.telemetry import COLUMNS, rows
    from groute_py.system.atomic_file import replacing, translating_errors

    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(rows(samples))
    with translating_errors(path), replacing(path) as file:
        file.write(text.getvalue().encode())
