"""The folder of copies of graphs and of downloads: what in it is believed, and its limit.

The user's own folder is used only where nobody else can write. A folder that the user names, by
``--cache`` or ``GROUTE_PY_CACHE``, may be a group's. In either, a file is believed only if the user
or root owns it, and links are not followed.

A copy that is used gets the time of its use, so that the ones not used for longest are the first to
go. A process that has mapped a copy keeps it until it ends. What a process that was killed has left
of a copy counts as one, too.
"""

from __future__ import annotations

import os
import re
import stat
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from groute_py.errors import CacheWarning, FormatError, InputError
from groute_py.io.formats import native, order, prepared
from groute_py.system.own_files import is_draft, open_believed, open_plain
from groute_py.system.settings import settings

COPY = re.compile(r".*-[0-9a-f]{20}\.(csr|prepared|order)", re.DOTALL)
"""The names of copies. A file with such a name is a copy if its first bytes say so too; other files
in the folder are not ours to remove."""

LEFT_AFTER_S = 3600.0
"""A draft that nobody has written to for so long has been left."""

FORMS = {form.SUFFIX: form for form in (native, prepared, order)}
"""The forms of copies by suffix; their first bytes are a family's, whatever the version."""

KINDS = {native.SUFFIX: "native", prepared.SUFFIX: "prepared", order.SUFFIX: "order"}


class CachedFile(NamedTuple):
    """A copy in the cache, or what a process that was killed has left of one."""

    path: Path
    nbytes: int
    used_s: float  # written or used last, in seconds since 1970

    @property
    def age_s(self) -> float:
        """Seconds since it was used."""
        return max(time.time() - self.used_s, 0.0)

    @property
    def kind(self) -> str:
        """``native``, ``prepared``, ``order``; ``unfinished`` where its process was killed."""
        if is_draft(self.path):
            return "unfinished"
        return KINDS[self.path.suffix]

    @property
    def graph(self) -> str:
        """The name of the graph, from the header; where that has none, its file's."""
        if is_draft(self.path):
            return ""
        try:
            with open_believed(self.path) as file:
                return str(FORMS[self.path.suffix].map_open_file(self.path, file).name)
        except (OSError, FormatError):
            return self.path.name.rpartition("-")[0]


def copies_in(folder: Path) -> list[CachedFile]:
    """All copies in a folder, the one that was used last first; none if there is no folder."""
    return sorted(_copies(folder), key=lambda copy: -copy.used_s)


def note_use(copy: Path) -> None:
    """A copy was used now; that cannot be noted of the files of others."""
    with suppress(OSError):
        os.utime(copy, follow_symlinks=False)


def remove_beyond_limit(folder: Path) -> None:
    """Remove copies until the others are within the limit: large ones, and the least used."""
    if (limit := settings().cache_limit) is None:
        return
    total = 0
    for copy in copies_in(folder):
        if copy.nbytes > limit or total + copy.nbytes > limit:
            remove(copy)
        else:
            total += copy.nbytes


def refuses(path: Path, nbytes: int) -> bool:
    """Return True, with a warning, if a copy would take more than all together may."""
    limit = settings().cache_limit
    if limit is None or nbytes <= limit:
        return False
    text = f"no copy of {path} is kept: its {nbytes:,} bytes are beyond the limit of {limit:,}"
    warnings.warn(text, CacheWarning, stacklevel=3)
    return True


def remove(copy: CachedFile) -> bool:
    """Remove a copy; False where that cannot be."""
    try:
        copy.path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _copies(folder: Path) -> Iterator[CachedFile]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        with suppress(OSError):  # removed meanwhile
            if entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                copy = CachedFile(Path(entry.path), status.st_size, status.st_mtime)
                is_left = is_draft(copy.path) and copy.age_s > LEFT_AFTER_S
                if is_left or _is_copy(copy.path):
                    yield copy


def _is_copy(path: Path) -> bool:
    """Return True if a file has the name and the first bytes of a copy."""
    if COPY.fullmatch(path.name) is None:
        return False
    family: bytes = FORMS[path.suffix].KIND.family
    with open_plain(path) as file:
        return file.read(len(family)) == family


OWN = 0o700
"""The mode of the folder that only the user uses."""

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_folder(part: str) -> Path:
    """The folder for "graphs" or "datasets" in the cache folder; made where there is none."""
    base = base_folder()
    folder = base / part
    if settings().cache_is_own:
        folder.mkdir(OWN, exist_ok=True)
        _check_private(folder)
    elif folder.is_symlink():
        raise InputError(f"{folder}: is a link, which is not followed in a cache folder")
    return folder


def base_folder() -> Path:
    """The cache folder itself; raises as `cache_folder` does."""
    base = settings().cache_folder
    if settings().cache_is_own:
        base.parent.mkdir(parents=True, exist_ok=True)
        base.mkdir(OWN, exist_ok=True)
        _check_private(base)
    return base


def _check_private(folder: Path) -> None:
    """Raise `InputError` for a folder into which others may put files, or have put one."""
    for status in (folder.lstat(), folder.stat()):  # of a link, and of what it leads to
        if status.st_uid != os.geteuid():
            raise InputError(f"the cache folder {folder} belongs to another user; {_ADVICE}")
    if status.st_mode & OTHERS_WRITE:
        raise InputError(
            f"others can write to the cache folder {folder}; see what is in it, then "
            f"chmod go-w it, or {_ADVICE}"
        )


_ADVICE = "name another by GROUTE_PY_CACHE"
