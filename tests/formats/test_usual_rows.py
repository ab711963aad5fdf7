"""Rows of edge lists read by the compiled loop and line by line: one meaning, and one message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groute_py import FormatError, read_graph
from groute_py.io.formats.edge_list import rows as edge_rows
from groute_py.io.formats.edge_list.rows import NamedLines
from groute_py.io.tables.columns import BY_TITLE, Columns

ODD = [
    *(
        "a",
        "b",
        "cd",
        "New York",
        "é",
        "\u00a0x",
        "7",
        "007",
        "+7",
        "-3",
        "1.5",
        "1e5",
        "1e",
        "0x1F",
    ),
    *("nan", "NA", "null", "inf", "", " ", " a", "a ", '"a"', '"a,b"', '" a"', '"a""b"', '"a'),
    *('a"b', '""', '"7"', '" 7"', "#a", "%b", "//c", "99999999999999999999", "9" * 18, "1_0"),
    *("1.", ".5", "-", "--5", "5-3", "1e999", "-0", "True", "\x0b", "a\rb", "\ufeffa", "\x00"),
]
FIELDS = st.one_of(st.sampled_from(ODD), st.text('ab"#, \t;1.-e', max_size=4))
LINES = st.lists(st.lists(FIELDS, min_size=1, max_size=4), max_size=8)
TITLES = {
    "from,to,km": BY_TITLE,
    "km,from,to": BY_TITLE,
    "from,to": BY_TITLE,
    "from,note,to,cost,reverse_cost": BY_TITLE,
    "from,to,directed,km": BY_TITLE,
    "a,b,c": Columns("c", "a"),
    "x,y,5\nz,x,6": BY_TITLE,
    "1,2,5\n3,1,6": BY_TITLE,
}


def outcome(path: Path, asked: Columns) -> Any:
    """All there is to know of the graph, or of the error."""
    try:
        graph = read_graph(path, cache=False, tail=asked.tail, head=asked.head, weight=asked.weight)
    except FormatError as error:
        return str(error)
    ids = None if graph.ids is None else graph.ids.tolist()
    arrays = graph.offsets.tolist(), graph.heads.tolist(), graph.weights.tolist()
    return ids, graph.first_id, graph.weights.dtype, arrays, graph.reading


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("titles", TITLES)
@settings(max_examples=40)
@given(lines=LINES, usual=st.lists(st.sampled_from(["p", "q r", "8", "9"]), max_size=9))
def test_one_meaning(
    tmp_path_factory: pytest.TempPathFactory,
    titles: str,
    end: str,
    lines: list[list[str]],
    usual: list[str],
) -> None:
    """Odd lines between usual ones."""
    path = tmp_path_factory.getbasetemp() / "rows.csv"
    width = titles.partition("\n")[0].count(",") + 1
    rows = [",".join([name] * 2 + ["1"] * (width - 2)) for name in usual]
    if titles.startswith("km"):
        rows = [",".join(["1", name, name]) for name in usual]
    mixed = [row for pair in zip(rows, map(",".join, lines), strict=False) for row in pair]
    text = end.join([titles, *mixed, *map(",".join, lines[len(rows) :]), ""])
    path.write_bytes(text.encode())
    fast = outcome(path, TITLES[titles])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_rows, "scan_rows", lambda _, start, *__: (start, 0, 0))
        slow = outcome(path, TITLES[titles])
    assert fast == slow


@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
def test_blocks(tmp_path: Path, separator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are numbered over blocks as within one, in the order in which they come."""
    rng = np.random.default_rng(5)
    names = [f"vertex {k}" for k in range(300)]
    rows = [(*(names[k] for k in rng.integers(0, 300, 2)), k) for k in range(4000)]
    lines = ["source\ttarget\tkm".replace("\t", separator)]
    lines += [separator.join(map(str, row)) for row in rows]
    lines[7:7] = ["", " ".join(["# no row"])]
    (tmp_path / "g.csv").write_text("\n".join(lines) + "\n")
    graphs = [outcome(tmp_path / "g.csv", BY_TITLE)]
    monkeypatch.setattr("groute_py.io.text.arc_reader.SPAN_BYTES", 900)
    graphs.append(outcome(tmp_path / "g.csv", BY_TITLE))
    monkeypatch.setattr(edge_rows, "MOST_UNUSUAL", 1)
    graphs.append(outcome(tmp_path / "g.csv", BY_TITLE))
    assert graphs[0] == graphs[1] == graphs[2]
    expected = list(dict.fromkeys(name for row in rows for name in row[:2]))
    assert graphs[0][0] == expected


def test_usual_lines_need_no_care(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    take_line = NamedLines.take_line

    def recorded(self: NamedLines, line: bytes) -> None:
        seen.append(line)
        take_line(self, line)

    monkeypatch.setattr(NamedLines, "take_line", recorded)
    usual = '"a, b",c d,5\nc d, e ,6.5\n\n' + "x,y,7\r\n" * 50 + '"\u00e9",x,-1e-3\n'
    (tmp_path / "g.csv").write_bytes(("from,to,km\n" + usual).encode())
    assert read_graph(tmp_path / "g.csv").arc_count == 53
    assert seen == [b"from,to,km"]


def test_decimals_end_integers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in later blocks; integers that float64 does not hold are kept where all are integers."""
    monkeypatch.setattr("groute_py.io.text.arc_reader.SPAN_BYTES", 900)
    rows = ["from,to,km", *(f"a,b{k},{k}" for k in range(300))]
    for last, kind in (("5", np.int32), (str(2**60 + 1), np.int64), ("0.1", np.float64)):
        text = "\n".join([*rows, f"a,b,{last}", *rows[1:], ""])
        (tmp_path / "g.csv").write_text(text)
        graph = read_graph(tmp_path / "g.csv", cache=False)
        assert graph.weights.dtype == kind
        assert graph.weights.tolist() == [*range(300), kind(last), *range(300)]


def test_titles_in_a_later_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.io.text.arc_reader.SPAN_BYTES", 40)
    comments = "# a line of comments\n" * 9
    (tmp_path / "g.csv").write_text(f"{comments}from,to,km\n" + "a,b,5\n" * 30)
    assert read_graph(tmp_path / "g.csv", cache=False).arc_count == 30


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("x,y", "expected `TAIL HEAD WEIGHT`"),
        ("x,y,far", "expected a finite number as weight, got 'far'"),
        ('"x,y,5', "a quoted field begins and ends with a quote"),
        (",y,5", "expected `TAIL HEAD WEIGHT`"),
    ],
)
def test_the_line_of_a_mistake(tmp_path: Path, row: str, says: str) -> None:
    (tmp_path / "g.csv").write_text("from,to,km\n" + "a,b,5\n" * 9000 + f"{row}\n" + "a,c,7\n" * 9)
    with pytest.raises(FormatError, match=says) as caught:
        read_graph(tmp_path / "g.csv")
    assert caught.value.line == 9002
