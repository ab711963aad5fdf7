"""Small valid files of every format, by our own writers or by hand."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from support.extracts import grid

from groute_py import Graph, Positions, PreparedGraph, Result, read_graph, sssp, write_graph
from groute_py.graph.geography import Shapes
from groute_py.graph.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True)
class Format:
    """Inputs of one kind.

    Attributes:
        file: what the input is called, because names decide between some formats.
        seeds: valid contents.
        reader: who reads it, by its name in `fuzz.readers.READERS`.
        beside: other files in its folder, which stay as they are.
    """

    file: str
    seeds: tuple[bytes, ...]
    reader: str = "graph"
    beside: dict[str, bytes] = field(default_factory=dict)


WRITTEN_NS = 10**18
"""When the text of a cached copy was written."""

WHOLE = Graph.from_arrays(
    [0, 2, 4, 5, 7, 7, 8],
    [1, 2, 0, 3, 3, 4, 0, 5],
    np.array([803, 7, 803, 0, 5, 12, 3, 9], np.int32),
    first_id=1,
)
"""Six vertices with a zero weight, a loop and a vertex without arcs out."""

REAL = Graph.from_arrays(
    WHOLE.offsets, WHOLE.heads, np.array([0.5, 7, -0.25, 0, 1e-3, 1e30, 3, 0.1]), first_id=0
)
TWO_WAY = Graph.from_arrays([0, 2, 4, 6, 6], [1, 2, 0, 2, 0, 1], [5, 7, 5, 1, 7, 1], first_id=1)
NAMED = Graph(
    REAL.offsets,
    REAL.heads,
    REAL.weights,
    name="named",
    ids=np.array(["home", "a, b", 'say "hi"', "é", "#1", "7"]),
)
SPREAD = Graph(
    WHOLE.offsets, WHOLE.heads, WHOLE.weights, name="spread", ids=np.array([-5, 3, 8, 40, 2**40, 9])
)


@cache
def formats() -> dict[str, Format]:
    """All of them by name."""
    with TemporaryDirectory() as folder:
        return {**_text(Path(folder)), **_binary(Path(folder)), **_others(Path(folder))}


def _written(folder: Path, suffix: str, *graphs: Graph) -> tuple[bytes, ...]:
    contents = []
    for graph in graphs:
        path = folder / f"in{suffix}"
        write_graph(graph, path)
        contents.append(path.read_bytes())
        path.unlink()
    return tuple(contents)


def _text(folder: Path) -> dict[str, Format]:
    mtx = b"%%MatrixMarket matrix coordinate "
    market = (
        mtx + b"real symmetric\n% c\n3 3 3\n1 1 .5\n2 1 1e3\n3 2 -4\n",
        mtx + b"pattern general\n3 3 2\n1 2\n2 3\n",
        mtx + b"integer skew-symmetric\n3 3 1\n2 1 5\n",
    )
    metis = (
        b"% c\n3 2\n2\n1 3\n2\n",
        b"3 2 011 1\n4 2 803\n5 1 803 3 5\n6 2 5\n",
        b"3 2 110 2\n9 1 1 2\n9 2 2 1 3\n9 3 3 2\n",
    )
    pace = (b"c x\np tw 3 2\n1 2\n2 3\n", b"p edge 3 2\ne 1 2\ne 2 3\n", b"p col 3 1\ne 1 3\n")
    dimacs = (b"c x\np sp 3 2\na 1 2 803\na 2 3 5\n", b"p sp 3 2\r\na 1 2 1.5\r\na 2 3 5\r\n")
    dense = (b"3\n0 803 1000000\n1000000 0 5\n7 1000000 0\n", b"1\n0\n")
    return {
        "DIMACS": Format("in.gr", _written(folder, ".gr", WHOLE) + dimacs),
        "Matrix Market": Format("in.mtx", _written(folder, ".mtx", WHOLE, REAL) + market),
        "METIS": Format("in.graph", _written(folder, ".graph", TWO_WAY) + metis),
        "PACE": Format("in", pace),
        "dense matrix": Format("in.mat", dense),
        "TNTP": Format("in_net.tntp", (TNTP,)),
        "TNTP trips": Format(
            "in_trips.tntp",
            (b"<NUMBER OF ZONES> 2\n<END OF METADATA>\nOrigin 1\n 1 : 0.0; 2 : 9.5;\n",),
            "trips",
        ),
        "OpenStreetMap XML": Format("in.osm", _extracts(folder, ".osm")),
        "edge list": Format("in.txt", _edge_lists() + _written(folder, ".txt", SPREAD)),
        "GAPBS text": Format("in.wel", (*_written(folder, ".wel", WHOLE), b"0 1\n1 2\n")),
        "CSV": Format("in.csv", _tables() + _written(folder, ".csv", NAMED, REAL)),
        "LDBC edges": Format("in.e", (b"1 2 0.5\n2 9 1.5\n",), beside={"in.v": b"1\n2\n9\n11\n"}),
        "LDBC vertices": Format(
            "in.v", (b"1\n2\n9\n11\n",), "vertices", {"in.e": b"1 2 0.5\n2 9 1.5\n"}
        ),
    }


TNTP = b"""<NUMBER OF ZONES> 2
<NUMBER OF NODES> 3
<FIRST THRU NODE> 3
<NUMBER OF LINKS> 2
<END OF METADATA>
~ init_node term_node capacity length free_flow_time b power speed toll link_type ;
1 3 25900.2 6 6 0.15 4 0 0 1 ;
3 2 9 4 4 0.15 4 0 0 1 ;
"""


def _edge_lists() -> tuple[bytes, ...]:
    return (
        b"# c\n1 2 5\n2 3 7\n3 1 0\n",
        b"% c\n1\t2\n2\t3\n",
        b"home|work|1.5\nwork|pub|2\n",
        b"1;2;5\n2;3;7\n",
        b"3 2\n1 2 5\n2 3 7\n",
        b"# vertices 0..9\n1 2 5\n2 3 7\n",
        b"# ids are names\n007 7 1\n7 08 2\n",
        b"\xef\xbb\xbf1 2 5\n-4 99999999999 7\n",
        b"a b\nb c\nc a\n",
        b"% sym positive\n% 3 3 3\n1 2 5 108\n2 3 1 109\n",
        b"# Undirected graph: a.txt\n1\t2\n2\t3\n",
    )


def _tables() -> tuple[bytes, ...]:
    many = b"link_id,from_node_id,to_node_id,length,name\n1,10,20,1.5,a\n2,20,30,2.5,b\n"
    return (
        b"source,target,weight\n1,2,5\n2,3,7\n",
        b'tail,head,weight\n"a, b",c,5\nc,"say ""hi""",7\n#d,c,1\n',
        b"u;v;length\r\n1;2;0.5\r\n2;3;1.5\r\n",
        many,
        b"Source,Target,Type,Id,Weight\n1,2,Directed,0,1.0\n2,3,Directed,1,2.0\n",
        b"source,target,cost,reverse_cost\n1,2,3.5,-1\n2,3,1.0,1.0\n",
        b"a_node,b_node,direction,time_ab,time_ba\n1,2,0,6,7\n2,3,1,8,\n",
        b"from_node,to_node,oneway,length\n1,2,FT,1\n3,2,TF,2\n3,4,N,9\n4,5,B,1\n",
        "from,to,weight\né,b,1\nb,ü,2\n".encode("utf-16"),
    )


