"""Choosing the format by content, writing by suffix, and the cache of large text files."""

import gzip
import os
from dataclasses import replace

import pytest

from groute_py import prepare
from groute_py.errors import (
    FormatError,
    InputError,
    InterruptedRun,
    TimeLimitError,
    signalled,
)
from groute_py.graph import csr
from groute_py.graph.csr import Graph
from groute_py.io import cache, cache_folder, file_head
from groute_py.io.formats import dimacs, native, prepared
from groute_py.io.graph_file import GraphFile, read_graph
from groute_py.io.registry import FORMATS, write_graph
from groute_py.io.text.lines import lines_within

TEXT = b"c text\np sp 2 2\na 2 1 5\na 1 2 3\n"
OTHER = TEXT.replace(b"5", b"6")


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "there" / "graph.gr"
    path.parent.mkdir()
    path.write_bytes(TEXT)
    return path


@pytest.fixture
def counted(monkeypatch):
    """How often text was read."""
    reads = []

    def read(head, progress=None):
        reads.append(head.path)
        return dimacs.read(head, progress)

    monkeypatch.setitem(FORMATS, "DIMACS text", FORMATS["DIMACS text"]._replace(read=read))
    return reads


@pytest.mark.parametrize("content", [TEXT, gzip.compress(TEXT), b"\n\n" + TEXT])
@pytest.mark.parametrize("name", ["graph.gr", "graph.csr", "graph.gz", "graph"])
def test_the_name_says_nothing(tmp_path, content, name):
    (tmp_path / name).write_bytes(content)
    graph = read_graph(tmp_path / name)
    assert graph.weights.tolist() == [3, 5]
    assert read_graph(str(tmp_path / name)).arc_count == 2


@pytest.mark.parametrize("suffix", [s for form in FORMATS.values() for s in form.suffixes])
def test_written_by_suffix(tmp_path, suffix):
    weights = [1, 1] if suffix in (".sg", ".el") else [3, 3]
    graph = Graph.from_arrays([0, 1, 2], [1, 0], weights, first_id=1)
    if suffix == prepared.SUFFIX:
        graph = prepare(graph, device="cpu")
    write_graph(graph, tmp_path / f"x{suffix}")
    assert read_graph(tmp_path / f"x{suffix}").weights.tolist() == weights


def test_native_by_content(tmp_path, text_file):
    native.write(read_graph(text_file), tmp_path / "x.gr")
    assert read_graph(tmp_path / "x.gr").weights.tolist() == [3, 5]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (gzip.compress(b""), "is empty once decompressed"),
        (b"hello\n", "known formats are native CSR, Matrix Market"),
        (b"\x00\x01\x02", "is not a graph file"),
        (gzip.compress(native.KIND.magic), "native CSR within gzip"),
        (b"\xfd7zXZ\0rest", "truncated: the xz data"),
        (gzip.compress(TEXT)[:11], "truncated"),
        (b"\x1f\x8b rubbish", "damaged gzip data"),
        (native.KIND.magic + b"{}\n", "lacks fields"),
    ],
)
def test_content_that_is_refused(tmp_path, content, message):
    (tmp_path / "x.gr").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_graph(tmp_path / "x.gr")


