"""The phases of jobs on a GPU, as ``python -m benchmarks --beside`` has them."""

from __future__ import annotations

import math
from importlib import import_module

import pytest
from support.places import ROOT
from support.skips import needs_gpu

from groute_py.comm.base import SoloChannel

pytestmark = needs_gpu


@pytest.mark.parametrize(
    ("case", "whole", "parts"),
    [
        ("pairs:road:20x20/9", "pairs", ("upload", "distances", "download")),
        ("matrix:road:20x20/9", "rows", ("upload", "distances", "download")),
        ("isochrones:road:20x20/40", "run", ("solve", "download")),
        ("betweenness:road:9x9/3", "sums", ("load", "download")),
        ("betweenness:rmat:5/3/unweighted", "sums", ("load", "download")),
    ],
)
def test_parts_of_phases(
    case: str, whole: str, parts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groute_py.many.labels.pays", lambda order_s, *_: order_s < math.inf)
    monkeypatch.syspath_prepend(str(ROOT))
    beside = import_module("benchmarks.beside")
    record = beside.PROGRAM.measure(SoloChannel(), beside.Case.parse(case), "cuda", 1)
    phases = record["phases"]
    assert all(phases[part] > 0 for part in parts)
    assert sum(phases[part] for part in parts) < phases[whole] <= phases["run"]
