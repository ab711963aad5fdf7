"""Edge lists whose first lines might be something else: titles, DIMACS, decimals with commas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.graphs import graph_of

from groute_py import FormatError, Graph, InputError, read_graph, write_graph
from groute_py.system import memory_limits

LIKE_TITLES = ["u", "start", "source", "from", "tail", "i", "src", "id1", "node1"]


def arcs(path: Path) -> list[tuple[Any, Any, Any]]:
    graph = read_graph(path, cache=False)
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    ids = (graph.numbering.ids_of(ends).tolist() for ends in (tails, graph.heads))
    return sorted(zip(*ids, graph.weights.tolist(), strict=True))


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        (tmp_path / "g").write_text(text)
        return tmp_path / "g"

    return write


@pytest.mark.parametrize("name", LIKE_TITLES)
def test_names_that_titles_have(file: Any, name: str) -> None:
    """The first arc stays, with any separator, and with two columns."""
    wanted = [("x", "y", 3), (name, "x", 5)] if name > "x" else [(name, "x", 5), ("x", "y", 3)]
    assert arcs(file(f"{name} x 5\nx y 3\n")) == wanted
    assert arcs(file(f"{name},x,5\nx,y,3\n")) == wanted
    assert arcs(file(f"{name} x\nx y\n")) == [(u, v, 1) for u, v, _ in wanted]


@pytest.mark.parametrize(
    "titles", ["from,to,km", "Source,Target,travel_time", "u,v,Length (km)", '"src","dst","w"']
)
def test_titles(file: Any, titles: str) -> None:
    assert arcs(file(f"{titles}\na,b,3\n")) == [("a", "b", 3)]
    assert arcs(file(f"{titles}\n7,8,3\n")) == [(7, 8, 3)]


def test_titles_of_two_columns(file: Any) -> None:
    assert arcs(file("from to\na b\nb c\n")) == [("a", "b", 1), ("b", "c", 1)]
    assert arcs(file("u v\nv w\n")) == [("u", "v", 1), ("v", "w", 1)]
    assert arcs(file("person knows\n1 2\n")) == [(1, 2, 1)]


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".tsv", ".el", ".wel", ".e"])
@pytest.mark.parametrize(
    "names",
    [
        ["u", "v", "w"],
        ["tail", "head", "weight"],
        ["a", "p", "c"],
        ["007", "7", "+7"],
        ["1", "2", "x"],
    ],
)
def test_names_come_back(tmp_path: Path, suffix: str, names: list[str]) -> None:
    graph = graph_of(3, [(0, 1, 1), (1, 2, 1), (2, 0, 1)])
    named = Graph(graph.offsets, graph.heads, graph.weights, ids=np.array(names))
    write_graph(named, tmp_path / f"g{suffix}")
    wanted = [(names[0], names[1], 1), (names[1], names[2], 1), (names[2], names[0], 1)]
    assert arcs(tmp_path / f"g{suffix}") == sorted(wanted)


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".tsv", ".el", ".csv.gz"])
@given(
    names=st.lists(
        st.text('ab ,;|"#%7-\t\u00a0', min_size=1, max_size=5), min_size=2, max_size=5, unique=True
    )
)
def test_names_of_any_letters_come_back(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, names: list[str]
) -> None:
    """Also those that hold separators, quotes and blanks."""
    path = tmp_path_factory.getbasetemp() / f"names{suffix}"
    ring = [(u, (u + 1) % len(names), 1) for u in range(len(names))]
    graph = graph_of(len(names), ring)
    write_graph(Graph(graph.offsets, graph.heads, graph.weights, ids=np.array(names)), path)
    assert arcs(path) == sorted((names[u], names[v], 1) for u, v, _ in ring)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('"New York",B,3\nB,C,4\n', [("B", "C", 4), ("New York", "B", 3)]),
        ('"New York" 5\n"Los Angeles" 6\n', [("Los Angeles", "6", 1), ("New York", "5", 1)]),
        ('"a,b",B,3\nB,"c,5",4\n', [("B", "c,5", 4), ("a,b", "B", 3)]),
        ('"a";"b;c";"4"\nb;c;5\n', [("a", "b;c", 4), ("b", "c", 5)]),
        ('"say ""hi""" B 3\nB " c" 4\n', [("B", " c", 4), ('say "hi"', "B", 3)]),
        ('"#a",b,4\n"%c",d,4\n', [("#a", "b", 4), ("%c", "d", 4)]),
        ('"1","2","5"\n"2","3","6"\n', [(1, 2, 5), (2, 3, 6)]),
        ('"from","to","km"\n"x, y",z,4\n', [("x, y", "z", 4)]),
        ("1,2,3\n,,\n2,3,4\n", [(1, 2, 3), (2, 3, 4)]),
    ],
)
def test_quoted_fields(file: Any, text: str, wanted: list[tuple[Any, Any, int]]) -> None:
    assert arcs(file(text)) == wanted


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('"a,B,3\nB,C,4\n', 1),
        ('"a\nb",B,3\nB,C,4\n', 1),
        ('5" pipe,B,3\nB,C,4\n', 1),
        ('a,B,3\n"b,C,4\n', 2),
        ('a,B,3\nb"x"y,C,4\n', 2),
        ('a B 3\n"b" "C"D 4\n', 2),
        ("1,2,3\n" * 200 + '"3,4,5\n', 201),
    ],
)
def test_quotes_that_are_amiss(file: Any, text: str, line: int) -> None:
    """Nothing of a name is dropped without a word."""
    with pytest.raises(FormatError, match="a quoted field begins and ends with a quote") as caught:
        read_graph(file(text))
    assert caught.value.line == line