def _binary(folder: Path) -> dict[str, Format]:
    arcs = np.concatenate([[1, 0, 3, 2], [1, 2, 2]]).astype("<u8").tobytes()
    galois = (arcs + np.array([1, 2], "<u4").tobytes(),)
    narrow = Graph.from_arrays(WHOLE.offsets, WHOLE.heads, WHOLE.weights.astype(np.int64))
    sizes = np.array([2, 3], "<i8").tobytes()
    unweighted = b"\0" + sizes + np.array([0, 1, 2, 2], "<i8").tobytes()
    native = (WHOLE, REAL, NAMED, SPREAD, narrow, _placed())
    result = {
        "native": Format("in.csr", _written(folder, ".csr", *native)),
        "OpenStreetMap PBF": Format("in.osm.pbf", _extracts(folder, ".osm.pbf")),
        "prepared": Format("in.prepared", _written(folder, ".prepared", *_prepared())),
        "GAPBS binary": Format(
            "in.wsg",
            (*_written(folder, ".wsg", WHOLE), unweighted + np.array([1, 2], "<i4").tobytes()),
        ),
        "Galois": Format("in.galois", _written(folder, ".galois", WHOLE, narrow) + galois),
        "SciPy": Format(
            "in.npz", _written(folder, ".npz", WHOLE, REAL, NAMED, SPREAD) + _sparse_arrays()
        ),
        "Parquet": Format("in.parquet", _written(folder, ".parquet", WHOLE, REAL, NAMED, SPREAD)),
    }
    for suffix in (".gz", ".xz", ".bz2", ".zst"):
        packed = _written(folder, f".gr{suffix}", WHOLE) + _written(folder, f".csv{suffix}", NAMED)
        packed += _written(folder, f".wsg{suffix}", WHOLE)
        result[f"packed {suffix}"] = Format(f"in{suffix}", packed)
    return result


