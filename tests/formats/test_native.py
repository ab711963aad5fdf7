"""The native format: what is written comes back mapped, and damage is noticed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groute_py.errors import FormatError
from groute_py.graph.arrays import WEIGHT_TYPES
from groute_py.graph.csr import Graph
from groute_py.io import array_file, file_head
from groute_py.io.cache import Copy
from groute_py.io.formats import native
from groute_py.system.atomic_file import replacing


@pytest.fixture
def graph():
    return Graph.from_arrays([0, 2, 3, 3], [1, 2, 2], [4, 9, 3], first_id=1, name="tünÿ\n")


def read_native(path):
    return native.graph_of(native.map_file(path))


def same(one, other):
    pairs = zip(
        (one.offsets, one.heads, one.weights),
        (other.offsets, other.heads, other.weights),
        strict=True,
    )
    return all(a.dtype == b.dtype and a.tolist() == b.tolist() for a, b in pairs)


@given(st.sampled_from(WEIGHT_TYPES), st.lists(st.integers(0, 6), max_size=30))
def test_round_trip(tmp_path_factory, weight_type, heads):
    path = tmp_path_factory.mktemp("there") / "graph.csr"
    offsets = [0, *[len(heads)] * 7]
    graph = Graph.from_arrays(offsets, heads, np.arange(len(heads)).astype(weight_type))
    native.write(graph, path)
    assert same(read_native(path), graph)


def test_arrays_are_mapped_and_aligned(tmp_path, graph):
    native.write(graph, tmp_path / "g.csr")
    back = read_native(tmp_path / "g.csr")
    assert (back.first_id, back.name) == (1, "tünÿ\n")
    for array in (back.offsets, back.heads, back.weights):
        assert array.flags.aligned
        assert not array.flags.owndata
        assert not array.flags.writeable
        assert array.ctypes.data % array_file.ALIGNMENT == 0


def test_source(tmp_path, graph):
    (tmp_path / "g.gr").touch()
    source = file_head.Source.of(tmp_path / "g.gr")
    Copy(tmp_path / "g.gr", tmp_path / "g.csr", native).write(graph)
    assert native.map_file(tmp_path / "g.csr").source == source


def test_every_truncation_is_noticed(tmp_path, graph):
    path = tmp_path / "g.csr"
    native.write(graph, path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError, match=r"g\.csr"):
            read_native(path)
    path.write_bytes(whole + b"more")
    with pytest.raises(FormatError, match="bytes where"):
        read_native(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"groute-py csr 1", b"groute-py csr 7", "another version"),
        (b"groute-py csr 1", b"another program", "does not start with its magic line"),
        (b'{"first', b'["first', "is no JSON"),
        (b'"name"', b'"mane"', "lacks fields"),
        (b"NUMPY\x01", b"NUMPY\x09", "unknown .npy version"),
        (np.array([2, 3], np.int64).tobytes(), np.array([4, 3], np.int64).tobytes(), "decrease"),
        (
            np.array([1, 2, 2], np.int32).tobytes(),
            np.array([1, 5, 2], np.int32).tobytes(),
            "vertex",
        ),
        (b"'<i4'", b"'<f4'", "heads must be int32 or int64"),
        (b"'<i8'", b"'|O8'", "type object|offsets"),
    ],
)
def test_damage(tmp_path, graph, old, new, message):
    path = tmp_path / "g.csr"
    native.write(graph, path)
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(FormatError, match=message):
        read_native(path)


def test_a_failed_write_leaves_the_old_file(tmp_path, graph):
    path = tmp_path / "g.csr"
    native.write(graph, path)
    before = path.read_bytes()
    with pytest.raises(TypeError), replacing(path) as file:
        file.writelines([b"half", None])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
