"""No file of a command takes the place of another, named or not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.command import as_json, run_command

from groute_py import InputError
from groute_py.cli.outputs import check_outputs_apart

EDGES, VERTICES = "1 2 5\n", "1\n2\n7\n"
ROADS, PLACES = "p sp 2 1\na 1 2 5\n", "p aux sp co 2\nv 1 0 0\nv 2 10 10\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two graphs that have companions; the working directory."""
    monkeypatch.chdir(tmp_path)
    texts = {"s.e": EDGES, "s.v": VERTICES, "g.gr": ROADS, "g.co": PLACES}
    for name, text in texts.items():
        Path(name).write_text(text)
    Path("points.csv").write_text("lon,lat\n0,0\n")
    return tmp_path


def test_files_that_are_the_same(tmp_path: Path) -> None:
    one, other, link = tmp_path / "one", tmp_path / "other", tmp_path / "link"
    one.touch()
    os.link(one, other)
    link.symlink_to(one)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for apart in (other, tmp_path / "absent", tmp_path / "loop", "dimacs:NY", "road:5x5", None):
        check_outputs_apart({"GRAPH": one}, {"--output": apart})
    for same in ("/dev/null", "/dev/stdout"):
        check_outputs_apart({}, {"--output": same, "--telemetry": same})
    for file in (one, link, tmp_path / "x" / ".." / "one"):
        with pytest.raises(InputError, match="is both GRAPH and --output; name another file"):
            check_outputs_apart({"GRAPH": one}, {"--output": file})
        with pytest.raises(InputError, match="is both --output and --trace; name another file"):
            check_outputs_apart({}, {"--output": one, "--trace": file})
    check_outputs_apart({"GRAPH": one, "--sources": one}, {"--output": other})


@pytest.mark.parametrize(
    ("words", "holds", "option"),
    [
        ("sssp s.e --trace s.v", "vertices", "--trace"),
        ("sssp s.e --telemetry s.v", "vertices", "--telemetry"),
        ("sssp s.e -o s.v --output-format csv", "vertices", "--output"),
        ("bfs s.e --trace ./s.v", "vertices", "--trace"),
        ("apsp s.e --trace s.v", "vertices", "--trace"),
        ("matrix s.e --from 1 --to 2 -o m.npy --trace s.v", "vertices", "--trace"),
        ("nearest s.e --facilities 1 -o n.npz --trace s.v", "vertices", "--trace"),
        ("route s.e --pairs p.csv -o r.csv --trace s.v", "vertices", "--trace"),
        ("nearest g.gr --facilities points.csv -o n.npz --trace g.co", "coordinates", "--trace"),
        ("apsp g.gr --sources points.csv --trace g.co", "coordinates", "--trace"),
        ("isochrone g.gr --from 1 --limits 9 -o linked.csv", "coordinates", "--output"),
        ("route g.gr --pairs p.csv -o linked.geojson", "coordinates", "--output"),
        ("plot g.gr -o linked.png", "coordinates", "--output"),
        ("plot i.npz --coordinates g.gr -o linked.png", "coordinates", "--output"),
        ("centrality closeness s.e -o vertices.csv", "vertices", "--output"),
        ("prepare g.gr -o linked.prepared", "coordinates", "--output"),
    ],
)
def test_companions_of_a_graph_stay(place: Path, words: str, holds: str, option: str) -> None:
    for link in ("linked.geojson", "linked.png", "linked.prepared", "linked.csv"):
        Path(link).symlink_to("g.co")
    Path("vertices.csv").symlink_to("s.v")
    with pytest.raises(InputError, match=f"is both the {holds} of .* and {option}; name another"):
        run_command(*words.split())
    assert Path("s.v").read_text() == VERTICES
    assert Path("g.co").read_text() == PLACES


def test_a_companion_that_is_not_there_yet(place: Path) -> None:
    """It would be read with the graph from then on."""
    Path("s.v").unlink()
    with pytest.raises(InputError, match=r"s\.v\.gz: is both the vertices of GRAPH and --trace"):
        run_command("sssp", "s.e", "--trace", "s.v.gz")


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("apsp s.e -o y.npy --trace y.npy.partial", "--trace"),
        ("apsp s.e -o y.npy --trace ./y.npy.partial/run.json", "--trace"),
        ("matrix s.e --from 1 --to 2 -o y.npz --trace y.npz.partial", "--trace"),
        ("nearest s.e --facilities 1 -k 2 -o y.npz --trace y.npz.partial", "--trace"),
        ("route s.e --pairs p.csv -o y.csv --trace y.csv.partial", "--trace"),
        ("apsp s.e --sources @y.npy.partial -o y.npy", "--sources"),
        ("centrality closeness y.csv.partial -o y.csv", "GRAPH"),
    ],
)
def test_what_resume_goes_on_with_is_no_file(place: Path, words: str, kept: str) -> None:
    problem = f"is both {kept} and part of the unfinished work of --output; name another file"
    with pytest.raises(InputError, match=problem):
        run_command(*words.split())
    assert not list(place.glob("y*"))


def test_names_that_are_no_companions(place: Path) -> None:
    for name in ("s.co", "t.v"):
        run = run_command("sssp", "s.e", "--trace", name, "--device", "cpu", "--json")
        assert as_json(run)["vertices"] == 3