def _placed() -> Graph:
    """With all that version 2 brought."""
    lines = np.array([0, 1, 0, ~1, 0, 0, 0, 0])
    return WHOLE.changed(
        coordinates=np.arange(12.0).reshape(6, 2),
        columns={"length": REAL.weights, "time": WHOLE.weights},
        shapes=Shapes(lines, np.array([0, 0, 2]), np.array([[0.5, 1], [2, 3]])),
        attribution="© some",
    )


def _extracts(folder: Path, suffix: str) -> tuple[bytes, ...]:
    return tuple(grid(side).write(folder / f"in{suffix}").read_bytes() for side in (2, 3))


def int32(*values: int) -> NDArray[np.int32]:
    return np.array(values, np.int32)


def _prepared() -> tuple[PreparedGraph, ...]:
    """By hand: a path of three vertices, one way with names, and two ways with a core of two."""
    nothing = 2**31 - 1
    offsets, heads = np.array([0, 1, 2, 2]), int32(1, 2)
    path = Graph(offsets, heads, int32(4, 3), ids=np.array(["a", "é", "c"]))
    one_way = Hierarchy(
        (0, 1, 2, 3),
        int32(1, 0, 2),
        np.array([0, 0, 1, 2]),
        int32(0, 0),
        int32(nothing, 3),
        int32(4, nothing),
        np.array([0, 0]),
        np.zeros(0, np.int32),
        np.zeros(0, np.int32),
    )
    weights = np.array([4, 4, 3, 3])
    edges = Graph(np.array([0, 1, 3, 4]), int32(1, 0, 2, 1), weights, first_id=1)
    down = np.array([4])
    both = Hierarchy(
        (0, 2, 3),
        int32(1, 2, 0),
        np.array([0, 0, 0, 1]),
        int32(0),
        down,
        down,
        np.array([0, 1, 2]),
        int32(1, 0),
        np.array([3, 3]),
    )
    return PreparedGraph(path, one_way), PreparedGraph(edges, both)


def _sparse_arrays() -> tuple[bytes, ...]:
    contents = []
    for form in ("csc", "coo"):
        file = io.BytesIO()
        matrix = sparse.coo_array(([1.5, 2, 0], ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
        sparse.save_npz(file, matrix.asformat(form))
        contents.append(file.getvalue())
    return tuple(contents)


def _others(folder: Path) -> dict[str, Format]:
    (text,) = _written(folder, ".gr", WHOLE)
    result = {
        "problem .ss": Format("in.ss", (b"c x\np aux sp ss 2\ns 1\ns 4\n",), "sources"),
        "problem .p2p": Format("in.p2p", (b"p aux sp p2p 1\nq 1 4\n",), "pairs"),
        "coordinates": Format(
            "in.co", (b"c x\np aux sp co 3\nv 1 -73530767 41085396\nv 3 1 2\nv 2 0 0\n",), "places"
        ),
        "table of vertices": Format(
            "in.csv",
            (b"id,x,y\n3,1,2\n1,-7,4.5\n2,0,1e3\n", b"lon;lat;node\n1;2;1\n1;2;2\n3;4;3\n"),
            "places in a table",
        ),
        "table of pairs": Format(
            "in.csv", (b"from,to,trips\n1,3,10\n2,1,5\n", b"1;3\n2;1\n"), "pairs in a table"
        ),
        "table of points": Format(
            "in.csv",
            (
                b"name,longitude,latitude\na,7.0,43.0\nb,8,44.5\n",
                b"from_x\tfrom_y\tto_x\tto_y\n1\t2\t3\t4\n",
            ),
            "points",
        ),
        "cached copy": Format("in.csr", (_copy(folder, text),), "cached", {"text.gr": text}),
    }
    for suffix in (".npz", ".npy", ".csv"):
        results = tuple(_saved(folder, suffix, graph) for graph in (WHOLE, SPREAD))
        result[f"result {suffix}"] = Format(f"in{suffix}", results, "result", {"graph.gr": text})
    return result


def _copy(folder: Path, text: bytes) -> bytes:
    """What is kept of a text that was written at `WRITTEN_NS`."""
    path, copies = folder / "text.gr", folder / "copies"
    path.write_bytes(text)
    os.utime(path, ns=(WRITTEN_NS, WRITTEN_NS))
    copies.mkdir(mode=0o700)
    read_graph(path, cache=copies)
    (copy,) = copies.iterdir()
    return copy.read_bytes()


def _saved(folder: Path, suffix: str, graph: Graph) -> bytes:
    result = sssp(graph, Positions(0), device="cpu")
    assert isinstance(result, Result)
    result.save(folder / f"result{suffix}")
    return (folder / f"result{suffix}").read_bytes()
