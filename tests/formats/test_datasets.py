"""Graphs by name: downloaded once, whole, from a server on this machine."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from groute_py import InputError, RunError
from groute_py.io import cache_folder, datasets
from groute_py.source.graph_source import GraphSource

CONTENT = gzip.compress(b"p sp 3 2\na 1 2 5\na 2 3 7\n" + b"c x\n" * 5000, mtime=0, compresslevel=0)


class Server(ThreadingHTTPServer):
    """Serves `CONTENT` for every name; knows what was asked, and when to hang up."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, str | None]] = []
        self.hang_up_after: int | None = None
        self.ranges = True
        self.page = b""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers["Range"]
        self.server.asked.append((self.path, wanted))
        if "NE" in self.path:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        start = start if self.server.ranges else 0
        if self.server.page:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.server.page)
            return
        if start >= len(CONTENT):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(CONTENT[start : self.server.hang_up_after])
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        own = replace(
            datasets.settings(),
            cache_folder=tmp_path,
            datasets_url=f"http://127.0.0.1:{server.server_port}/",
        )
        for module in (datasets, cache_folder):
            monkeypatch.setattr(module, "settings", lambda: own)
        monkeypatch.setattr(datasets, "SHA256", {})
        yield server
        server.shutdown()
        thread.join()


def test_downloaded_once(server: Server, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = datasets.fetch("dimacs:BAY-t", lambda *done: seen.append(done))
    assert path == tmp_path / "datasets" / "USA-road-t.BAY.gr.gz"
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert datasets.fetch("dimacs:BAY-t") == path
    assert server.asked == [("/USA-road-t.BAY.gr.gz", None)]
    assert list(path.parent.iterdir()) == [path]


def test_a_graph_by_name(server: Server) -> None:
    graph = GraphSource("dimacs:NY").graph()
    assert (graph.name, graph.vertex_count, graph.arc_count) == ("USA-road-d.NY", 3, 2)
    assert GraphSource("snap:web-Google").graph().arc_count == 2


def test_offline_once_it_is_there(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    path = datasets.fetch("dimacs:E")
    monkeypatch.setattr(datasets, "SHA256", {"dimacs:E": hashlib.sha256(CONTENT).hexdigest()})
    server.shutdown()
    assert datasets.fetch("dimacs:E") == path


@pytest.mark.parametrize("ranges", [True, False])
def test_it_goes_on_where_it_ended(server: Server, ranges: bool) -> None:
    server.hang_up_after, server.ranges = 1000, ranges
    with pytest.raises(RunError, match=r"ended at byte 1,000 of [\d,]+; try again to go on"):
        datasets.fetch("dimacs:W")
    server.hang_up_after = None
    assert datasets.fetch("dimacs:W").read_bytes() == CONTENT
    assert [wanted for _, wanted in server.asked] == [None, "bytes=1000-"]


def test_a_page_of_the_network_is_not_kept(server: Server, tmp_path: Path) -> None:
    server.page = b"<html>Please log in.</html>"
    with pytest.raises(RunError, match="something else than this gzip file"):
        datasets.fetch("dimacs:W")
    assert not list((tmp_path / "datasets").glob("*W*"))
    server.page = b""
    assert datasets.fetch("dimacs:W").read_bytes() == CONTENT


def test_a_part_that_is_no_part(server: Server, tmp_path: Path) -> None:
    part = tmp_path / "datasets" / "USA-road-d.W.gr.gz.part"
    part.parent.mkdir()
    part.write_bytes(CONTENT + b"more")
    with pytest.raises(RunError, match="416"):
        datasets.fetch("dimacs:W")
    assert datasets.fetch("dimacs:W").read_bytes() == CONTENT


def test_other_content_is_refused(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "SHA256", {"dimacs:NY": "0" * 64})
    with pytest.raises(RunError, match="something else than this gzip file"):
        datasets.fetch("dimacs:NY")
    assert not list((tmp_path / "datasets").iterdir())


def test_no_such_file_on_the_server(server: Server) -> None:
    with pytest.raises(RunError, match="dimacs:NE could not be downloaded: HTTP Error 404"):
        datasets.fetch("dimacs:NE")


def test_one_process_at_a_time(server: Server, tmp_path: Path) -> None:
    import fcntl

    (tmp_path / "datasets").mkdir()
    with open(tmp_path / "datasets" / "USA-road-d.W.gr.gz.part", "ab") as part:
        fcntl.flock(part, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="another process is downloading it"):
            datasets.fetch("dimacs:W")


def test_nobody_else_has_the_part_before_it_has_its_name(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who comes between the last byte and the rename would write to the file that was just made."""
    is_gzip, said = datasets._is_gzip, []

    def late(file: BinaryIO) -> bool:
        monkeypatch.setattr(datasets, "_is_gzip", is_gzip)
        with pytest.raises(RunError, match="another process is downloading it"):
            datasets.fetch("dimacs:W")
        said.append(len(server.asked))
        return is_gzip(file)

    monkeypatch.setattr(datasets, "_is_gzip", late)
    assert datasets.fetch("dimacs:W").read_bytes() == CONTENT
    assert said == [1]


@pytest.mark.parametrize("name", ["dimacs:XX", "snap:", "dimacs:ny"])
def test_unknown_names(name: str) -> None:
    with pytest.raises(InputError, match="there is no graph"):
        GraphSource(name).graph()


def test_the_known_digest_is_that_of_the_real_file(data_folder: Path) -> None:
    content = (data_folder / "dimacs9" / "USA-road-d.NY.gr.gz").read_bytes()
    assert hashlib.sha256(content).hexdigest() == datasets.SHA256["dimacs:NY"]
