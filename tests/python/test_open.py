"""`groute_py.open`, its solver, and options that Python and the command line share."""

from __future__ import annotations

import json
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import groute_py
from groute_py import InputError, RunError, VerificationError
from groute_py.cli.main import commands
from groute_py.engine.option import shared_options
from groute_py.engine.options import Options

GRAPH = groute_py.generate("road:20x20")
DENSE = groute_py.generate("rmat:6")


def figures(**options: Any) -> dict[str, Any]:
    """The statistics of a solve, less its times."""
    result = groute_py.sssp(GRAPH, 5, device="cpu", **options)
    return {name: v for name, v in result.statistics.items() if name != "seconds"}


def test_a_solver_answers_as_sssp() -> None:
    with groute_py.open(GRAPH, device="cpu") as solver:
        assert isinstance(solver, groute_py.Solver)
        for source in (0, 17, 17):
            one, other = solver.sssp(source), groute_py.sssp(GRAPH, source, device="cpu")
            assert one is not None
            np.testing.assert_array_equal(one.distances, other.distances)
            groute_py.verify(GRAPH, one)
        some = solver.sssp(21, targets=[2])
        assert some is not None
        assert some.statistics["bound"] == some.distances[2]


def test_a_solver_of_hops_answers_as_bfs() -> None:
    with groute_py.open(GRAPH, device="cpu", hops=True) as solver:
        result = solver.sssp(3)
    assert result is not None
    np.testing.assert_array_equal(result.distances, groute_py.bfs(GRAPH, 3, device="cpu").distances)
    groute_py.verify(GRAPH, result, hops=True)
    with pytest.raises(VerificationError):
        groute_py.verify(GRAPH, result)


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        (("x",), "source 'x' is no integer"),
        ((0, 5), "targets 5: a sequence of ids"),
        ((400,), "source 400 is not a vertex of road:20x20; vertices are 0..399"),
        ((0, [-1]), "target -1 is not a vertex"),
    ],
)
def test_wrong_ends(ends: Any, says: str) -> None:
    with groute_py.open(GRAPH, device="cpu") as solver:
        with pytest.raises(InputError, match=says):
            solver.sssp(*ends)
        assert solver.sssp(np.int32(7)) is not None


def test_a_closed_solver_says_so() -> None:
    solver = groute_py.open(GRAPH, device="cpu")
    solver.close()
    solver.close()
    with pytest.raises(RunError, match="closed; open the graph again") as caught:
        solver.sssp(0)
    assert caught.value.on_all_ranks


def test_what_is_local_is_dropped_though_another_rank_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        raise RunError("rank 1 failed")

    solver = groute_py.open(GRAPH, device="cpu")
    assert solver.apsp([0]) is not None
    rows = weakref.ref(solver._opened.row_graph())
    assert rows() is not None
    monkeypatch.setattr(solver._opened.source_solver, "close", fail)
    with pytest.raises(RunError, match="rank 1 failed"):
        solver.close()
    assert rows() is None


@pytest.mark.parametrize("name", ["algorithm", "device", "mode", "order"])
@pytest.mark.parametrize("value", [None, 3, np.array([1, 2])])
def test_what_is_no_name_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name} .* is unknown; choose one of"):
        groute_py.sssp(GRAPH, 0, **{name: value})


def test_help_gives_units_and_no_references() -> None:
    assert "In arcs for `bfs`, else in units of weight" in " ".join(
        str(groute_py.bfs.__doc__).split()
    )
    for function in (groute_py.sssp, groute_py.bfs, groute_py.open, groute_py.apsp):
        assert "](" not in str(function.__doc__)


def test_wrong_options_are_refused_before_reading() -> None:
    with pytest.raises(InputError, match="mode 'x' is unknown"):
        groute_py.open("absent.gr", mode="x")


def test_coordinates_beside_the_graph(tmp_path: Path) -> None:
    """They are found from Python as on the command line."""
    groute_py.write_graph(GRAPH, tmp_path / "town.gr")
    lines = [f"v {v + 1} {v % 20} {v // 20}\n" for v in range(400)]
    (tmp_path / "town.co").write_text("p aux sp co 400\n" + "".join(lines))
    with groute_py.open(tmp_path / "town.gr", order="hilbert", device="cpu") as solver:
        result = solver.sssp(1)
    assert result is not None
    assert result.statistics["order"] == "hilbert"
    wanted = groute_py.sssp(GRAPH, 0, device="cpu").distances
    np.testing.assert_array_equal(result.distances, wanted)


class TestPrepare:
    """From Python as on the command line."""

    def test_it_has_no_effect_where_few_vertices_have_many_arcs(self) -> None:
        result = groute_py.sssp(DENSE, 5, device="cpu", prepare=True).statistics
        plain = groute_py.sssp(DENSE, 5, device="cpu").statistics
        assert result["reason"].startswith(f"{plain['reason']}; not contracted: its vertices have")
        alike = {"reason", "seconds"}
        assert {k: result[k] for k in result if k not in alike} == {
            k: plain[k] for k in plain if k not in alike
        }

    def test_the_command_line_says_the_same(self) -> None:
        words = ["sssp", "road:20x20", "-s", "5", "--device", "cpu", "--prepare", "--json"]
        done = CliRunner().invoke(commands, words, catch_exceptions=False)
        assert json.loads(done.stdout)["statistics"] == figures(prepare=True)

    def test_ranks_must_agree(self) -> None:
        assert shared_options(Options(prepare=True))["prepare"]

    def test_bfs_does_not_take_it(self) -> None:
        done = CliRunner().invoke(commands, ["bfs", "road:20x20", "--prepare"])
        assert done.exit_code == 2
        assert "No such option" in done.output
        with pytest.raises(TypeError, match="unexpected keyword argument 'prepare'"):
            groute_py.bfs(GRAPH, 0, prepare=True)  # type: ignore[call-arg]
