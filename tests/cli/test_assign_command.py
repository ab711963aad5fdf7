"""The command assign: answers, files, what it refuses."""

from __future__ import annotations

import csv
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import as_json, run_command
from support.skips import require_metis

from groute_py import FormatError, GraphError, InputError, InterruptedRun, assign
from groute_py.errors import signalled
from groute_py.io.formats.tntp import read_nodes
from groute_py.many.storage.store import Store
from groute_py.maps.charts import draw_convergence
from groute_py.maps.drawings import draw_flows
from groute_py.maps.places import layout_of

require_metis()

NETWORK = """<NUMBER OF ZONES> 2
<NUMBER OF NODES> 4
<FIRST THRU NODE> 3
<NUMBER OF LINKS> 4
<END OF METADATA>
~ init_node term_node capacity length free_flow_time b power speed toll link_type ;
1 3 2 1 10 1 1 0 0 1 ;
1 4 4 1 20 1 1 0 5 1 ;
3 2 1 1 0 0 0 0 0 1 ;
4 2 1 1 0 0 0 0 0 1 ;
"""

TRIPS = """<NUMBER OF ZONES> 2
<TOTAL OD FLOW> 8
<END OF METADATA>
Origin 1
2 : 8.0;
"""

STEEP = NETWORK.replace("20 1 1", "20 1 4")
"""So that no equilibrium is reached to the last bit."""


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with two roads from zone 1 to zone 2, and trips between them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "town_net.tntp").write_text(NETWORK)
    (tmp_path / "town_trips.tntp").write_text(TRIPS)
    return tmp_path


def volumes(path: Path) -> list[float]:
    with path.open() as file:
        return [round(float(row["volume"]), 3) for row in csv.DictReader(file)]


def assigned(*more: object) -> dict[str, object]:
    words = ("assign", "town_net.tntp", "town_trips.tntp", "-o", "flows.csv", "--json")
    return as_json(run_command(*words, *more))


def test_an_equilibrium(town: Path, device: str) -> None:
    rows = assigned("--gap", 1e-8, "--device", device)
    assert rows["converged"] is True
    assert rows["trips"] == 8
    assert volumes(town / "flows.csv") == [5, 3, 5, 3]


@pytest.mark.parametrize("words", [("-o", "-"), (), ("--format", "csv")])
def test_flows_go_to_standard_output(town: Path, words: tuple[str, ...]) -> None:
    command = ("assign", "town_net.tntp", "town_trips.tntp", "--gap", 1e-8)
    run_command(*command, "-o", "flows.csv")
    done = run_command(*command, *words)
    assert done.stdout == (town / "flows.csv").read_text()
    assert "relative gap" in done.stderr
    assert not list(town.glob("*.partial"))


def test_a_start_at_saved_flows(town: Path) -> None:
    first = assigned("--gap", 1e-8)
    (town / "flows.csv").rename("first.csv")
    again = assigned("--gap", 1e-8, "--start", "first.csv")
    assert again["iterations"] == 1 < first["iterations"]
    assert volumes(town / "flows.csv") == [5, 3, 5, 3]
    with pytest.raises(InputError, match="is both"):
        assigned("--start", "flows.csv")


def test_increments(town: Path) -> None:
    assigned("--increments", 8, "--iterations", 1)
    assert volumes(town / "flows.csv") == [5, 3, 5, 3]


def test_a_toll_keeps_people_away(town: Path) -> None:
    assigned("--gap", 1e-8, "--factor", "toll=2")
    assert volumes(town / "flows.csv") == [6, 2, 6, 2]


def test_an_early_end(town: Path) -> None:
    rows = assigned("--gap", 0, "--iterations", 1)
    assert (rows["converged"], rows["iterations"]) == (False, 1)
    assert volumes(town / "flows.csv") == [8, 0, 8, 0]


def test_trips_of_a_table(town: Path) -> None:
    (town / "trips.csv").write_text("from,to,purpose,trips\n1,2,work,6\n1,2,school,2\n")
    run_command("assign", "town_net.tntp", "trips.csv", "-o", "flows.csv", "--gap", 1e-8)
    assert volumes(town / "flows.csv") == [5, 3, 5, 3]


def test_trips_through_a_link(town: Path) -> None:
    words = ("--gap", 1e-8, "--select", "near=1:3", "--select", "any=1:3,1:4")
    rows = assigned(*words, "--matrices", "skims.npz")
    assert rows["matrices"] == "skims.npz"
    with (town / "flows.csv").open() as file:
        table = list(csv.DictReader(file))
    near, every = ([round(float(row[f"through_{n}"]), 3) for row in table] for n in ("near", "any"))
    assert (near, every) == ([5, 0, 5, 0], [5, 3, 5, 3])
    with np.load(town / "skims.npz") as saved:
        assert saved["zones"].tolist() == [1, 2]
        assert saved["trips_near"].round(3).tolist() == [[0, 5], [0, 0]]
        assert saved["trips_any"].round(3).tolist() == [[0, 8], [0, 0]]
        assert saved["time"].round(3).tolist() == [[0, 35], [np.inf, 0]]
        assert saved["length"].round(3).tolist() == [[0, 2], [np.inf, 0]]
        assert saved["toll"].round(3)[0, 1] == round(3 / 8 * 5, 3)


