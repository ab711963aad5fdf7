"""``groute-py plot`` and `groute_py.plot`: what is drawn of what, and what is refused."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import run_command

import groute_py
from groute_py import InputError, Result, SetupError
from groute_py.io import optional_libraries
from groute_py.maps.drawings import Network
from groute_py.maps.lines import whole_arcs
from groute_py.maps.raster import Frame, mean_of_lines, mean_of_points, most_of_lines, stretch_of
from groute_py.maps.saved import saved_in
from groute_py.maps.sheet import Mark, Sheet

GRID, COUNT = "road:12x9", 108
NEAR, FAR = 14, 107

SAMPLES = """seconds,gpu,utilisation,used_bytes,watts,nvlink_sent_bytes
0.0,GPU-a,0,1000000000,90.5,0
0.0,GPU-b,5,1000000000,91.5,
0.5,GPU-a,97,2000000000,300.5,1000000000
0.5,GPU-b,98,2000000000,301.5,
"""


@pytest.fixture(scope="module")
def result() -> Result:
    answer = groute_py.sssp(GRID, 1, device="cpu")
    assert isinstance(answer, Result)
    return answer


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, result: Result) -> Path:
    """The working folder, with a saved result."""
    monkeypatch.chdir(tmp_path)
    result.save("out.npz")
    return tmp_path


def texts(path: Path) -> list[str]:
    """What is written in a picture, an SVG file, as comments beside its shapes."""
    return re.findall(r"<!-- (.*) -->", path.read_text(encoding="utf-8"))


def draw(*words: object) -> None:
    done = run_command("plot", *words)
    assert done.exit_code == 0, done.output


def test_maps_of_a_result(place: Path) -> None:
    draw("out.npz", "--coordinates", GRID, "--unit", "metres", "-o", "map.svg", "--size", 300)
    result = texts(place / "map.svg")
    assert "Distances from vertex 1" in result
    assert any(text.startswith("distance in metres") for text in result)
    draw("out.npz", "--coordinates", GRID, "--tree", "-o", "map.svg", "--size", 300)
    assert "Shortest-path tree from vertex 1" in texts(place / "map.svg")
    words = ("--path", NEAR, "--path", FAR, "-o", "map.svg", "--size", 300)
    draw("out.npz", "--coordinates", GRID, *words)
    assert "2 shortest paths from 1" in texts(place / "map.svg")


def test_maps_of_a_graph(place: Path) -> None:
    draw(GRID, "--parts", 3, "-o", "map.svg", "--size", 300)
    result = texts(place / "map.svg")
    assert {"part 0", "part 1", "part 2", "between parts"} <= set(result)
    draw(GRID, "-o", "map.svg", "--size", 300)
    assert "108 vertices" in texts(place / "map.svg")[1]


def test_a_graph_file_with_its_coordinates_beside(place: Path) -> None:
    run_command("generate", GRID, "-o", "town.gr")
    lines = [f"v {v + 1} {v % 12} {-(v // 12)}" for v in range(COUNT)]
    (place / "town.co").write_text("\n".join([f"p aux sp co {COUNT}", *lines, ""]))
    draw("town.gr", "--parts", 9, "-o", "parts.svg", "--size", 300)
    assert "every 8th part" in texts(place / "parts.svg")
    draw("out.npz", "--coordinates", "town.co", "-o", "map.png", "--size", 300)


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet"])
def test_every_form_of_an_answer(place: Path, result: Result, suffix: str) -> None:
    result.save(f"out{suffix}")
    answer = saved_in(f"out{suffix}")
    assert isinstance(answer, Result)
    np.testing.assert_array_equal(answer.distances, result.distances)
    assert answer.source == result.source
    if suffix != ".npy":
        assert result.predecessors is not None
        np.testing.assert_array_equal(answer.predecessors, result.predecessors)


def test_on_a_plane(place: Path) -> None:
    """Without ``--planar`` these would be degrees near a pole."""
    lines = [f"v {v + 1} {v % 12 * 10**6} {(v // 12 + 79) * 10**6}" for v in range(COUNT)]
    (place / "town.co").write_text("\n".join([f"p aux sp co {COUNT}", *lines, ""]))
    sizes = []
    for words in ((), ("--planar",)):
        draw("out.npz", "--coordinates", "town.co", "-o", "map.png", "--size", 300, *words)
        head = (place / "map.png").read_bytes()
        sizes.append((int.from_bytes(head[16:20]), int.from_bytes(head[20:24])))
    assert sizes[0][0] < sizes[0][1]
    assert sizes[1][0] > sizes[1][1]
    draw(GRID, "--planar", "-o", "map.png", "--size", 300)


def test_telemetry(place: Path) -> None:
    (place / "gpus.csv").write_text(SAMPLES)
    draw("gpus.csv", "-o", "gpus.svg", "--size", 300)
    result = texts(place / "gpus.svg")
    assert {"GPUs over time", "2 GPUs, 0.5 s", "GPU-a", "GPU-b", "NVLink out"} <= set(result)
    assert "clock" not in result
    (place / "gpus.csv").write_text(SAMPLES.splitlines()[0] + "\n")
    with pytest.raises(InputError, match="no samples"):
        run_command("plot", "gpus.csv", "-o", "x.svg")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("out.npz", "-o", "x.pdf"), "unknown suffix '.pdf'"),
        (("out.npz", "-o", "x.png", "--tree"), "give coordinates"),
        (("out.npz", "-o", "x.png", "--planar"), "planar cannot be drawn of a histogram"),
        (("out.npz", "-o", "x.png", "--tree", "--path", "1"), "tree cannot be drawn"),
        (("out.npz", "-o", "x.png", "--parts", "2"), "parts cannot be drawn of a result"),
        (("out.npz", "-o", "x.png", "--coordinates", "road:9x9"), "81 vertices, not 108"),
        (("out.npz", "-o", "x.png", "--coordinates", GRID, "--path", "999"), "not a vertex"),
        (("random:9,20", "-o", "x.png"), "has no coordinates"),
        ((GRID, "-o", "x.png", "--tree"), "tree cannot be drawn of a graph"),
        ((GRID, "-o", "x.png", "--partition", "metis"), "metis"),
        (("out.npz", "-o", "out.npz"), "unknown suffix"),
    ],
)
def test_what_is_refused(place: Path, words: tuple[str, ...], says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        run_command("plot", *words)
    assert not (place / "x.png").exists()


def test_without_matplotlib(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(optional_libraries, "import_module", missing)
    with pytest.raises(SetupError, match=r"groute-py\[plot\]"):
        run_command("plot", "out.npz", "-o", "x.png")


def test_python(tmp_path: Path, result: Result) -> None:
    places = np.random.default_rng(1).random((COUNT, 2))
    groute_py.plot(result, tmp_path / "a.png", coordinates=places, paths=[FAR], size=300)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="107 vertices"):
        groute_py.plot(result, tmp_path / "b.png", coordinates=places[1:])


@pytest.mark.parametrize("x", [0, 299])
@pytest.mark.parametrize("size", [300, 1600])
def test_names_do_not_touch_the_title(x: int, size: int) -> None:
    """Of a place in the top row, in the middle and in the bottom row."""
    frame = Frame.around(np.array([[0.0, 0.0], [size, size]]), size)
    for y in (0, size // 2, size - 1):
        sheet = Sheet(frame, "Distances from 1", "108 of 108 vertices reached, gjpqy")
        sheet.marks([Mark(np.array([x * size / 300, y]), "1", "#000000", "o")])
        sheet.figure.canvas.draw()
        (name,) = sheet.figure.axes[0].texts
        note = sheet.figure.texts[1].get_window_extent()
        assert name.get_window_extent().y1 < note.y0
        assert name.get_window_extent().y0 > sheet.figure.axes[0].bbox.y0


def test_names_lie_apart() -> None:
    """Draw nine places in a square, each as near to the next as names are high."""
    frame = Frame.around(np.array([[0.0, 0.0], [900, 900]]), 900)
    sheet = Sheet(frame, "9 shortest paths", "")
    spots = [np.array([880.0 - 12 * x, 20.0 + 12 * y]) for x in range(3) for y in range(3)]
    names = [f"place {number}" for number in range(9)]
    marks = [Mark(spot, name, "#0072b2", "s") for spot, name in zip(spots, names, strict=True)]
    sheet.marks(marks)
    axes = sheet.figure.axes[0]
    boxes = [name.get_window_extent() for name in axes.texts]
    assert [name.get_text() for name in axes.texts] == names
    for box, other in itertools.combinations(boxes, 2):
        assert not box.overlaps(other)
    for box in boxes:
        assert axes.bbox.x0 <= box.x0 <= box.x1 <= axes.bbox.x1
        assert axes.bbox.y0 <= box.y0 <= box.y1 <= axes.bbox.y1
        assert not any(box.contains(*axes.transData.transform(spot)) for spot in spots)


class TestRaster:
    """Vertices and arcs as pixels."""

    PLACES = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.1, 0.1]])

    def test_points(self) -> None:
        frame = Frame.around(self.PLACES, 5)
        assert (frame.width, frame.height) == (5, 3)
        result = mean_of_points(frame, self.PLACES, np.array([2.0, 5.0, 7.0, 4.0]))
        assert result[0, 0] == 3
        assert result[2, 4] == 7
        assert np.isnan(result).sum() == 12

    def test_arcs(self) -> None:
        frame = Frame.around(self.PLACES, 5)
        lines, values = self.PLACES[[[0, 1], [1, 2]]], np.array([[0.0, 4.0], [4.0, 8.0]])
        result = mean_of_lines(frame, lines, values, 1)
        assert result[0].tolist() == [0, 1, 2, 3, 4]
        assert result[:, 4].tolist() == [4, 6, 8]
        assert np.isnan(result[1:, :4]).all()
        most = most_of_lines(frame, lines, np.array([1.0, 3.0]), 3)
        assert most[1].tolist() == [1, 1, 1, 3, 3]

    def test_latitudes_shrink_longitudes(self) -> None:
        places = np.array([[10.0, 59.9], [10.2, 60.1]])
        for unit in (1.0, 1e6):
            frame = Frame.around(places * unit, 201, stretch_of(places * unit))
            assert (frame.width, frame.height) == (101, 201)

    def test_many_vertices_are_drawn_without_arcs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("groute_py.maps.drawings.LINES_UP_TO", 3)
        network = Network(self.PLACES, whole_arcs(np.array([0]), np.array([1])), 300)
        assert network.arcs is None
        assert network.covered().sum() > 3
