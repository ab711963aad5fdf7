"""TNTP, the networks of traffic assignment: ``_net``, ``_node`` and ``_trips`` files.

    <NUMBER OF NODES> 24                        ids from 1
    <FIRST THRU NODE> 1                         those below are zones, where paths only begin or end
    <NUMBER OF LINKS> 76
    <END OF METADATA>
    ~ init_node term_node capacity length free_flow_time b power speed toll link_type ;
      1 2 25900.2 6 6 0.15 4 0 0 1 ;

Lines behind a ``~`` are comments. All columns of a network are weights by name; those in use are
the times without traffic. A search passes through zones as through any vertex; the first other
vertex stands in the report of the reading, ``graph.reading.first_through``.

(Transportation Networks for Research, github.com/bstabler/TransportationNetworks.)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError
from groute_py.graph.builder import INT64
from groute_py.graph.csr import Graph
from groute_py.graph.read_report import Reading
from groute_py.io.compression import bare_name
from groute_py.io.file_head import Head
from groute_py.io.formats.edge_list.names import narrowed
from groute_py.io.text.arc_reader import DECIMAL, INTEGER
from groute_py.io.text.lines import Progress, shown, whole_lines
from groute_py.kernels.cpu.build import csr_from_arcs
from groute_py.system.memory_limits import check_room, check_vertex_count

TAG = re.compile(rb"\s*<([A-Za-z ]+)>\s*(.*?)\s*")
BEGINS = re.compile(rb"\s*(?:~[^\n]*\n\s*)*<(?:NUMBER|FIRST|TOTAL|END) O?[A-Z ]+>", re.I)
ENDS = ("init_node", "term_node")
WEIGHTS = (*("capacity", "length", "free_flow_time", "b", "power", "speed", "toll"), "link_type")
WEIGHT = "free_flow_time"
LINK_BYTES = 400  # of a link in memory, at least, while lines are read


class ZoneTrips(NamedTuple):
    """The trips between zones: ids of zones and flows, shape (k,)."""

    origins: NDArray[np.int64]
    destinations: NDArray[np.int64]
    flows: NDArray[np.float64]


def read(head: Head, progress: Progress | None = None) -> Graph:
    """Read a network."""
    path, lines = head.path, _Lines(head.path, progress)
    links: list[list[int | float]] = []
    vertices = lines.count("NUMBER OF NODES")
    for fields in lines.rows():
        if len(fields) != len(ENDS + WEIGHTS):
            lines.refuse(f"expected {' '.join(ENDS + WEIGHTS)}, got {len(fields)} fields")
        for end in fields[:2]:
            if not INTEGER.fullmatch(end) or not 1 <= int(end) <= vertices:
                lines.refuse(f"expected a vertex in 1..{vertices}, got {shown(end)}")
        links.append([lines.number(field) for field in fields])
        check_room(LINK_BYTES * len(links), f"{path}: more than {len(links):,} links")
    table = np.array(links, object).reshape(-1, len(ENDS + WEIGHTS))
    if len(table) != (promised := lines.count("NUMBER OF LINKS")):
        raise FormatError(path, f"promises {promised:,} links, but has {len(table):,}")
    check_vertex_count(path, vertices, path.stat().st_size)
    tails, heads = (table[:, end].astype(np.int64) - 1 for end in (0, 1))
    offsets, heads, places = csr_from_arcs(vertices, tails, heads, np.arange(len(table)))
    columns = {
        name: _column(path, table[places, len(ENDS) + place]) for place, name in enumerate(WEIGHTS)
    }
    name = bare_name(path).removesuffix(".tntp").removesuffix("_net")
    graph = Graph.from_arrays(offsets, heads, columns[WEIGHT], first_id=1, name=name)
    reading = Reading({}, lines.comments, lines.count("FIRST THRU NODE", 1))
    return replace(graph, columns=columns | {WEIGHT: graph.weights}, reading=reading)


def read_trips(path: Path) -> ZoneTrips:
    """Read a file of trips: ``Origin 1``, then ``2 : 100.0;`` and so on."""
    lines, origin = _Lines(path), 0
    rows: list[tuple[int, int, float]] = []
    for fields in lines.rows():
        line = b" ".join(fields)
        if (begins := re.fullmatch(rb"(?i)origin\s+(\d{1,18})", line)) is not None:
            origin = int(begins[1])
            continue
        for flow in filter(None, (part.strip() for part in line.split(b";"))):
            parts = re.fullmatch(rb"(\d{1,18})\s*:\s*(\S+)", flow)
            if parts is None or not origin:
                lines.refuse(f"expected `Origin ID` or `ID : FLOW;`, got {shown(flow)}")
            rows.append((origin, int(parts[1]), float(lines.number(parts[2]))))
        check_room(LINK_BYTES * len(rows), f"{path}: more than {len(rows):,} flows")
    origins, destinations, flows = zip(*rows, strict=True) if rows else ((), (), ())
    return ZoneTrips(
        np.array(origins, np.int64), np.array(destinations, np.int64), np.array(flows, np.float64)
    )


def read_nodes(path: Path, count: int) -> NDArray[np.float64]:
    """Read a file of nodes, ``NODE X Y ;`` below a line of titles: shape (count, 2)."""
    places, line = np.full((count, 2), np.nan), 0
    for text, _ in whole_lines(path):
        for row in text.split(b"\n")[:-1]:
            line += 1
            fields = row.replace(b";", b" ").split()
            if not fields or (line == 1 and not INTEGER.fullmatch(fields[0])):
                continue
            numbers = [float(some) if DECIMAL.fullmatch(some) else math.nan for some in fields]
            if not (len(numbers) == 3 and np.isfinite(numbers).all() and fields[0].isdigit()):
                raise FormatError(path, f"expected a node, x and y, got {shown(row)}", line=line)
            if not 1 <= numbers[0] <= count:
                raise FormatError(path, f"node {int(fields[0])} is not in 1..{count}", line=line)
            places[int(fields[0]) - 1] = numbers[1:]
    if (missing := np.isnan(places[:, 0])).any():
        raise FormatError(path, f"has no node {int(missing.argmax()) + 1}")
    return places


def _column(path: Path, values: NDArray[Any]) -> NDArray[Any]:
    """Numbers as int32, int64 or float64."""
    if any(isinstance(value, float) for value in values):
        return values.astype(np.float64)
    if any(abs(value) > INT64.max for value in values):
        raise FormatError(path, "a number does not fit in 64-bit integers")
    return narrowed(values.astype(np.int64))


class _Lines:
    """The lines of a file behind its tags; `line` is the number of the one at hand."""

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path, self.line, self.comments = path, 0, 0
        self._progress, self._tags = progress, dict[str, bytes]()
        self._lines = self._all()
        for line in self._lines:
            tag = TAG.fullmatch(line)
            if tag is None:
                self.refuse(f"expected a tag or <END OF METADATA>, got {shown(line)}")
            name = " ".join(tag[1].decode().upper().split())
            if name == "END OF METADATA":
                return
            self._tags[name] = tag[2]
        raise FormatError(path, "has no line <END OF METADATA>")

    def count(self, name: str, otherwise: int | None = None) -> int:
        """The number behind a tag."""
        value = self._tags.get(name, b"")
        if otherwise is not None and not value:
            return otherwise
        if not re.fullmatch(rb"\d{1,18}", value):
            raise FormatError(self.path, f"expected a number behind <{name}>, got {shown(value)}")
        return int(value)

    def rows(self) -> Iterator[list[bytes]]:
        """The fields of each further line, without the mark at its end."""
        for line in self._lines:
            if fields := line.rstrip().removesuffix(b";").split():
                yield fields

    def number(self, field: bytes) -> int | float:
        """The number that a field is."""
        number = float(field) if DECIMAL.fullmatch(field) else math.nan
        if not math.isfinite(number):
            self.refuse(f"expected a number, got {shown(field)}")
        return int(field) if INTEGER.fullmatch(field) else number

    def refuse(self, problem: str) -> NoReturn:
        """Say what is wrong with the line at hand."""
        raise FormatError(self.path, problem, line=self.line)

    def _all(self) -> Iterator[bytes]:
        """Lines that are neither blank nor comments."""
        total = self.path.stat().st_size
        for text, done in whole_lines(self.path):
            for line in text.split(b"\n")[:-1]:
                self.line += 1
                if line.lstrip().startswith(b"~"):
                    self.comments += 1
                elif line.strip():
                    yield line
            if self._progress:
                self._progress(done, total)
