"""Rows of titles in files of edges: where they are, what parts them, and what is not clear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.graphs import arcs_by_id

import groute_py
from groute_py import FormatError, InputError, read_graph

Arcs = list[tuple[Any, Any, Any]]


@pytest.mark.parametrize(
    ("text", "arcs", "comments"),
    [
        ("from,to,km\nA,#B,4\n#B,C,5\n", [("#B", "C", 5), ("A", "#B", 4)], 0),
        ("# roads\nfrom,to,km\nA,%B,4\n%B,C,5\n# end\n", [("%B", "C", 5), ("A", "%B", 4)], 2),
        ("from\tto\n#B\tC\nC\tD\n", [("#B", "C", 1), ("C", "D", 1)], 0),
        ("km;from;to\n4;x;y\n#5;y;x\n", None, 0),
        ("A,B,4\n# B,C,5\n", [("A", "B", 4)], 1),
        ('A #B 4\n"#B" C 5\n#B C D\n', [("#B", "C", 5), ("A", "#B", 4)], 1),
        ("from to\nA B\n# B C\n", [("A", "B", 1)], 1),
        ("from,to,km\n1,2,4\n# a, b\n2,3,5\n", [(1, 2, 4), (2, 3, 5)], 1),
        ("1 2 3\n" + "# more\n 2 3 4\n\n" * 3, [(1, 2, 3)] + [(2, 3, 4)] * 3, 3),
    ],
)
def test_marks_of_comments(tmp_path: Path, text: str, arcs: Arcs | None, comments: int) -> None:
    """Below titles with separators such a row is a row, and else it is counted."""
    (tmp_path / "g.txt").write_text(text)
    if arcs is None:
        with pytest.raises(FormatError, match="expected a finite number as weight, got '#5'"):
            read_graph(tmp_path / "g.txt")
        return
    graph = read_graph(tmp_path / "g.txt")
    assert arcs_by_id(graph) == arcs
    assert graph.reading is not None
    assert graph.reading.comments == comments


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("A #B 4\n#B C 5\n", 2),
        ("A\t%B\t4\n%B\tC\t5\n", 2),
        ("#B C 5\nA #B 4\n", 1),
        ("A,B,4\nB,C,5\n#B,C,5\n", 3),
        ("A B\nB C\n#B C\n", 3),
        ("from to\nA B\n#B C\n", 3),
    ],
)
def test_a_mark_before_a_name(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "g.txt").write_text(text)
    with pytest.raises(FormatError, match="may be a row or a comment; put quotes") as caught:
        read_graph(tmp_path / "g.txt")
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "arcs"),
    [
        ("% sym weighted\n1 2 5\n2 3 1\n", [(1, 2, 5), (2, 1, 5), (2, 3, 1), (3, 2, 1)]),
        ("% asym unweighted\n1 2\n", [(1, 2, 1)]),
        ("% sym positive\n% 2 3 3\n1 2 5 99\n2 3 1 98\n",
         [(1, 2, 5), (2, 1, 5), (2, 3, 1), (3, 2, 1)]),
        ("# Undirected graph: ../../data/ca.txt\n1\t2\n", [(1, 2, 1), (2, 1, 1)]),
        ("# Undirected graph: roads.txt\n1\t2\n2\t1\n", [(1, 2, 1), (2, 1, 1)]),
        ("# Undirected\na,b,5\n", [("a", "b", 5), ("b", "a", 5)]),
        ("# Directed graph (each unordered pair of nodes is saved once)\n1 2\n", [(1, 2, 1)]),
    ],
)  # fmt: skip
def test_comments_that_say_undirected(tmp_path: Path, text: str, arcs: Arcs) -> None:
    (tmp_path / "g.txt").write_text(text)
    graph = read_graph(tmp_path / "g.txt")
    assert arcs_by_id(graph) == arcs
    assert graph.reading is not None
    assert ("direction" in graph.reading.columns) == (len(arcs) > 1)
    both = {(tail, head) for tail, head, _ in arcs} | {(head, tail) for tail, head, _ in arcs}
    assert {arc[:2] for arc in arcs_by_id(read_graph(tmp_path / "g.txt", undirected=True))} == both


def test_two_kinds_of_vertices(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("% bip unweighted\n1 1\n1 2\n")
    with pytest.raises(FormatError, match="bipartite"):
        read_graph(tmp_path / "g.txt")


@pytest.mark.parametrize("first", ["2 3 0.5\n", ""])
@pytest.mark.parametrize(
    "text", ["1 2 9007199254740993\n2 3 0.5\n", "a,b,0.5\nb,c,-9007199254740993\n"]
)
def test_integers_that_decimals_would_round(tmp_path: Path, first: str, text: str) -> None:
    if "," in text:
        first = first.replace(" ", ",")
    (tmp_path / "g.txt").write_text(first + text)
    with pytest.raises(FormatError, match="9007199254740993 stands beside decimals") as caught:
        read_graph(tmp_path / "g.txt")
    assert caught.value.line == 1 + ("," in text) + (first != "")


@pytest.mark.parametrize(
    ("text", "arcs"),
    [
        ("my tail\tmy head\tmy cost\n1\t2\t3\n2\t4\t5\n", [(1, 2, 3), (2, 4, 5)]),
        ("New York\tParis\t4\nParis\tRome\t5\n", [("New York", "Paris", 4), ("Paris", "Rome", 5)]),
        ("a b\tc\n1\t2\n", [(1, 2, 1)]),
    ],
)
def test_blanks_between_tabs(tmp_path: Path, text: str, arcs: Arcs) -> None:
    (tmp_path / "g.tsv").write_text(text)
    assert sorted(arcs_by_id(read_graph(tmp_path / "g.tsv"))) == arcs


def test_titles_with_blanks_above_names(tmp_path: Path) -> None:
    """As with commas: they are clear where they are named, or where some are known titles."""
    (tmp_path / "g.tsv").write_text("start point\tend\n1\t2\n")
    with pytest.raises(FormatError, match="which columns hold tails and heads is not clear"):
        read_graph(tmp_path / "g.tsv")
    (tmp_path / "g.tsv").write_text("my tail\tmy head\na\tb\n")
    graph = read_graph(tmp_path / "g.tsv", tail="my tail", head="my head")
    assert arcs_by_id(graph) == [("a", "b", 1)]


@pytest.mark.parametrize(
    ("titles", "separator"),
    [
        ("person,friend", ","),
        ("id,name", ","),
        ("City\tCountry", "\t"),
        ("node other", " "),
        ("Person ID;Friend ID", ";"),
    ],
)
def test_titles_or_an_edge(tmp_path: Path, titles: str, separator: str) -> None:
    (tmp_path / "g.txt").write_text(f"{titles}\nx{separator}y\ny{separator}z\n")
    with pytest.raises(FormatError, match="may be titles or an edge") as caught:
        read_graph(tmp_path / "g.txt")
    assert caught.value.line == 1
    tail, head = titles.split(separator)
    graph = read_graph(tmp_path / "g.txt", tail=tail, head=head)
    assert arcs_by_id(graph) == [("x", "y", 1), ("y", "z", 1)]


def test_titles_in_a_comment_that_are_not_clear(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("# roads\n# from,to,km,minutes\n5,6,1,2\n")
    with pytest.raises(FormatError, match="weights may be km or minutes") as caught:
        read_graph(tmp_path / "g.csv")
    assert caught.value.line == 2
    assert read_graph(tmp_path / "g.csv", weight="minutes").weights.tolist() == [2]


@pytest.mark.parametrize("titles", ["", "from,to,km\n"])
def test_ids_with_a_point(tmp_path: Path, titles: str) -> None:
    """As a table writes integers among which some are missing."""
    (tmp_path / "g.csv").write_text(f"{titles}1.0,2.0,5\n2.0,3.0,6\n")
    with pytest.raises(FormatError, match=r"expected an integer id, got '1\.0'; where"):
        read_graph(tmp_path / "g.csv")
    (tmp_path / "g.csv").write_text(f"# ids are names\n{titles}1.0,2.0,5\n")
    assert arcs_by_id(read_graph(tmp_path / "g.csv")) == [("1.0", "2.0", 5)]


def test_titles_or_a_weighted_edge(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("fan,idol,score\nx,y,5\ny,z,6\n")
    with pytest.raises(FormatError, match="may be titles or an edge"):
        read_graph(tmp_path / "g.csv")
    graph = read_graph(tmp_path / "g.csv", tail="fan", head="idol", weight="score")
    assert arcs_by_id(graph) == [("x", "y", 5), ("y", "z", 6)]


@pytest.mark.parametrize("row", ["#B,C", "#B,C,5,6", "#5,6,7"])
def test_rows_that_are_neither(tmp_path: Path, row: str) -> None:
    ends = "1,2" if row == "#5,6,7" else "A,B"
    (tmp_path / "g.csv").write_text(f"from,to,km\n{ends},4\n{row}\n")
    with pytest.raises(FormatError) as caught:
        read_graph(tmp_path / "g.csv")
    assert caught.value.line == 3


@pytest.mark.parametrize(
    ("text", "arcs"),
    [
        ("node1 node2\nnode2 node3\n", [("node1", "node2", 1), ("node2", "node3", 1)]),
        ("node1 node2\nnode3 node4\n", [("node1", "node2", 1), ("node3", "node4", 1)]),
        ("a_node b_node\nx y\n", [("x", "y", 1)]),
        ("from,to\nto,x\n", [("from", "to", 1), ("to", "x", 1)]),
        ("target,source\n5,1\n", [(1, 5, 1)]),
        ("from to km\n1 2 3\n", [(1, 2, 3)]),
        ('"from","to","street, side","km"\n1,2,"a, b",3\n', [(1, 2, 3)]),
        (
            "source\ttarget\tLabel\tweight\na\tb\t\t3\nb\tc\tx y\t4\n",
            [("a", "b", 3), ("b", "c", 4)],
        ),
        ("id;von;source;target;km\n;;1;2;3\n;;;;\n4;x;2;3;1.5\n", [(1, 2, 3.0), (2, 3, 1.5)]),
        ("# from,km,to\n5,2,6\n6,1,7\n", [(5, 6, 2), (6, 7, 1)]),
        ("%from;km;to\n# of 2026\nx;2;y\n# z;1;y\n", [("x", "y", 2)]),
        ("# Nodes: 3\r\n# ToNodeId\tFromNodeId\r\n1\t2\r\n2\t3\r\n", [(2, 1, 1), (3, 2, 1)]),
        ("# from here to there\n1 2 3\n", [(1, 2, 3)]),
        ("# from node to node\n1 2 3\n", [(1, 2, 3)]),
    ],
)
def test_rows_of_titles(tmp_path: Path, text: str, arcs: Arcs) -> None:
    (tmp_path / "g.txt").write_text(text)
    assert arcs_by_id(read_graph(tmp_path / "g.txt")) == arcs


@pytest.mark.parametrize("graph", ["road:3x3", ([0, 0], [], []), "g.gr"])
def test_graphs_without_columns(tmp_path: Path, graph: Any) -> None:
    if graph == "g.gr":
        graph = tmp_path / graph
        graph.write_text("p sp 2 1\na 1 2 5\n")
    with pytest.raises(InputError, match="has no columns by name; leave out weight 'km'"):
        groute_py.sssp(graph, 0, weight="km", device="cpu")


def test_a_file_without_titles(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("1,2,3\n")
    with pytest.raises(InputError, match="no row of titles with 'km', so no column can be named"):
        read_graph(tmp_path / "g.csv", weight="km")