@pytest.mark.parametrize("name", ["", "a\nb", "a\rb", "a\x1bb"])
def test_names_that_no_line_can_hold(tmp_path: Path, name: str) -> None:
    named = Graph(*(np.array(x) for x in ([0, 1], [0])), np.array([3]), ids=np.array([name]))
    with pytest.raises(InputError, match="cannot stand in an edge list"):
        write_graph(named, tmp_path / "g.txt")


def test_a_graph_of_names_without_vertices(tmp_path: Path) -> None:
    graph = graph_of(0, [])
    named = Graph(graph.offsets, graph.heads, graph.weights, ids=np.array([], np.str_))
    write_graph(named, tmp_path / "g.csv")
    assert read_graph(tmp_path / "g.csv").vertex_count == 0


@pytest.mark.parametrize(
    "text", ["a b 4\nb c 3\n", "cat cow 3\ncow cat 4\n", "c a 4\nc b 3\n", "p sp 4\nsp p 3\n"]
)
def test_names_like_the_letters_of_dimacs(file: Any, text: str) -> None:
    rows = [line.split() for line in text.splitlines()]
    assert arcs(file(text)) == sorted((u, v, int(w)) for u, v, w in rows)


def test_names_with_blanks(file: Any) -> None:
    text = "New York,Los Angeles,5\nLos Angeles,San Jose,3\n"
    assert ("New York", "Los Angeles", 5) in arcs(file(text))


ROWS = "".join(f"{i},{i + 1},3\n" for i in range(300))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("home work 5O\nwork home 4\n", 1, "expected a finite number as weight, got '5O'"),
        ("home work nan\nwork home 4\n", 1, "expected a finite number as weight, got 'nan'"),
        ("1;2;3,5\n2;3;4,5\n", 1, "expected a finite number as weight, got '3,5'"),
        ("1 2 3,5\n2 3 4,5\n", 1, "may be parted by blanks or by ','"),
        ("1,2,3\n2,3,,4\n", 2, "expected `TAIL HEAD WEIGHT`"),
        (ROWS + "2,3,,4\n", 301, "expected `TAIL HEAD WEIGHT`"),
        (ROWS + "2,,3,4\n", 301, "expected `TAIL HEAD WEIGHT`"),
        (ROWS + "2,3,4,\n", 301, "expected `TAIL HEAD WEIGHT`"),
        (ROWS + ",3,4\n", 301, "expected `TAIL HEAD WEIGHT`"),
        (ROWS + "2 3 4\n", 301, "expected `TAIL HEAD WEIGHT`"),
        ("1O,5,3\n" + ROWS, 1, "expected an integer id as in the other lines, got '1O'"),
        ("4,5,3\n" * 9 + "4,5O,3\n", 10, "expected an integer id as in the other lines"),
        ("a,b;c,3\nb,c;d,4\n", 1, "may be parted by ',' or by ';' in 'a,b;c,3'"),
        ("1 2 3\n4 5 6 7\n", 2, "expected `TAIL HEAD WEIGHT` as in the lines before"),
        (
            "weight,a,b\n5,1,2\n",
            1,
            "which columns hold tails and heads is not clear in weight, a, b",
        ),
        ("a b\n", 1, "one line of two words may be an edge or a sentence"),
        ("// roads\n1 2 3\n", 1, "a line that begins with // is no comment"),
        ("1 2 3\n// more\n2 3 4\n", 2, "a line that begins with // is no comment"),
        ("a b 3\n" * 200 + "// b 4\n", 201, "a line that begins with // is no comment"),
        ("1,2,3,4\n2,3,4,5\n", 1, "expected `TAIL HEAD` or `TAIL HEAD WEIGHT`, got 4 fields"),
    ],
)
def test_what_is_not_clear_is_refused(file: Any, text: str, line: int, says: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_graph(file(text))
    assert says in str(caught.value)
    assert caught.value.line == line


def test_a_name_as_long_as_a_book(file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 1_000_000)
    path = file("x" * 20_000 + " y 5\n" + "".join(f"n{i} n{i + 1} 5\n" for i in range(98)))
    with pytest.raises(FormatError, match="101 names with room for 20,000 letters"):
        read_graph(path)
