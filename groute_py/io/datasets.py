"""Graphs by name, such as ``dimacs:NY``: downloaded once, into the cache folder.

``dimacs:NAME`` are the roads of the 9th DIMACS Implementation Challenge, weighted by distance;
``dimacs:NAME-t`` the same by travel time. ``snap:NAME`` are graphs of the Stanford collection, of
unit weights. A download that broke off goes on where it ended. For the files in `SHA256` the
content is compared; for the others no digest is published that we know, and gzip's checksum has to
do, when they are read. What is no gzip file, as the page that a network shows before it lets one
out, is not kept. A link in the folder is refused, and a file that neither this user nor root owns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from groute_py.errors import InputError, RunError, quote
from groute_py.io.cache_folder import cache_folder
from groute_py.io.text.lines import Progress
from groute_py.system.own_files import open_believed, open_draft
from groute_py.system.settings import settings

ROADS = ("NY", "BAY", "COL", "FLA", "NW", "NE", "CAL", "LKS", "E", "W", "CTR", "USA")
DIMACS = "https://www.diag.uniroma1.it/challenge9/data/USA-road-{kind}/USA-road-{kind}.{name}.gr.gz"
SNAP = "https://snap.stanford.edu/data/{name}.txt.gz"
SNAP_GRAPHS = (
    "roadNet-CA",
    "roadNet-PA",
    "roadNet-TX",
    "soc-Epinions1",
    "soc-LiveJournal1",
    "web-Google",
)

URLS = {
    **{f"dimacs:{name}": DIMACS.format(kind="d", name=name) for name in ROADS},
    **{f"dimacs:{name}-t": DIMACS.format(kind="t", name=name) for name in ROADS},
    **{f"snap:{name}": SNAP.format(name=name) for name in SNAP_GRAPHS},
}  # where each graph is, by its name

SHA256 = {"dimacs:NY": "7b2446c7ffe6179efbc42af6812448e8cb782f12968ca2bb1d50d979343056d4"}
GZIP = b"\x1f\x8b"  # what every file begins with


def is_name(text: str) -> bool:
    """Return True if a text means a graph to download, known or not, rather than a file."""
    return text.partition(":")[0] in ("dimacs", "snap") and ":" in text


def fetch(name: str, progress: Progress | None = None) -> Path:
    """The file of a graph, downloaded unless it is there."""
    if name not in URLS:
        kind = name.partition(":")[0]
        names = ", ".join(other for other in URLS if other.startswith(kind))
        raise InputError(f"there is no graph {quote(name)}; there are {names}")
    file = URLS[name].rpartition("/")[2]
    mirror, folder = settings().datasets_url, _folder(name)
    place, part = folder / file, folder / f"{file}.part"
    if _is_there(place, open_believed) and _has_digest(name, place):
        return place
    _is_there(part, open_draft)
    from groute_py.io.download import downloaded  # which loads all that speaks HTTP

    url = f"{mirror.rstrip('/')}/{file}" if mirror else URLS[name]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with downloaded(url, part, progress) as content:
            content.flush()
            if not _is_gzip(content) or not _has_digest(name, part):
                part.unlink()
                raise OSError(f"{url} answered with something else than this gzip file")
            part.replace(place)
    except OSError as error:
        raise RunError(f"{name} could not be downloaded: {error}; try again to go on") from error
    return place


def _has_digest(name: str, file: Path) -> bool:
    """Return True if a file has the known digest of the graph; also if none is known."""
    if name not in SHA256:
        return True
    with open(file, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == SHA256[name]


def _folder(name: str) -> Path:
    try:
        return cache_folder("datasets")
    except OSError as problem:
        raise RunError(f"{name} cannot be kept: {problem}; set GROUTE_PY_CACHE") from problem


def _is_there(file: Path, opened: Callable[[Path], BinaryIO]) -> bool:
    """Return True for a file that may be used; raise `InputError` for any other thing."""
    try:
        with opened(file):
            return True
    except FileNotFoundError:
        return False
    except OSError as problem:
        raise InputError(
            f"{file}: is not used, for it is a link or no plain file of yours "
            f"({problem.strerror}); remove it, or name another folder by GROUTE_PY_CACHE"
        ) from problem


def _is_gzip(file: BinaryIO) -> bool:
    file.seek(0)
    return file.read(len(GZIP)) == GZIP
