"""Small files that ask for gigabytes: refused with the numbers before memory is taken."""

from __future__ import annotations

import bz2
import gzip
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.arrays_in_files import header, npy

from groute_py import FormatError, read_graph

pytestmark = pytest.mark.slow

LIMIT = 600 << 20
"""Bytes of addresses that a command may take beyond what is there once all is imported."""

MEGABYTE = 1 << 20


def archive(
    path: Path, members: dict[str, bytes], zeros: str = "", how: int = zipfile.ZIP_DEFLATED
) -> None:
    """An .npz, of which one member goes on with 0.8 GB of zeros."""
    with zipfile.ZipFile(path, "w", how, compresslevel=1) as packed:
        for name, content in members.items():
            with packed.open(name, "w", force_zip64=True) as member:
                member.write(content)
                for _ in range(12 if name == zeros else 0):
                    member.write(bytes(64 * MEGABYTE))


SPARSE = {
    "format.npy": npy(b"csr"),
    "shape.npy": npy([2, 2]),
    "indptr.npy": npy([0, 1, 1]),
    "indices.npy": npy(np.int32([1])),
    "data.npy": npy([3]),
}


def member_that_is_needed(path: Path) -> None:
    archive(path, SPARSE | {"data.npy": header(f"({3 * 2**25},)")}, zeros="data.npy")


def ids_of_nobody(path: Path) -> None:
    archive(path, SPARSE | {"ids.npy": header(f"({3 * 2**25},)")}, zeros="ids.npy")


def a_long_format(path: Path) -> None:
    content = header("()", f"|S{3 * 2**28}")
    archive(path, SPARSE | {"format.npy": content}, zeros="format.npy")


def zeros_of_offsets(path: Path) -> None:
    zstd = pytest.importorskip("backports.zstd")
    with zstd.ZstdFile(path, "wb") as file:
        file.write(b"\0" + struct.pack("<qq", 0, 3 * 2**25))
        for _ in range(13):
            file.write(bytes(64 * MEGABYTE))


def member_that_says_less(path: Path) -> None:
    """The archive says that it has few bytes, and it unpacks to gigabytes."""
    member_that_is_needed(path)
    say_less(path)


def bzip2_that_says_less(path: Path) -> None:
    """The first kilobytes of it unpack to all there is."""
    content = SPARSE | {"data.npy": header(f"({3 * 2**25},)")}
    archive(path, content, zeros="data.npy", how=zipfile.ZIP_BZIP2)
    say_less(path)


def say_less(path: Path) -> None:
    content = path.read_bytes()
    with zipfile.ZipFile(path) as packed:
        size = packed.getinfo("data.npy").file_size
    place = content.rindex(struct.pack("<I", size))  # in the directory of the archive
    path.write_bytes(content[:place] + struct.pack("<I", 128 + 8) + content[place + 4 :])


def zeros_behind_a_graph(path: Path) -> None:
    zeros = bz2.compress(bytes(256 * MEGABYTE), 9)
    path.write_bytes(bz2.compress(b"\0" + struct.pack("<qqq", 0, 0, 0)) + zeros * 4)


def many_arcs(path: Path) -> None:
    """A header that promises what a stream of zeros then brings."""
    with gzip.open(path, "wb", 1) as file:
        file.write(b"\0" + struct.pack("<qqq", 3 * 2**26, 1, 0) + struct.pack("<q", 3 * 2**26))
        file.write(bytes(128 * MEGABYTE))


def galois_vertices(path: Path) -> None:
    with gzip.open(path, "wb", 1) as file:
        file.write(struct.pack("<qqqq", 1, 4, 3 * 2**25, 0))
        file.write(bytes(128 * MEGABYTE))


def promise(path: Path) -> None:
    arrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"tail": [0, 1, 2], "head": [1, 2, 0], "weight": [1, 2, 3]})
    pq.write_table(table.replace_schema_metadata({b"groute-py": b'{"span":[0,1000000000]}'}), path)


def text(content: bytes, more: bytes = b"", times: int = 0) -> Callable[[Path], None]:
    """Text whose end repeats, compressed."""

    def write(path: Path) -> None:
        with gzip.open(path, "wb", 1) as file:
            file.write(content)
            for _ in range(times):
                file.write(more)

    return write


