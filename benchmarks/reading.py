"""Measure how fast a file becomes a graph, and how much memory that takes.

``reading`` reads New York's ``.gr.gz`` in turn with ``gzip -dc FILE > /dev/null``, and a generated
graph of a few million arcs in the formats of `SUFFIXES`. ``reading:SPEC`` reads another generated
graph, such as ``reading:road:4900x4900``, which is as large as the roads of the USA.

The clock starts when everything is compiled and the file is in the page cache. No cached copy is
used. Each graph is compared with the file's content. The memory peak is that of a fresh process,
less what it had before it read the file.
"""

from __future__ import annotations

import gzip
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import NY_FILE, READING, SkippedError, data_file
from groute_py import Graph, VerificationError, generate, read_graph, write_graph

REPEAT = 7
GENERATED = "road:1000x1000"
SUFFIXES = (".gr", ".mtx", ".csv", ".parquet", ".galois")
PEAK = """
import pathlib, sys
from groute_py import read_graph
read_graph(sys.argv[1], cache=False)
def highest():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024
pathlib.Path("/proc/self/clear_refs").write_text("5")
before = highest()
graph = read_graph(sys.argv[2], cache=False)
print(highest() - before)
"""
"""The program whose memory is measured; writing 5 resets the peak, see proc(5)."""

Record = dict[str, Any]


def measure_reading(spec: str) -> list[Record]:
    """Measure reading on one rank.

    Args:
        spec: the generated graph; if empty, New York and `GENERATED` are read.
    """
    if spec:
        return _generated(spec, f"{READING}:{spec}")
    try:
        compressed = _compressed(data_file(NY_FILE))
    except SkippedError as reason:
        compressed = {"case": READING, "ranks": 1, "skipped": str(reason)}
    return [compressed, *_generated(GENERATED, READING)]


def _compressed(path: Path) -> Record:
    program = shutil.which("gzip")
    if program is None:
        raise SkippedError("no gzip program to compare with")
    text = gzip.decompress(path.read_bytes())
    expected = _simply_parsed(text)
    _check(read_graph(path, cache=False), expected)
    reads, gzips = [], []
    for _ in range(REPEAT):
        reads.append(_timed_read(path, expected))
        gzips.append(_timed_gzip([program, "-dc", str(path)]))
    record = _record("NY.gr.gz", path, len(text), expected, reads)
    record["medians"]["gzip"] = statistics.median(gzips)
    return record | {"gzip_s": gzips}


def _generated(spec: str, case: str) -> list[Record]:
    expected, records = generate(spec), []
    with tempfile.TemporaryDirectory() as folder:
        for suffix in SUFFIXES:
            path = Path(folder) / f"generated{suffix}"
            write_graph(expected, path)
            _check(read_graph(path, cache=False), expected)
            reads = [_timed_read(path, expected) for _ in range(REPEAT)]
            record = _record(spec + suffix, path, path.stat().st_size, expected, reads)
            records.append(record | {"case": case})
            path.unlink()
    return records


def _record(file: str, path: Path, text: int, graph: Graph, reads: list[float]) -> Record:
    return {
        "case": READING,
        "ranks": 1,
        "file": file,
        "file_bytes": path.stat().st_size,
        "peak_by_graph": _peak_bytes(path) / graph.nbytes,
        "text_bytes": text,
        "arcs": graph.arc_count,
        "read_s": reads,
        "verified": "every arc",
        "medians": {"read": statistics.median(reads)},
    }


def _peak_bytes(path: Path) -> int:
    """The peak memory of a fresh process that reads a file, less what it had before."""
    with tempfile.NamedTemporaryFile(suffix="".join(path.suffixes)) as tiny:
        write_graph(generate("road:2x2"), tiny.name)
        words = [sys.executable, "-c", PEAK, tiny.name, str(path)]
        return int(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)


def _timed_read(path: Path, expected: Graph) -> float:
    start = time.perf_counter()
    graph = read_graph(path, cache=False)
    seconds = time.perf_counter() - start
    _check(graph, expected)
    return seconds


def _timed_gzip(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def _simply_parsed(text: bytes) -> Graph:
    """The graph as a slow, simple parser reads it, with rows in the order of the file."""
    lines = text.splitlines()
    count = next(int(line.split()[2]) for line in lines if line.startswith(b"p"))
    arcs = np.array([line.split()[1:] for line in lines if line.startswith(b"a")], dtype=np.int64)
    arcs = arcs[np.argsort(arcs[:, 0], kind="stable")]
    offsets = np.searchsorted(arcs[:, 0], np.arange(1, count + 2))
    return Graph.from_arrays(offsets, arcs[:, 1] - 1, arcs[:, 2])


def _check(graph: Graph, expected: Graph) -> None:
    """Require equal graphs; the order of arcs within a row may differ."""
    if not np.array_equal(graph.offsets, expected.offsets):
        raise VerificationError(f"{READING}: WRONG ANSWER: the rows read are not those of the file")
    for ours, theirs in zip(_sorted_arcs(graph), _sorted_arcs(expected), strict=True):
        if not np.array_equal(ours, theirs):
            raise VerificationError(f"{READING}: WRONG ANSWER: the arcs are not those of the file")


def _sorted_arcs(graph: Graph) -> tuple[Any, Any]:
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    order = np.lexsort((graph.weights, graph.heads, tails))
    return graph.heads[order], graph.weights[order]
