"""The folder in which copies of graphs and downloads are kept, and what in it is believed.

The user's own folder is used only where nobody else can write. A folder that the user names, by
``--cache`` or ``GROUTE_PY_CACHE``, may be a group's. In either, a file is believed only if the user
or root owns it, and links are not followed.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from groute_py.errors import InputError
from groute_py.system.settings import settings

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