BOMBS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "bzip2 of zeros": ("a.sg.bz2", zeros_behind_a_graph, "do not take"),
    "GAPBS arcs": ("a.sg.gz", many_arcs, "promises 805,306,368 bytes of neighbors"),
    "Galois vertices": ("a.galois.gz", galois_vertices, "promises 805,306,368 bytes of ends"),
    "Parquet span": ("a.parquet", promise, "promises 1,000,000,000 vertices, but has only"),
    "needed member": ("a.npz", member_that_is_needed, "indices are of shape (1,), not (1006"),
    "ids": ("a.npz", ids_of_nobody, "its ids are of shape (100663296,), not (2,)"),
    "long format": ("a.npz", a_long_format, "its format is of shape () and type |S805306368"),
    "zeros by zstd": ("a.sg.zst", zeros_of_offsets, "promises 805,306,376 bytes of offsets"),
    "lying member": ("a.npz", member_that_says_less, "damaged .npz"),
    "lying bzip2 member": ("a.npz", bzip2_that_says_less, "compressed as NumPy does not write it"),
    "vertices in METIS": (
        "a.graph.gz",
        text(b"90000000 0\n", b"\n" * MEGABYTE, 86),
        "90,000,000 vertices would take 720,000,008 bytes",
    ),
    "vertices in DIMACS": (
        "a.gr.gz",
        text(b"p sp 90000000 1\na 1 2 3\n", b"c" * 999_999 + b"\n", 91),
        "90,000,000 vertices would take 720,000,008 bytes",
    ),
}

CODE = """
import resource, sys
import groute_py.comm.connect, groute_py.graph.facts, groute_py.jobs.tree
import groute_py.results.verification
from groute_py.cli.main import main
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
main()
"""


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CODE, str(LIMIT), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("name", BOMBS)
def test_it_is_refused(tmp_path: Path, name: str) -> None:
    file, write, says = BOMBS[name]
    write(tmp_path / file)
    assert (tmp_path / file).stat().st_size < 12 * MEGABYTE
    done = run("info", tmp_path / file, "--no-cache")
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert str(tmp_path / file) in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_member_that_nobody_needs_is_not_read(tmp_path: Path) -> None:
    content = SPARSE | {"extra.npy": header(f"({3 * 2**25},)")}
    archive(tmp_path / "a.npz", content, zeros="extra.npy")
    done = run("info", tmp_path / "a.npz", "--json")
    assert done.returncode == 0, done.stderr
    assert '"arcs": 1' in done.stdout


def test_members_that_numpy_does_not_write(tmp_path: Path) -> None:
    archive(tmp_path / "a.npz", SPARSE, how=zipfile.ZIP_BZIP2)
    with pytest.raises(FormatError, match=r"a\.npz: .*compressed as NumPy does not write it"):
        read_graph(tmp_path / "a.npz")


@pytest.mark.parametrize("needed", [False, True])
def test_a_result(tmp_path: Path, *, needed: bool) -> None:
    members = {"distances.npy": npy(np.arange(4)), "source.npy": npy(0)}
    big = "predecessors.npy" if needed else "extra.npy"
    archive(tmp_path / "r.npz", members | {big: header(f"({3 * 2**25},)")}, zeros=big)
    done = run("verify", "road:2x2", tmp_path / "r.npz")
    assert done.stderr.count("\n") == 1
    if needed:
        assert done.returncode == 2
        assert "arrays would take 805,30" in done.stderr
    else:
        assert done.returncode == 3  # it is read, and is no answer


def test_coordinates_stop_behind_the_last_vertex(tmp_path: Path) -> None:
    text(b"p aux sp co 4\n", b"v 1 2 3\n" * MEGABYTE, 8)(tmp_path / "a.co.gz")
    done = run("sssp", "road:2x2", "--order", "hilbert", "--coordinates", tmp_path / "a.co.gz")
    assert done.returncode == 2, done.stderr
    assert "expected one line for each vertex 1..4, found" in done.stderr


def test_sources_that_go_on(tmp_path: Path) -> None:
    text(b"p aux sp ss 900000000\n", b"s 1\n" * MEGABYTE, 2)(tmp_path / "a.ss.gz")
    done = run("apsp", "road:2x2", "--sources", tmp_path / "a.ss.gz")
    assert done.returncode == 2, done.stderr
    assert "promises 900,000,000 lines `s`, but has 2,097,152" in done.stderr
