"""Tables of jobs that go to standard output, and the summary beside them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from support.command import run_command
from support.kept_rows import listing

from groute_py import InputError

JOBS = {
    "matrix town.csv --from home --to pub,home": "source,target,distance_km",
    "route town.csv --from home --to pub": "source,target,distance_km",
    "nearest town.csv --facilities home": "vertex,facility,distance_km,next",
    "isochrone town.csv --from home --limits 7": "vertex,distance_km,limit_km",
}


@pytest.mark.parametrize(("words", "titles"), JOBS.items())
@pytest.mark.parametrize("output", ["", "-o -", "-o - --format csv"])
def test_a_table(place: Path, words: str, titles: str, output: str) -> None:
    done = run_command(*words.split(), *output.split(), "--device", "cpu")
    assert done.stdout.splitlines()[0] == titles
    assert "output" in done.stderr
    assert listing(place) == ["town.csv"]


def test_other_forms(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ("matrix", "town.csv", "--from", "home", "--to", "pub,home", "--format")
    assert json.loads(run_command(*words, "json").stdout) == [
        {"source": "home", "target": "pub", "distance_km": 7},
        {"source": "home", "target": "home", "distance_km": 0},
    ]
    array = np.load(io.BytesIO(run_command(*words, "npy", "-o", "-").stdout_bytes))
    assert array.tolist() == [[7, 0]]
    whole = ("centrality", "closeness", "town.csv", "--format", "csv")
    assert run_command(*whole).stdout.startswith("vertex,closeness")
    run_command("sssp", "town.csv", "-o", "-")
    assert capfd.readouterr().out.startswith("vertex,distance")
    run_command("sssp", "town.csv", "-o", "-", "--format", "json")
    assert json.loads(capfd.readouterr().out)[0]["distance_km"] == 0


def test_a_terminal(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows the first lines as a table, and refuses bytes."""
    monkeypatch.setattr("groute_py.cli.outputs.is_terminal", lambda: True)
    monkeypatch.setattr("groute_py.cli.outputs.MOST_LINES", 1)
    words = ("matrix", "town.csv", "--from", "home", "--to", "pub,home")
    done = run_command(*words)
    assert "distance" in done.stdout
    assert "," not in done.stdout
    assert "1 lines more" in done.stderr
    with pytest.raises(InputError, match=r"\.parquet is not for a terminal"):
        run_command(*words, "--format", "parquet")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ["--format", "CSV"],
            r"^--format CSV: unknown suffix '.CSV'; .* saved as .*\.csv",
        ),
        (["--format", "npy", "--paths"], "^--format npy: an .npy file holds one array"),
        (["--format", "zarr"], "^--format zarr: it is a folder; name it by --output"),
        (["--format", "csv", "-o", "x.csv"], "leave out --format"),
        (["-o", "-", "--resume"], "--resume goes on with an --output"),
        (["--resume"], "--resume goes on with an --output"),
    ],
)
def test_bad_input(place: Path, words: list[str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        run_command("matrix", "town.csv", "--from", "home", "--to", "pub", *words)


def test_all_pairs_are_no_csv(place: Path) -> None:
    with pytest.raises(InputError, match=r"^--format csv \(the default\): .* as \.npy, \.npz"):
        run_command("apsp", "town.csv", "-o", "-")
