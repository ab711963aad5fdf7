"""Coordinates, weights by name, shapes and attribution: in files, copies and results."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from support.local_ranks import on_ranks

import groute_py
from groute_py import FormatError, Graph, GraphError, InputError
from groute_py.engine.options import Options
from groute_py.graph.geography import Shapes
from groute_py.graph.symmetrize import mirrored, with_ascending_rows
from groute_py.io.formats import native
from groute_py.io.graph_file import read_graph
from groute_py.io.registry import write_graph
from groute_py.io.tables.columns import Columns
from groute_py.jobs.solver import Solver
from groute_py.many.opened import Opened, source_of
from groute_py.results.result import read_result

NAMED = "© some people"


@pytest.fixture
def town() -> Graph:
    """Arcs 0 → 1, 0 → 2, 1 → 2, 2 → 0; the last follows the line of the second back."""
    graph = Graph.from_arrays([0, 2, 3, 4], [1, 2, 2, 0], [4, 9, 3, 9], first_id=1, name="town")
    length = np.array([40.5, 90, 30, 91])
    return graph.changed(
        coordinates=np.array([[8.5, 47.25], [8.6, 47.5], [-8.7, 47]]),
        columns={"length": length, "time": graph.weights, "toll": np.array([1, 0, 0, 0])},
        shapes=Shapes(
            np.array([0, 1, 0, ~1]), np.array([0, 0, 2]), np.array([[8.5, 47.1], [8, 47]])
        ),
        attribution=NAMED,
    )


def arcs_of(graph: Graph) -> list[tuple[object, ...]]:
    """Each arc with all that belongs to it, in any order."""
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)).tolist()
    assert graph.shapes is not None
    shapes = [graph.shapes.of(arc).tolist() for arc in range(graph.arc_count)]
    columns = [graph.columns[name].tolist() for name in ("length", "time", "toll")]
    return sorted(zip(tails, graph.heads.tolist(), *columns, shapes, strict=True))


def same(one: Graph, other: Graph) -> bool:
    """Whether two graphs have the same of everything."""
    assert one.coordinates is not None
    assert other.coordinates is not None
    assert one.weights.dtype == other.weights.dtype
    assert one.weights.tolist() == other.weights.tolist()
    assert one.coordinates.tolist() == other.coordinates.tolist()
    assert (one.column, one.attribution) == (other.column, other.attribution)
    return arcs_of(one) == arcs_of(other)


class TestGraph:
    def test_another_column_and_back(self, town: Graph) -> None:
        assert town.column == "time"
        by_length = town.with_column("length")
        assert (by_length.column, by_length.weights.tolist()) == ("length", [40.5, 90, 30, 91])
        assert same(by_length.with_column("time"), town)
        assert town.with_weights([1, 1, 1, 1]).column is None
        with pytest.raises(InputError, match=r"no column 'fuel'; its weights are length, time"):
            town.with_column("fuel")

    def test_arcs_that_change_places_take_all_along(self, town: Graph) -> None:
        turned = town.reversed()
        assert arcs_of(turned)[0] == (0, 2, 91.0, 9, 0, [[8.5, 47.1], [8, 47]])
        assert turned.column == "time"
        assert same(turned.reversed(), town)
        assert arcs_of(with_ascending_rows(town.with_column("toll"))) == arcs_of(town)
        both = mirrored(town)
        assert arcs_of(both) == sorted(arcs_of(town) + arcs_of(turned))
        assert both.column == "time"
        assert both.weights is both.columns["time"]

    def test_other_arcs_drop_what_is_not_theirs(self, town: Graph) -> None:
        other = town.changed(heads=town.heads.copy())
        assert (dict(other.columns), other.shapes) == ({}, None)
        assert other.coordinates is town.coordinates
        one = np.array([0, 0])
        smaller = town.changed(offsets=one, heads=town.heads[:0], weights=town.weights[:0])
        assert smaller.coordinates is None
        assert smaller.attribution == NAMED

    def test_a_copy_is_as_read_only(self, town: Graph) -> None:
        copy = pickle.loads(pickle.dumps(town))
        assert same(copy, town)
        with pytest.raises(ValueError, match="read-only"):
            copy.columns["length"][0] = 1

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"columns": {"a": np.zeros(3)}}, r"column 'a' must be 4 weights"),
            ({"columns": {"": np.zeros(4)}}, "needs a name"),
            ({"columns": {"a": np.array([0, 1, np.nan, 0])}}, "arc 2 has 'a' nan"),
            ({"attribution": "©" * 256}, "at most 255"),
            ({"shapes": Shapes(np.zeros(3, int), np.array([0, 0]), np.zeros((0, 2)))}, "lines of"),
            ({"shapes": Shapes(np.ones(4, int), np.array([0, 0]), np.zeros((0, 2)))}, "none of 1"),
            ({"shapes": Shapes(np.zeros(4, int), np.array([0, 1]), np.zeros((0, 2)))}, "rise from"),
            ({"shapes": Shapes(np.zeros(4, int), np.array([0, 1]), np.zeros((1, 3)))}, "points of"),
            (
                {"shapes": Shapes(np.zeros(4, int), np.array([0, 1]), np.full((1, 2), np.inf))},
                "finite",
            ),
        ],
    )
    def test_what_does_not_belong(
        self, town: Graph, change: dict[str, object], message: str
    ) -> None:
        with pytest.raises(GraphError, match=message):
            town.changed(**change)


class TestFiles:
    @pytest.mark.parametrize("name", ["town.csr", "town.prepared"])
    def test_round_trip(self, town: Graph, tmp_path: Path, name: str) -> None:
        prepared = name.endswith("prepared")
        write_graph(groute_py.prepare(town, device="cpu") if prepared else town, tmp_path / name)
        assert b" 2\n" in (tmp_path / name).read_bytes()[:24]
        assert same(read_graph(tmp_path / name), town)
        chosen = read_graph(tmp_path / name, weight="length")
        assert (type(chosen), chosen.column) == (Graph, "length")
        with pytest.raises(InputError, match=r"no column 'fuel'"):
            read_graph(tmp_path / name, weight="fuel")
        with pytest.raises(InputError, match=r"no columns by name; leave out tail 'time'"):
            read_graph(tmp_path / name, tail="time")

    @pytest.mark.parametrize("left_out", ["coordinates", "columns", "shapes", "attribution"])
    def test_parts_by_themselves(self, town: Graph, tmp_path: Path, left_out: str) -> None:
        """Weights that are no column stand beside all columns."""
        nothing = {"coordinates": None, "columns": {}, "shapes": None, "attribution": ""}
        given = town.with_weights([5, 6, 7, 8]).changed(**{left_out: nothing[left_out]})
        write_graph(given, tmp_path / "g.csr")
        back = read_graph(tmp_path / "g.csr")
        assert back.weights.tolist() == [5, 6, 7, 8]
        for entry in dataclasses.fields(Graph):
            ours, theirs = (getattr(graph, entry.name) for graph in (given, back))
            np.testing.assert_equal(ours, theirs)

    @pytest.mark.parametrize("name", ["g.csr", "g.prepared"])
    def test_a_header_that_no_reader_takes(self, town: Graph, tmp_path: Path, name: str) -> None:
        """The longest that is written is read back; a longer one is refused, and no file left."""
        columns = {f"{k:_<240}": town.weights for k in range(256)}
        wide = town.changed(columns=columns, shapes=None)
        given = groute_py.prepare(wide, device="cpu") if name == "g.prepared" else wide
        write_graph(given, tmp_path / name)
        assert len(read_graph(tmp_path / name).columns) == 256
        wider = town.changed(columns={f"{k:é<240}": town.weights for k in range(256)})
        given = groute_py.prepare(wider, device="cpu") if name == "g.prepared" else wider
        with pytest.raises(
            InputError, match=r"header .* bytes, and 65,472 are read; give it fewer"
        ):
            write_graph(given, tmp_path / f"other-{name}")
        assert [path.name for path in tmp_path.iterdir()] == [name]

    def test_what_is_not_newer_is_written_as_before(self, town: Graph, tmp_path: Path) -> None:
        plain = town.changed(coordinates=None, columns={}, shapes=None, attribution="")
        write_graph(plain, tmp_path / "g.csr")
        assert (tmp_path / "g.csr").read_bytes().startswith(b"groute-py csr 1\n")
        with pytest.raises(InputError, match=r"no columns by name; leave out column 'time'"):
            read_graph(tmp_path / "g.csr", weight="time")

    def test_a_later_version_says_what_it_takes(self, town: Graph, tmp_path: Path) -> None:
        write_graph(town, tmp_path / "g.csr")
        content = (tmp_path / "g.csr").read_bytes()
        (tmp_path / "g.csr").write_bytes(content.replace(b"csr 2\n", b"csr 3\n", 1))
        with pytest.raises(FormatError, match=r"a later groute-py that reads version 3; this one"):
            read_graph(tmp_path / "g.csr")

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            (b'"columns": ["length"', b'"columns": "[length"', "JSON|no list"),
            (b'"length", "time"', b'"length","toll" ', "have one name"),
            (b'"column": "time"', b'"column": "tame"', "a column that it does not have"),
            (b'["length"', b"[12345678", "no text"),
            (b'"shapes": true', b'"shapes": null', "bytes where"),
            (np.float64(8.6).tobytes(), np.float64("nan").tobytes(), "vertex 1 has coordinates"),
        ],
    )
    def test_damage(
        self, town: Graph, tmp_path: Path, old: bytes, new: bytes, message: str
    ) -> None:
        native.write(town, tmp_path / "g.csr")
        content = (tmp_path / "g.csr").read_bytes()
        assert old in content
        (tmp_path / "g.csr").write_bytes(content.replace(old, new))
        with pytest.raises(FormatError, match=message):
            read_graph(tmp_path / "g.csr")


class TestResults:
    @pytest.mark.parametrize("ranks", [1, 3])
    @pytest.mark.parametrize("weight", [None, "length"])
    def test_on_ranks(self, town: Graph, tmp_path: Path, ranks: int, weight: str | None) -> None:
        """Ranks that map a file take the weights of the same name, and rank 0 the coordinates."""
        path = tmp_path / "town.csr"
        write_graph(town, path)
        options = Options(device="cpu")

        def solve(channel: object) -> object:
            source = source_of(path, options, Columns(weight=weight))
            opened = Opened(source, channel, options)  # type: ignore[arg-type]
            with Solver(opened) as solver:
                return solver.sssp(1)

        first, *others = on_ranks(ranks, solve)
        assert others == [None] * (ranks - 1)
        assert first.distances.tolist() == ([0, 40.5, 70.5] if weight else [0, 4, 7])
        assert town.coordinates is not None
        assert first.coordinates.tolist() == town.coordinates.tolist()
        assert first.attribution == NAMED

    def test_frames_and_files(self, town: Graph, tmp_path: Path) -> None:
        pd = pytest.importorskip("pandas")
        result = groute_py.sssp(town, 1, weight="toll", predecessors=True, device="cpu")
        assert result is not None
        frame = result.to_frame()
        assert frame[["x", "y"]].to_numpy().tolist() == town.coordinates.tolist()  # type: ignore[union-attr]
        assert frame.attrs == {"attribution": NAMED}
        for name in ("r.npz", "r.csv", "r.parquet", "r.txt", "r.sol"):
            result.save(tmp_path / name)
            assert NAMED in (tmp_path / name).read_bytes().decode("utf-8", "replace") or (
                name == "r.npz"
            )
        assert read_result(tmp_path / "r.npz").to_frame().equals(frame)
        assert read_result(tmp_path / "r.npz").attribution == NAMED
        lines = (tmp_path / "r.csv").read_text().splitlines()
        assert lines[0] == "vertex,distance,predecessor,x,y,attribution"
        assert lines[1:3] == [f"1,0,,8.5,47.25,{NAMED}", f"2,1,1,8.6,47.5,{NAMED}"]
        table = pd.read_parquet(tmp_path / "r.parquet")
        assert table[["x", "y"]].to_numpy().tolist() == frame[["x", "y"]].to_numpy().tolist()


@pytest.mark.parametrize("suffix", [".gr", ".mtx", ".graph", ".txt", ".csv", ".tsv", ".wel", ".e"])
def test_texts_name_whom_to_name(town: Graph, tmp_path: Path, suffix: str) -> None:
    """In a comment, behind which the graph is the same."""
    both = mirrored(town.with_column("time")) if suffix == ".graph" else town
    write_graph(both, tmp_path / f"g{suffix}")
    assert NAMED in (tmp_path / f"g{suffix}").read_text().split("\n", 2)[suffix == ".mtx"]
    back = read_graph(tmp_path / f"g{suffix}")
    assert (back.heads.tolist(), back.weights.tolist()) == (
        both.heads.tolist(),
        both.weights.tolist(),
    )


def test_no_file_that_cannot_be_read_back(town: Graph, tmp_path: Path) -> None:
    many = town.changed(columns={f"c{k}": town.weights.copy() for k in range(257)})
    with pytest.raises(InputError, match="has 257 columns; files have up to 256"):
        write_graph(many, tmp_path / "many.csr")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out.sol", "out.txt"])
def test_an_attribution_is_one_line(town: Graph, tmp_path: Path, name: str) -> None:
    forged = town.changed(attribution="them\nd 5 0\n5 0")
    result = groute_py.sssp(forged, 1, device="cpu")
    assert result is not None
    result.save(tmp_path / name)
    lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith("them d 5 0 5 0")
    assert "d 5 0" not in lines
    assert "5 0" not in lines