def test_matrices_of_trips_within_a_zone(town: Path) -> None:
    (town / "trips.csv").write_text("from,to,trips\n1,1,6\n")
    words = ("assign", "town_net.tntp", "trips.csv", "-o", "flows.csv", "--select", "x=1:3")
    run_command(*words, "--matrices", "skims.npz")
    assert volumes(town / "flows.csv") == [0] * 4
    with np.load(town / "skims.npz") as saved:
        assert {saved[name].size for name in saved} == {0}
    assert not (town / "flows.csv.partial").exists()


def test_a_link_of_a_file_is_named_by_its_ends(town: Path) -> None:
    (town / "town_net.tntp").write_text(NETWORK.replace("1 4 4 1", "1 4 0 1"))
    message = "'?town'?: link from 1 to 4: the capacity of link 1 is 0, and it has a delay"
    with pytest.raises(GraphError, match=message):
        assigned()


def test_pictures(town: Path) -> None:
    """The curve is that of the gaps; colours of the map go up to the greatest volume."""
    nodes = town / "town_node.tntp"
    nodes.write_text("Node X Y ;\n2 2 0 ;\n1 0 0 ;\n\n4 1 -1 ;\n3 1 1;\n")
    assert assigned("--plot", "gap.png")["plot"] == "gap.png"
    assert (town / "gap.png").read_bytes().startswith(b"\x89PNG")
    assigned("--gap", 1e-8, "--plot", "map.svg", "--coordinates", nodes)
    assert "<svg" in (town / "map.svg").read_text()
    assert read_nodes(nodes, 4).tolist() == [[0, 0], [2, 0], [1, 1], [1, -1]]
    answer = assign(town / "town_net.tntp", town / "town_trips.tntp", gap=1e-8)
    assert answer is not None
    line = draw_convergence(answer.history, 800).axes[0].lines[0]
    rows = [row for row in answer.history if row.gap > 0]
    assert line.get_ydata().tolist() == [row.gap for row in rows]
    sheet = draw_flows(answer.graph, answer.volumes, layout_of(nodes, 4), 800)
    *_, scale = sheet.figure.axes
    assert scale.get_xlim() == pytest.approx((3, 5), abs=1e-2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Node X Y ;\n1 0 0 ;\nx 1 1 ;\n", "town_node.tntp:3: expected a node, x and y"),
        ("1 0 0 ;\n2 0 nan ;\n", "town_node.tntp:2: expected a node, x and y"),
        ("1 0 0 ;\n5 0 0 ;\n", r"town_node.tntp:2: node 5 is not in 1\.\.4"),
        ("1 0 0 ;\n2 0 0 ;\n4 0 0 ;\n", "town_node.tntp: has no node 3"),
    ],
)
def test_wrong_nodes(town: Path, text: str, message: str) -> None:
    (town / "town_node.tntp").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_nodes(town / "town_node.tntp", 4)


