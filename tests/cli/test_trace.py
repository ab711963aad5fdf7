"""``--trace``: a Chrome trace of all ranks, complete or absent."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.command import run_command
from support.local_ranks import on_ranks
from support.skips import NO_GPU

from groute_py import InputError
from groute_py.comm.base import SoloChannel
from groute_py.device.cpu import buffers
from groute_py.engine.chrome_trace import RankClock, chrome_trace, clocks
from groute_py.system import clock
from groute_py.system.clock import Clock as PhaseClock
from groute_py.system.clock import Record, recorder, running, span

GRID = "road:12x9"

COMMANDS = {
    "sssp": ("--verify", "-o", "out.npz"),
    "bfs": ("-s", 1),
    "apsp": ("--sources", "1,2", "-o", "out.npy"),
    "matrix": ("--from", "1,2", "--to", "3", "-o", "out.csv"),
    "nearest": ("--facilities", "1,2", "-o", "out.csv"),
    "route": ("--pairs", "pairs.csv", "-o", "out.csv"),
}


NANOSECONDS = 1000
"""In a microsecond. Perfetto rounds times to whole ones, and drops spans that then overlap."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text("source,target\n1,2\n")
    return tmp_path


def check(trace: dict[str, Any]) -> dict[int, dict[str, int]]:
    """Whether a trace keeps to the format; the rows of each process, by name.

    Events of a row are in the order of their times, and no span of a row begins within another.
    """
    rows: dict[int, dict[str, int]] = {}
    ends: dict[tuple[int, int], float] = {}
    for event in trace["traceEvents"]:
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert isinstance(event["name"], str)
        if event["ph"] == "M":
            if event["name"] == "thread_name":
                rows.setdefault(event["pid"], {})[event["args"]["name"]] = event["tid"]
            continue
        place = event["pid"], event["tid"]
        begin, length = (round(NANOSECONDS * event.get(key, 0)) for key in ("ts", "dur"))
        assert begin >= ends.get(place, 0)
        ends[place] = begin + length
        if event["ph"] == "X":
            assert event["dur"] >= 0
            assert event["tid"] in rows[event["pid"]].values()
        else:
            assert event["ph"] == "C"
            assert event["args"].keys() == {"count"}, "Perfetto shows it behind the counter's name"
            assert isinstance(event["args"]["count"], int | float)
    return rows


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command(place: Path, command: str) -> None:
    words = (command, GRID, *COMMANDS[command], "--device", "cpu", "--trace", "trace.json")
    done = run_command(*words)
    assert done.exit_code == 0, done.output
    trace = json.loads((place / "trace.json").read_text())
    rows = check(trace)
    assert {"read", "solve"} <= rows[0].keys()
    if "-o" in COMMANDS[command]:
        assert "write" in rows[0]
    if command == "route":
        assert {"method", "pairs"} <= rows[0].keys()
    if command in ("apsp", "matrix"):
        assert counter(trace, "rows")[-1] == 2
    if command == "sssp":
        assert {"partition", "upload", "rounds", "download", "verify", "compile"} <= rows[0].keys()
        assert rows[0]["read"] < rows[0]["solve"] < rows[0]["verify"] < rows[0]["write"]


@pytest.mark.parametrize("command", ["apsp", "matrix", "nearest", "route"])
def test_none_where_the_answer_goes(place: Path, command: str) -> None:
    """Two documents on standard output would be none."""
    with pytest.raises(InputError, match="--trace /dev/stdout: the answer goes to standard output"):
        run_command(command, GRID, *COMMANDS[command], "--trace", "/dev/stdout", "--json")
    assert [path.name for path in place.iterdir()] == ["pairs.csv"]


def counter(trace: dict[str, Any], name: str) -> list[float]:
    """The values of a counter of rank 0, by time."""
    events = [e for e in trace["traceEvents"] if e["ph"] == "C" and e["pid"] == 0]
    return [event["args"]["count"] for event in events if event["name"] == name]


