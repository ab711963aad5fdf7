"""Files that lie in a few bytes: one error that names the file, never a traceback or an answer."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arrays_in_files import header, npy
from support.one_error import Bad, check
from support.processes import Job

from groute_py import FormatError, Graph, InputError, read_graph, write_graph
from groute_py.io.formats import native
from groute_py.results.result import read_result
from groute_py.source.graph_source import GraphSource


def csr(fields: bytes | dict[str, Any], ids: Any = None, offsets: bytes | None = None) -> bytes:
    """A native graph of two vertices and an arc."""
    if isinstance(fields, dict):
        known = {"first_id": 0, "name": "g", "source": None, "ids": ids is not None}
        fields = json.dumps(known | fields).encode()
    content = native.KIND.magic + fields
    content += b" " * (-(len(content) + 1) % 64) + b"\n"
    arrays = [offsets or npy([0, 1, 1]), npy(np.int32([1])), npy(np.int32([5]))]
    for array in [*arrays, *([] if ids is None else [npy(ids)])]:
        content += array + bytes(-len(array) % 64)
    return content


def names(*codes: int) -> Any:
    return np.array(codes, np.uint32).view("<U1")


NATIVE = {
    "first_id 2^63-1": (csr({"first_id": 2**63 - 1}), "first_id must be in"),
    "first_id -2^63-1": (csr({"first_id": -(2**63) - 1}), "first_id must be in"),
    "first_id 10^30": (csr({"first_id": 10**30}), "first_id must be in"),
    "first_id 1.9": (csr({"first_id": 1.9}), "first_id must be an integer, not 1.9"),
    "first_id infinite": (csr({"first_id": float("inf")}), "Infinity is no number in JSON"),
    "first_id text": (csr({"first_id": "12"}), "first_id must be an integer, not '12'"),
    "first_id true": (csr({"first_id": True}), "first_id must be an integer, not True"),
    "first_id null": (csr({"first_id": None}), "first_id must be an integer, not None"),
    "first_id list": (csr({"first_id": [1]}), "first_id must be an integer"),
    "name a number": (csr({"name": 7}), "its name is int, not text"),
    "name half a character": (csr({"name": "\ud800"}), "surrogates not allowed"),
    "source a number": (csr({"source": 5}), "its source lacks fields"),
    "source lacks": (csr({"source": {"size": 5}}), "its source lacks fields"),
    "source true": (csr({"source": {"size": True, "mtime_ns": 1}}), "size must be an integer"),
    "deep": (csr(b"[" * 60_000), "nested too deep"),
    "deep objects": (csr(b'{"a":' * 12_000), "is no JSON"),
    "no UTF-8": (csr(b'{"first_id": "\xff"}'), "is no JSON"),
    "repeated ids": (csr({}, ids=[7, 7]), "two vertices have the same id, 7"),
    "repeated names": (csr({}, ids=["a", "a"]), "two vertices have the same id, a"),
    "half a character": (csr({}, ids=names(0x61, 0xDC00)), "the name of vertex 1"),
    "beyond Unicode": (csr({}, ids=names(0x110000, 0x61)), "the name of vertex 0"),
    "names reversed": (csr({}, ids=np.array(["a", "b"], ">U1")), "another byte order"),
    "negative shape": (csr({}, offsets=header("(-3,)") + bytes(24)), "length of the offsets"),
    "huge shape": (csr({}, offsets=header(f"({10**30},)") + bytes(24)), "length of the offsets"),
    "shape true": (csr({}, offsets=header("(True,)") + bytes(24)), "length of the offsets"),
}


@pytest.mark.parametrize("name", NATIVE)
def test_native(tmp_path: Path, name: str) -> None:
    content, says = NATIVE[name]
    path = tmp_path / "bad.csr"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_graph(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)


def test_the_native_graph_is_right_without_damage(tmp_path: Path) -> None:
    for content in (csr({}), csr({}, ids=["b", "a"]), csr({"first_id": 2**63 - 2})):
        (tmp_path / "good.csr").write_bytes(content)
        assert read_graph(tmp_path / "good.csr").arc_count == 1


@pytest.mark.parametrize("name", ["first_id 2^63-1", "repeated names", "beyond Unicode", "deep"])
def test_native_on_ranks(tmp_path: Path, name: str) -> None:
    from support.local_ranks import on_ranks

    content, says = NATIVE[name]
    (tmp_path / "bad.csr").write_bytes(content)
    with pytest.raises(FormatError, match=says.replace("^", r"\^")):
        on_ranks(
            2, lambda channel: GraphSource(tmp_path / "bad.csr").supply(channel).facts(channel)
        )


SPARSE: dict[str, bytes] = {
    "format": npy(b"csr"),
    "shape": npy([2, 2]),
    "indptr": npy([0, 1, 1]),
    "indices": npy(np.int32([1])),
    "data": npy([3]),
}


def write(path: Path, members: dict[str, bytes], bare: str = "") -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name if name == bare else f"{name}.npy", content)


NPZ: dict[str, tuple[dict[str, bytes], str]] = {
    "infinite shape": ({"shape": npy([np.inf, np.inf])}, "its shape must be an integer, not"),
    "shape NaN": ({"shape": npy([np.nan, 2])}, "its shape must be an integer, not"),
    "fractional shape": ({"shape": npy([2.5, 2.5])}, "its shape must be an integer"),
    "negative shape": ({"shape": npy([-2, -2])}, "its shape must be in 0"),
    "shape of one": ({"shape": npy(2)}, "iteration over a 0-d array"),
    "shape of three": ({"shape": npy([2, 2, 2])}, "too many values"),
    "infinite first_id": ({"first_id": npy(np.inf)}, "first_id must be an integer"),
    "first_id NaN": ({"first_id": npy(np.nan)}, "first_id must be an integer"),
    "fractional first_id": ({"first_id": npy(1.5)}, "first_id must be an integer"),
    "first_id true": ({"first_id": npy(True)}, "first_id must be an integer"),
    "large first_id": ({"first_id": npy(2**63 - 1)}, "first_id must be in"),
    "many first_ids": ({"first_id": npy([1, 2])}, "first_id must be an integer"),
    "repeated ids": ({"ids": npy([4, 4])}, "two vertices have the same id, 4"),
    "half a character": ({"ids": npy(names(0x61, 0xD800))}, "the name of vertex 1"),
    "no array": ({"data": b"rubbish"}, "damaged .npz"),
    "empty": ({"data": b""}, "damaged .npz"),
    "objects": ({"data": header("(1,)", "|O")}, "has type object"),
    "a negative length": ({"data": header("(-1,)") + bytes(8)}, "the shape of data.npy"),
    "too short": ({"data": header("(2,)") + bytes(8)}, "promises 16 bytes"),
    "too long": ({"data": header("(1,)") + bytes(16)}, "promises 8 bytes"),
    "deep header": ({"data": header("(" * 50 + "1,)")}, "damaged .npz"),
    "two formats": ({"format": npy([b"csr", b"csr"])}, "damaged sparse array"),
}


@pytest.mark.parametrize("name", NPZ)
def test_sparse_arrays(tmp_path: Path, name: str) -> None:
    members, says = NPZ[name]
    write(tmp_path / "bad.npz", SPARSE | members)
    with pytest.raises(FormatError) as caught:
        read_graph(tmp_path / "bad.npz")
    assert says in str(caught.value)
    assert "bad.npz" in str(caught.value)


@pytest.mark.parametrize("bare", SPARSE)
def test_a_member_without_npy(tmp_path: Path, bare: str) -> None:
    members = {name: SPARSE[name] for name in sorted(SPARSE, key=lambda name: name == bare)}
    write(tmp_path / "bad.npz", members, bare)
    with pytest.raises(FormatError, match=f"member {bare} is not stored as {bare}.npy"):
        read_graph(tmp_path / "bad.npz")


RESULT = {"distances": npy(np.arange(4)), "source": npy(0)}
RESULTS: dict[str, tuple[dict[str, bytes], str]] = {
    "infinite source": ({"source": npy(np.inf)}, "other shapes or types"),
    "source beyond": ({"source": npy(4)}, "source 4 is none of 4"),
    "infinite first_id": ({"first_id": npy(np.inf)}, "first_id must be an integer"),
    "large first_id": ({"first_id": npy(np.uint64(2**64 - 1))}, "first_id must be in"),
    "wrapping first_id": ({"first_id": npy(2**63 - 2)}, "first_id must be in"),
    "repeated ids": ({"ids": npy([1, 2, 3, 3])}, "two vertices have the same id, 3"),
    "half a character": ({"ids": npy(names(0x61, 0x62, 0x63, 0xD800))}, "the name of vertex 3"),
    "a negative length": ({"distances": header("(-4,)")}, "the shape of distances.npy"),
    "no array": ({"distances": b"rubbish"}, "not a saved result"),
    "short predecessors": ({"predecessors": npy([1])}, "other shapes or types"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results(tmp_path: Path, name: str) -> None:
    members, says = RESULTS[name]
    write(tmp_path / "bad.npz", RESULT | members)
    with pytest.raises(InputError, match=says) as caught:
        read_result(tmp_path / "bad.npz")
    assert "bad.npz" in str(caught.value)


@pytest.mark.parametrize("bare", ["source", "distances"])
def test_a_result_with_a_member_without_npy(tmp_path: Path, bare: str) -> None:
    write(tmp_path / "bad.npz", RESULT, bare)
    with pytest.raises(InputError, match=f"member {bare} is not stored as {bare}.npy"):
        read_result(tmp_path / "bad.npz")


def bit_of_central_directory(content: bytes, place: int, value: bytes) -> bytes:
    start = content.rindex(b"PK\1\2") + place
    return content[:start] + value + content[start + len(value) :]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-30],
        lambda content: bit_of_central_directory(content, 8, b"\1\0"),  # a password
        lambda content: bit_of_central_directory(content, 10, b"\x63\0"),  # another compression
        lambda content: bit_of_central_directory(content, 16, b"\0\0\0\0"),  # another CRC
        lambda content: bit_of_central_directory(content, 42, b"\xff\xff\xff\x7f"),  # elsewhere
    ],
)
def test_archives(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    write(tmp_path / "bad.npz", SPARSE)
    (tmp_path / "bad.npz").write_bytes(change((tmp_path / "bad.npz").read_bytes()))
    with pytest.raises(FormatError, match=r"bad.npz: damaged \.npz"):
        read_graph(tmp_path / "bad.npz")
    write(tmp_path / "bad.npz", RESULT)
    (tmp_path / "bad.npz").write_bytes(change((tmp_path / "bad.npz").read_bytes()))
    with pytest.raises(InputError, match=r"bad.npz: not a saved result"):
        read_result(tmp_path / "bad.npz")


@pytest.mark.parametrize(
    "lonely", ['["\\ud800"]', "[" * 60_000, "[1e400]", '{"span":[1.5,3]}', '{"span":[true,3]}']
)
def test_metadata_of_parquet(tmp_path: Path, lonely: str) -> None:
    arrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    ends = ["a", "b"] if "ud800" in lonely else [1, 2]
    table = arrow.table({"tail": ends, "head": ends[::-1], "weight": [1, 2]})
    text = lonely if lonely.startswith("{") else f'{{"lonely":{lonely}}}'
    table = table.replace_schema_metadata({b"groute-py": text.encode()})
    pq.write_table(table, tmp_path / "p.parquet")
    with pytest.raises(FormatError, match=r"p.parquet: damaged Parquet"):
        read_graph(tmp_path / "p.parquet")


@pytest.mark.parametrize("command", ["info", "sssp", "verify"])
def test_the_commands(tmp_path: Path, groute: Job, command: str) -> None:
    bad = tmp_path / "bad.csr"
    bad.write_bytes(NATIVE["deep"][0])
    write(tmp_path / "r.npz", RESULT | {"first_id": npy(np.inf)})
    words = ["verify", "road:2x2", tmp_path / "r.npz"] if command == "verify" else [command, bad]
    done = groute(*words)
    says = "first_id must be an integer" if command == "verify" else "nested too deep"
    check(Bad("", 2, says), done.returncode, done.stdout, done.stderr)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """The strict readers take every graph that the writers make."""
    ids = np.array(["ü", "東京", "\U0001f6b2"])
    arrays: Any = (np.array([0, 1, 1, 1]), np.array([2], np.int32), np.array([5], np.int32))
    for suffix in (".csr", ".npz", ".parquet"):
        if suffix == ".parquet":
            pytest.importorskip("pyarrow")
        write_graph(Graph(*arrays, ids=ids), tmp_path / f"g{suffix}")
        result = read_graph(tmp_path / f"g{suffix}").ids
        assert result is not None
        assert sorted(result.tolist()) == sorted(ids.tolist())
