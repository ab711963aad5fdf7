"""Networks, tables of vertices and trips of traffic assignment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.graphs import arcs_by_id

from groute_py import FormatError, read_graph, write_graph
from groute_py.graph.read_report import Reading
from groute_py.io.coordinates import coordinates_for
from groute_py.io.formats.tntp import read_trips

NET = """<NUMBER OF ZONES> 2
<NUMBER OF NODES> 3
<FIRST THRU NODE> 3
<NUMBER OF LINKS> 3
<ORIGINAL HEADER>~ \tInit node\tTerm node\tCapacity\tLength\t;
<END OF METADATA>


~ \tinit_node\tterm_node\tcapacity\tlength\tfree_flow_time\tb\tpower\tspeed\ttoll\tlink_type\t;
\t2\t3\t23403.4\t4\t4.5\t0.15\t4\t0\t0\t1\t;
\t1\t2\t25900.2\t6\t6\t0.15\t4\t0\t0\t1\t;
\t1\t3\t25900.2\t11\t11\t0.15\t4\t0\t0\t1 ;
"""


@pytest.fixture
def net(tmp_path: Path) -> Path:
    (tmp_path / "Town_net.tntp").write_text(NET)
    return tmp_path / "Town_net.tntp"


def test_a_network(net: Path) -> None:
    graph = read_graph(net)
    assert (graph.name, graph.first_id, graph.column) == ("Town", 1, "free_flow_time")
    assert arcs_by_id(graph) == [(1, 2, 6), (1, 3, 11), (2, 3, 4.5)]
    assert graph.columns["capacity"].tolist() == [25900.2, 25900.2, 23403.4]
    assert graph.columns["power"].dtype == np.int32
    assert arcs_by_id(read_graph(net, weight="length")) == [(1, 2, 6), (1, 3, 11), (2, 3, 4)]


def test_zones_are_remembered(net: Path) -> None:
    graph = read_graph(net)
    assert graph.reading == Reading({}, 1, first_through=3)
    write_graph(graph, net.with_suffix(".csr"))
    assert read_graph(net.with_suffix(".csr")).reading == graph.reading


@pytest.mark.parametrize(
    ("old", "new", "says", "line"),
    [
        ("\t2\t3\t2", "\t2\t4\t2", r"expected a vertex in 1\.\.3, got '4'", 10),
        ("6\t6\t", "6\tsix\t", "expected a number, got 'six'", 11),
        ("11\t11\t", "11\t", "got 9 fields", 12),
        ("LINKS> 3", "LINKS> 4", "promises 4 links, but has 3", None),
        ("<NUMBER OF NODES> 3\n", "", "expected a number behind <NUMBER OF NODES>", None),
        ("<END OF METADATA>\n", "", "expected a tag or <END OF METADATA>", 9),
        ("NODES> 3", "NODES> 999999999999", "vertices", None),
    ],
)
def test_damage(net: Path, old: str, new: str, says: str, line: int | None) -> None:
    net.write_text(NET.replace(old, new))
    with pytest.raises(FormatError, match=says) as caught:
        read_graph(net)
    assert caught.value.line == line


def test_places_of_vertices(net: Path) -> None:
    path = net.with_name("Town_node.tntp")
    path.write_text("Node\tX\tY\t;\n2\t320000\t510000\t;\n1\t50000\t510000\t;\n3\t5\t44\t;\n")
    places = coordinates_for(read_graph(net), path)
    assert places.tolist() == [[50000, 510000], [320000, 510000], [5, 44]]


def test_trips(tmp_path: Path) -> None:
    path = tmp_path / "Town_trips.tntp"
    path.write_text(
        "<NUMBER OF ZONES> 2\n<TOTAL OD FLOW> 350.0\n<END OF METADATA>\n\n"
        "Origin \t1 \n    1 :      0.0;     2 :    100.0;\n\nOrigin  2\n    1 :    250.0;\n"
    )
    trips = read_trips(path)
    assert trips.origins.tolist() == [1, 1, 2]
    assert trips.destinations.tolist() == [1, 2, 1]
    assert trips.flows.tolist() == [0, 100, 250]
    with pytest.raises(FormatError, match="expected a number behind <NUMBER OF NODES>"):
        read_graph(path)
    path.write_text(path.read_text().replace("2 :  ", "2 ;  "))
    with pytest.raises(FormatError, match="expected `Origin ID` or `ID : FLOW;`") as caught:
        read_trips(path)
    assert caught.value.line == 6