def test_an_interrupted_run_goes_on(
    town: Path, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    """Averages depend on flows and the iteration: the file is the one that one run would make."""
    (town / "town_net.tntp").write_text(STEEP)
    words = ("assign", "town_net.tntp", "town_trips.tntp", "--method", "msa", "--gap", 0)
    words = (*words, "--iterations", 6, "--device", device, "-o")
    run_command(*words, "alone.csv")
    save = Store.replace

    def interrupted(store: Store, units: Any, **arrays: Any) -> None:
        save(store, units, **arrays)
        if len(units) == 3:
            raise signalled(InterruptedRun("interrupted; nothing was written"))

    with monkeypatch.context() as patch:
        patch.setattr(Store, "replace", interrupted)
        state = "3 of 6 iterations are complete in flows.csv.partial; go on with --resume"
        with pytest.raises(InterruptedRun, match=f"interrupted; {state}"):
            run_command(*words, "flows.csv")
    assert not (town / "flows.csv").exists()
    with pytest.raises(InputError, match="a run in which costs, trips differed"):
        run_command(*words, "flows.csv", "--resume", "--factor", "toll=1")
    rows = as_json(run_command(*words, "flows.csv", "--resume", "--json"))
    assert rows["iterations"] == 6
    assert (town / "flows.csv").read_text() == (town / "alone.csv").read_text()
    assert not (town / "flows.csv.partial").exists()


@pytest.mark.parametrize("ranks", [1, pytest.param(3, marks=pytest.mark.mpi)])
def test_a_signal_keeps_the_last_flows(town: Path, ranks: int) -> None:
    """The run would never end by itself: its gap stays above 0."""
    (town / "town_net.tntp").write_text(STEEP)
    words = ["assign", "town_net.tntp", "town_trips.tntp", "--method", "msa", "--gap", "0"]
    words += ["--iterations", "10000000", "-o", "flows.csv"]
    command = [sys.executable, "-m", "groute_py"]
    launch = [*command[:2], "groute_py.launch", "-n", str(ranks), "--"] if ranks > 1 else command
    folder, end = town / "flows.csv.partial", time.monotonic() + 90
    saves = set[int]()  # the first one may be of the first iteration
    with subprocess.Popen([*launch, *words], stderr=subprocess.PIPE, text=True) as running:
        while len(saves) < 2 and time.monotonic() < end and running.poll() is None:
            files = [parts.stat() for parts in folder.glob("parts-*")]
            saves.update(file.st_mtime_ns for file in files if file.st_size)
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode != 0
    assert "Traceback" not in err, err
    if ranks == 1:
        assert re.search(r"interrupted; [\d,]+ of 10,000,000 iterations are complete", err), err
    rows = as_json(run_command(*words, "--resume", "--time-limit", 0, "--json"))
    assert rows["iterations"] > 1


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (("town_net.tntp", "none.tntp", "-o", "f.csv"), FormatError, "none.tntp: no such file"),
        (("town_trips.tntp", "town_trips.tntp", "-o", "f.csv"), FormatError, "NUMBER OF NODES"),
        (("town_net.tntp", "town_trips.tntp", "-o", "f.txt"), InputError, "unknown suffix"),
        (("town_net.tntp", "town_trips.tntp", "-o", "town_net.tntp"), InputError, "is both GRAPH"),
        (("town_net.tntp", "town_trips.tntp", "--resume"), InputError, "goes on with an --output"),
        (("town_net.tntp", "town_trips.tntp", "--format", "x"), InputError, "--format x: unknown"),
        (("road:5x5", "town_trips.tntp", "-o", "f.csv"), GraphError, "no column free_flow_time"),
        (
            ("town_net.tntp", "town_trips.tntp", "-o", "f.csv", "--factor", "tolls=1"),
            GraphError,
            "has no column 'tolls'",
        ),
        (
            ("town_net.tntp", "town_trips.tntp", "-o", "f.csv", "--factor", "toll"),
            InputError,
            "expected COLUMN=COST",
        ),
        (
            ("town_net.tntp", "town_trips.tntp", "-o", "f.csv", "--select", "1:3"),
            InputError,
            "expected NAME=TAIL:HEAD",
        ),
        (
            ("town_net.tntp", "town_trips.tntp", "-o", "f.csv", "--select", "x=3:1"),
            InputError,
            "select 'x': no link leads from 3 to 1",
        ),
        (
            ("town_net.tntp", "town_trips.tntp", "-o", "f.csv", "--matrices", "f.csv"),
            InputError,
            "is both --output and --matrices",
        ),
        (
            ("town_net.tntp", "town_trips.tntp", "-o", "f.csv", "--matrices", "f.txt"),
            InputError,
            "matrices are .npz, .omx",
        ),
        (
            (
                "town_net.tntp",
                "town_trips.tntp",
                "-o",
                "f.csv",
                "--select",
                "x=1:3",
                "--select",
                "x=1:4",
            ),
            InputError,
            "--select 'x' was given twice",
        ),
        (
            (
                "town_net.tntp",
                "town_trips.tntp",
                "-o",
                "f.csv",
                "--factor",
                "toll=1",
                "--factor",
                "toll=2",
            ),
            InputError,
            "--factor 'toll' was given twice",
        ),
        (
            ("town_net.tntp", "town_trips.tntp", "-o", "f.csv", "--coordinates", "none_node.tntp"),
            InputError,
            "name it by --plot",
        ),
        (
            (
                "town_net.tntp",
                "town_trips.tntp",
                "-o",
                "f.csv",
                "--plot",
                "f.png",
                "--coordinates",
                "none_node.tntp",
            ),
            FormatError,
            "none_node.tntp: cannot be read",
        ),
        (
            ("town_net.tntp", "town_trips.tntp", "-o", "f.csv", "--time-limit", "-1"),
            InputError,
            "the time limit must not be negative",
        ),
        (
            ("town_net.tntp", "town_trips.tntp", "-o", "f.csv", "--iterations", "99999999999999"),
            InputError,
            "iterations must be 1 to 10,000,000",
        ),
    ],
)
def test_wrong_requests(
    town: Path, words: tuple[str, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run_command("assign", *words)
    assert not (town / "f.csv").exists()
