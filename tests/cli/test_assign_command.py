"""The command assign: answers, files, what it refuses."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from support.command import as_json, run_command

from groute_py import FormatError, GraphError, InputError

pytest.importorskip("pymetis")

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


def test_an_equilibrium(town: Path) -> None:
    rows = assigned("--gap", 1e-8)
    assert rows["converged"] is True
    assert rows["trips"] == 8
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


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (("town_net.tntp", "none.tntp", "-o", "f.csv"), FormatError, "none.tntp: no such file"),
        (("town_trips.tntp", "town_trips.tntp", "-o", "f.csv"), FormatError, "NUMBER OF NODES"),
        (("town_net.tntp", "town_trips.tntp", "-o", "f.txt"), InputError, "unknown suffix"),
        (("town_net.tntp", "town_trips.tntp", "-o", "town_net.tntp"), InputError, "is both GRAPH"),
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
    ],
)
def test_wrong_requests(
    town: Path, words: tuple[str, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run_command("assign", *words)
    assert not (town / "f.csv").exists()