def test_no_file_a_folder_a_fifo(tmp_path):
    with pytest.raises(FormatError, match="no such file"):
        read_graph(tmp_path / "none.gr")
    with pytest.raises(FormatError, match="is a folder"):
        read_graph(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(FormatError, match="not a regular file"):
        read_graph(tmp_path / "fifo")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(text_file):
    text_file.chmod(0)
    with pytest.raises(FormatError, match="cannot be read: Permission denied"):
        read_graph(text_file)


def test_no_permission_as_told_by_the_system(text_file, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(file_head, "open", refuse, raising=False)
    with pytest.raises(FormatError, match="cannot be read: Permission denied"):
        read_graph(text_file)


def test_writing_where_it_cannot_be(tmp_path, text_file):
    graph = read_graph(text_file)
    with pytest.raises(InputError, match=r"written as \.csr, \.mtx"):
        write_graph(graph, tmp_path / "x.json")
    with pytest.raises(InputError, match="cannot be written: No such file"):
        write_graph(graph, tmp_path / "nowhere" / "x.gr")


def test_progress_reaches_the_end(text_file):
    seen = []
    read_graph(text_file, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(len(TEXT), len(TEXT))]


def test_the_second_read_is_cached(tmp_path, text_file, counted):
    first = read_graph(text_file, cache=tmp_path / "kept")
    second = read_graph(text_file, cache=tmp_path / "kept")
    assert len(counted) == 1
    assert second.weights.tolist() == first.weights.tolist()
    assert (second.name, second.first_id) == ("graph", 1)
    assert list((tmp_path / "kept").iterdir()) == [tmp_path / "kept" / cache.copy_name(text_file)]


@pytest.mark.parametrize("error", [InterruptedRun, TimeLimitError])
def test_a_signal_while_a_copy_is_checked_is_no_damage(tmp_path, text_file, monkeypatch, error):
    def interrupted(*_):
        raise signalled(error("nothing was written"))

    read_graph(text_file, cache=tmp_path / "kept")
    (copy,) = (tmp_path / "kept").iterdir()
    monkeypatch.setattr(csr, "check_arcs", interrupted)
    for path in (text_file, copy):
        with pytest.raises(error, match="nothing was written"):
            read_graph(path, cache=tmp_path / "kept")


def test_true_uses_the_cache_folder_and_false_nothing(tmp_path, text_file, counted, monkeypatch):
    own = replace(cache_folder.settings(), cache_folder=tmp_path / "base")
    monkeypatch.setattr(cache_folder, "settings", lambda: own)
    read_graph(text_file, cache=True)
    assert len(list((tmp_path / "base" / "graphs").iterdir())) == 1
    read_graph(text_file, cache=True)
    assert len(counted) == 1
    read_graph(text_file, cache=False)
    assert len(counted) == 2


def test_only_large_files_are_cached_unasked(tmp_path, text_file, counted, monkeypatch):
    own = replace(cache_folder.settings(), cache_folder=tmp_path / "base")
    monkeypatch.setattr(cache_folder, "settings", lambda: own)
    read_graph(text_file)
    assert not (tmp_path / "base").exists()
    monkeypatch.setattr(cache, "LARGE_PLAIN", len(TEXT))
    read_graph(text_file)
    read_graph(text_file)
    assert len(counted) == 2


@pytest.mark.parametrize("kept_time", [False, True])
def test_a_stale_copy_is_replaced(tmp_path, text_file, counted, kept_time):
    read_graph(text_file, cache=tmp_path)
    times = text_file.stat().st_atime_ns, text_file.stat().st_mtime_ns
    text_file.write_bytes(OTHER + b"\n" if kept_time else OTHER)
    os.utime(text_file, ns=times if kept_time else (times[0], times[1] + 1))
    for _ in range(2):
        assert read_graph(text_file, cache=tmp_path).weights.tolist() == [3, 6]
    assert len(counted) == 2


@pytest.mark.parametrize("damage", [b"", b"rubbish", native.KIND.magic + b"{}\n"])
def test_a_damaged_copy_is_replaced(tmp_path, text_file, counted, damage):
    (tmp_path / cache.copy_name(text_file)).write_bytes(damage)
    for _ in range(2):
        assert read_graph(text_file, cache=tmp_path).weights.tolist() == [3, 5]
    assert len(counted) == 1


def test_a_folder_that_cannot_be_written(text_file):
    graph = read_graph(text_file, cache=text_file / "below a file")
    assert graph.weights.tolist() == [3, 5]


def test_a_native_file_is_not_copied(tmp_path, text_file):
    native.write(read_graph(text_file), tmp_path / "x.csr")
    read_graph(tmp_path / "x.csr", cache=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("cache", [False, True])
@pytest.mark.parametrize("change", [b"a 1 2 3\n", None])
def test_a_file_that_changes_while_it_is_read(tmp_path, text_file, monkeypatch, cache, change):
    """What was read of it is no graph that anybody has written."""
    form = FORMATS["DIMACS text"]

    def read(head, progress):
        graph = form.read(head, progress)
        with open(head.path, "ab") as file:
            file.write(change) if change else file.truncate(9)
        return graph

    monkeypatch.setitem(FORMATS, "DIMACS text", form._replace(read=read))
    folder = tmp_path / "cache" if cache else False
    with pytest.raises(FormatError, match="was changed while it was read; try again"):
        read_graph(text_file, cache=folder)
    assert not cache or not list(folder.glob("*.csr"))


def test_a_piece_of_a_file_that_has_become_shorter(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("1 2 3\n" * 100)
    assert GraphFile(path).read_piece(range(600)) is not None
    assert GraphFile(path).read_piece(range(700)) is None
    with pytest.raises(FormatError, match="ends at byte 600, before 700"):
        lines_within(path, range(700))


def test_a_file_that_only_seems_to_change(text_file, monkeypatch):
    """As one that was touched: it is read once more. Or one that is removed behind its reader."""
    form, reads = FORMATS["DIMACS text"], []

    def read(head, progress):
        graph = form.read(head, progress)
        reads.append(head.path)
        if len(reads) == 1:
            os.utime(head.path, (1, 1))
        if len(reads) == 3:
            head.path.unlink()
        return graph

    monkeypatch.setitem(FORMATS, "DIMACS text", form._replace(read=read))
    for times in (2, 3):
        assert read_graph(text_file, cache=False).arc_count == 2
        assert len(reads) == times


@pytest.mark.parametrize(
    ("name", "text"), {"g.gr": "p sp 3 1\na 1 2 3\n", "g.graph": "2 1\n2\n1\n"}.items()
)
@pytest.mark.parametrize("step", ["read", "_read_steady", "folder_of"])
def test_a_file_that_is_removed_before_it_is_read(tmp_path, monkeypatch, name, text, step):
    """Its format is known by then: its beginning was read."""
    (tmp_path / name).write_text(text)
    home = cache if step == "folder_of" else GraphFile
    before = getattr(home, step)

    def removing(*arguments, **named):
        (tmp_path / name).unlink(missing_ok=True)
        return before(*arguments, **named)

    monkeypatch.setattr(home, step, removing)
    folder = tmp_path if step == "folder_of" else None
    with pytest.raises(FormatError, match=rf"{name}: cannot be read: No such file"):
        read_graph(tmp_path / name, cache=folder)