@pytest.mark.parametrize("method", ["delta-stepping", "heap-dijkstra"])
def test_the_frontier_over_time(place: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr(buffers, "SLICE_ARCS", 16)
    words = ("--device", "cpu", "--algorithm", method, "--trace", "trace.json", "--json")
    done = run_command("sssp", GRID, "-s", 14, *words)
    trace = json.loads((place / "trace.json").read_text())
    check(trace)
    near, far, relaxations = (counter(trace, name) for name in ("near", "far", "relaxations"))
    assert len(near) == len(far) == len(relaxations) > 3
    assert max(near) > 0
    assert max(far) > 0 or method == "heap-dijkstra"
    assert near[-1] == far[-1] == 0
    assert relaxations == sorted(relaxations)
    assert relaxations[-1] == json.loads(done.stdout)["statistics"]["relaxations"]
    assert set(counter(trace, "bytes sent")) == {0}
    assert run_command("plot", "trace.json", "-o", "x.svg", "--size", 300).exit_code == 0
    texts = (place / "x.svg").read_text()
    assert all(f"<!-- {t} -->" in texts for t in ("The frontier over time", "near", "relaxations"))


@pytest.mark.gpu
def test_the_frontier_of_a_gpu(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if NO_GPU is not None:
        pytest.skip(NO_GPU)
    monkeypatch.setattr("groute_py.device.cuda.sssp.near_far.SLICE_STEPS_ALONE", 1)
    words = ("--device", "cuda", "--delta", 2000, "--trace", "trace.json")
    run_command("sssp", "road:20x20", "-s", 14, *words)
    trace = json.loads((place / "trace.json").read_text())
    near, far = counter(trace, "near"), counter(trace, "far")
    assert len(near) == len(far) > 3
    assert 0 < max(near) <= 400
    assert max(far) > 0
    assert near[-1] == far[-1] == 0


def test_what_a_trace_cannot_be_drawn_of(place: Path) -> None:
    (place / "trace.json").write_text('{"traceEvents": []}')
    with pytest.raises(InputError, match="the trace has no counters"):
        run_command("plot", "trace.json", "-o", "x.svg")
    (place / "trace.json").write_text('{"traceEvents": [{"ph": "C"}]}')
    with pytest.raises(InputError, match="not a trace of --trace"):
        run_command("plot", "trace.json", "-o", "x.svg")


def test_no_trace_of_a_run_that_fails(place: Path) -> None:
    with pytest.raises(InputError, match="trace"):
        run_command("sssp", GRID, "-o", "same.npz", "--trace", "same.npz")
    with pytest.raises(InputError, match="not a vertex"):
        run_command("sssp", GRID, "-s", "999", "--trace", "trace.json")
    with pytest.raises(InputError, match="does not exist"):
        run_command("apsp", GRID, "--trace", "nowhere/trace.json")
    assert not (place / "trace.json").exists()


def test_clocks_are_aligned() -> None:
    first, second = Record(), Record()
    first.span("solve", 10.0, 12.0)
    second.span("solve", 110.5, 111.0)
    second.count("relaxations", 111.0, 7)
    skew = [RankClock(0.0, 0.0), RankClock(100.0, 1e-6)]
    trace = chrome_trace([first, second], skew, ["rank 0", "rank 1"])
    check(trace)
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [(e["pid"], e["ts"], e["dur"]) for e in spans] == [
        (0, 0.0, 2e6),
        (1, pytest.approx(0.5e6), 0.5e6),
    ]
    (counter,) = [event for event in trace["traceEvents"] if event["ph"] == "C"]
    assert counter["args"] == {"count": 7}
    assert trace["otherData"]["clock_offsets_us"] == [0.0, 1e8]


def test_spans_that_touch_do_not_overlap() -> None:
    record, ends = Record(), [10.0 + n * 2.616e-7 for n in range(2000)]
    for begin, end in pairwise(ends):
        record.span("rounds", begin, end)
    check(chrome_trace([record], [RankClock(0.0, 0.0)], ["rank 0"]))


def test_the_clock_of_one_rank() -> None:
    assert clocks(SoloChannel()) == [RankClock(0.0, 0.0)]


def test_the_clocks_of_ranks_that_share_one() -> None:
    """Ranks that are threads have one clock, so what is found is no farther off than its error."""
    for result in on_ranks(3, clocks):
        assert len(result) == 3
        assert all(abs(clock.offset_s) <= clock.error_s + 1e-9 for clock in result)
        assert result[0] == RankClock(0.0, 0.0)


def test_later_events_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "MOST_EVENTS", 2)
    assert recorder() is None
    result = PhaseClock("start")
    result.record = Record()
    with running(result):
        for _ in range(5):
            with span("download"):
                pass
    assert (len(result.record.spans), result.record.dropped) == (2, 3)
