"""Downloads by HTTP; one that broke off goes on where it ended.

One process at a time has the part that is there; it lets go once the whole file has its own name.
"""

from __future__ import annotations

import http
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from groute_py.io.text.lines import Progress
from groute_py.system.file_lock import FileLock, LockedError

TIMEOUT_S = 60
CHUNK = 1 << 16


@contextmanager
def downloaded(url: str, part: Path, progress: Progress | None) -> Iterator[BinaryIO]:
    """Fetch a file, or the rest of it where `part` has the beginning, for the block to rename it.

    No other process has `part` before the block ends.
    """
    try:
        lock = FileLock(part)
    except LockedError:
        raise OSError("another process is downloading it") from None
    with closing(lock), open(os.dup(lock.descriptor), "r+b") as file:
        try:
            _fetch_rest(url, file, progress)
        except http.client.HTTPException as error:  # the other errors are OSErrors
            raise OSError(str(error) or type(error).__name__) from error
        yield file


def _fetch_rest(url: str, file: BinaryIO, progress: Progress | None) -> None:
    there = file.seek(0, os.SEEK_END)
    request = urllib.request.Request(url, headers={"Range": f"bytes={there}-"} if there else {})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT_S)
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            _empty(file)  # not what the server has, or all of it: once more from the start
        raise
    with response:
        if response.status != http.HTTPStatus.PARTIAL_CONTENT:
            _empty(file)
            there = 0
        length = response.headers.get("Content-Length")
        total = there + int(length) if length else 0
        _copy(response, file, there, total, progress)


def _empty(file: BinaryIO) -> None:
    file.seek(0)
    file.truncate()


def _copy(
    response: http.client.HTTPResponse,
    file: BinaryIO,
    there: int,
    total: int,
    progress: Progress | None,
) -> None:
    while chunk := response.read(CHUNK):
        file.write(chunk)
        there += len(chunk)
        if progress:
            progress(there, max(total, there))
    if there < total:
        raise OSError(f"the connection ended at byte {there:,} of {total:,}")
