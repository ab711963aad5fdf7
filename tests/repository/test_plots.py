"""The charts show what the raw numbers say, and those in the documents are drawn from them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.places import ROOT

IMAGES = ROOT / "docs" / "images"

PEERS = {
    "graphs": [
        {"case": "small", "vertices": 250000, "arcs": 2500000},
        {"case": "large", "vertices": 3000000, "arcs": 9000000},
    ],
    "rows": [
        {"graph": "small", "program": "groute-py", "median_ms": 0.5},
        {"graph": "small", "program": "Other", "median_ms": 12.34},
        {"graph": "small", "program": "SciPy (1 thread)", "median_ms": 250},
        {"graph": "large", "program": "groute-py", "median_ms": 40},
        {"graph": "large", "program": "Other", "median_ms": None},
    ],
}


@pytest.fixture(autouse=True)
def plots(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import plots

    return plots


def solve(graph: str, ranks: int, tree: bool, seconds: float) -> dict[str, Any]:
    medians = {"solve": seconds, "predecessors": 0.25 * tree, "upload": 1.0, "download": 0.75}
    work = {"statistics": {"relaxations": 3000, "useless_relaxations": 1000}}
    size = {"vertices": 1000, "arcs": 2000, "runs": [work]}
    return {"case": graph, "ranks": ranks, "tree": tree, "medians": medians} | size


def scaling() -> dict[str, Any]:
    graphs = ("rmat:25", "road:4900x4900", "NY", "rmat:22", "rmat:24")
    records = [solve(g, n, t, 2 / n) for g in graphs for n in (1, 2) for t in (False, True)]
    return {"records": records}


def draw(plots: Any, folder: Path, peers: Any, scaled: Any) -> Result:
    (folder / plots.PEERS).write_text(json.dumps(peers))
    for name in (plots.SCALING, plots.PHASES):
        (folder / name).write_text(json.dumps(scaled))
    row = {"graph": "road:300x300", "method": "batch", "count": 8, "s": 0.5}
    (folder / plots.COSTS).write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n")
    names = ("groute-py, H200", "groute-py, 16 cores", "AequilibraE 1.7.2, 16 cores")
    curves = {name: [[0.1, None], [0.2, 0.1]] for name in names}
    (folder / plots.GAPS).write_text(json.dumps({"curves": curves}))
    words = ["--results", str(folder), "--output", str(folder / "out")]
    return CliRunner().invoke(plots.main, words)


def texts(path: Path) -> list[str]:
    """All that is written in a chart, in order."""
    return re.findall(r"<text [^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def test_charts_show_the_values(plots: Any, tmp_path: Path) -> None:
    done = draw(plots, tmp_path, PEERS, scaling())
    assert done.exit_code == 0, done.output
    peers = texts(tmp_path / "out" / "peers.svg")
    assert {"small", "large", "groute-py", "Other", "0.500", "12.3", "40.0", "250"} <= set(peers)
    assert "0.25 M vertices, 2.50 M arcs" in peers  # of small
    assert "programs on the CPU" in peers
    assert peers.count("no result") == 1  # Other on large
    assert peers.count("not measured") == 1  # SciPy on large
    scaled = texts(tmp_path / "out" / "scaling.svg")
    assert scaled.count("2.00×") == 2  # distances, of either graph
    assert scaled.count("1.80×") == 2  # 2.25 s over 1.25 s
    assert {"rmat:25", "road:4900x4900", "distances only", "with predecessors"} <= set(scaled)
    assert {"road:300x300", "batch"} <= set(texts(tmp_path / "out" / "batches.svg"))
    phases = texts(tmp_path / "out" / "phases.svg")
    assert phases.count("4,000 ms") == 4  # 1 + 2.25 + 0.75 s
    assert {"groute-py, H200", "relative gap"} <= set(texts(tmp_path / "out" / "gaps.svg"))
    assert {"NY", "all relaxations"} <= set(texts(tmp_path / "out" / "roofline.svg"))


def test_same_numbers_give_the_same_file(plots: Any, tmp_path: Path) -> None:
    draw(plots, tmp_path, PEERS, scaling())
    first = (tmp_path / "out" / "peers.svg").read_bytes()
    draw(plots, tmp_path, PEERS, scaling())
    assert (tmp_path / "out" / "peers.svg").read_bytes() == first


@pytest.mark.parametrize(
    ("peers", "says"),
    [
        ({"rows": [{"graph": "g", "program": "p"}]}, "no 'median_ms'"),
        ({"rows": [{"graph": "g", "program": "p", "median_ms": 0}]}, "0 is not a time"),
        ({"rows": [{"graph": "g", "program": "p", "median_ms": "2"}]}, "'2' is not a time"),
        ({"rows": []}, "no rows"),
        ({}, "no 'rows'"),
        ([], "not what peers.svg is drawn from"),
    ],
)
def test_a_malformed_record_is_one_error(plots: Any, tmp_path: Path, peers: Any, says: str) -> None:
    done = draw(plots, tmp_path, peers, scaling())
    assert done.exit_code == 2
    assert says in done.output
    assert done.output.count("\n") == 1


def test_scaling_needs_one_gpu(plots: Any, tmp_path: Path) -> None:
    records = [record for record in scaling()["records"] if record["ranks"] == 2]
    done = draw(plots, tmp_path, PEERS, {"records": records})
    assert done.exit_code == 2
    assert "no record of rmat:25 on one GPU" in done.output


def test_a_missing_file_is_named(plots: Any, tmp_path: Path) -> None:
    done = CliRunner().invoke(plots.main, ["--results", str(tmp_path), "--output", str(tmp_path)])
    assert done.exit_code == 2
    assert str(tmp_path / plots.PEERS) in done.output


def test_charts_of_the_documents_are_of_the_committed_numbers(plots: Any, tmp_path: Path) -> None:
    """Their texts are compared: the coordinates depend on the version of matplotlib."""
    done = CliRunner().invoke(plots.main, ["--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert {path.name for path in IMAGES.glob("*.svg")} >= plots.CHARTS.keys()
    for name in plots.CHARTS:
        assert texts(IMAGES / name) == texts(tmp_path / name), name
