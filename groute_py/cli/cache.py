"""``groute-py cache``: what is kept in the cache folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from groute_py.cli import show
from groute_py.cli.options import json_option
from groute_py.cli.ranks import on_rank_0
from groute_py.errors import InputError, quoted

_folder = click.option(
    "--cache", "folder", metavar="FOLDER", help="The folder of --cache.  [the user's cache]"
)


@click.group()
def cache() -> None:
    """List or remove the copies of graphs that the cache keeps."""


@cache.command("list")
@_folder
@json_option
@on_rank_0
def show_list(folder: str | None, as_json: bool) -> None:
    """The copies in the cache: sizes, how long ago each was used, and of what they are."""
    from groute_py.io.cache_folder import copies_in
    from groute_py.system.settings import settings

    where, limit = _place(folder), settings().cache_limit
    copies = copies_in(where)
    rows = [
        {
            "graph": copy.graph,
            "kind": copy.kind,
            "bytes": copy.nbytes,
            "days_since_use": copy.age_s / 86400,
            "file": copy.path.name,
        }
        for copy in copies
    ]
    total = sum(copy.nbytes for copy in copies)
    if as_json:
        answer = {"folder": str(where), "bytes": total, "limit": limit, "copies": rows}
        click.echo(json.dumps(answer))
        return
    if rows:
        show.table(["graph", "kind", "bytes", "used", "file"], [_line(row) for row in rows])
    beside = "" if limit is None else f" of {limit:,}"
    show.note(f"{len(rows)} copies, {total:,}{beside} bytes in {where}")


@cache.command()
@_folder
@json_option
@on_rank_0
def clear(folder: str | None, as_json: bool) -> None:
    """Remove all copies. Downloaded graphs and other files stay."""
    from groute_py.io.cache_folder import copies_in, remove

    where = _place(folder)
    copies = copies_in(where)
    gone = [copy for copy in copies if remove(copy)]
    freed, left = sum(copy.nbytes for copy in gone), len(copies) - len(gone)
    if as_json:
        answer = {"folder": str(where), "removed": len(gone), "bytes": freed, "left": left}
        click.echo(json.dumps(answer))
        return
    show.note(f"{len(gone)} copies, {freed:,} bytes removed from {where}")
    if left:
        show.note(f"{left} copies are another user's, and stay")


def _place(folder: str | None) -> Path:
    from groute_py.io.cache_folder import cache_folder

    if folder is not None:
        if not Path(folder).is_dir():
            raise InputError(f"{folder}: no such folder")
        return Path(folder)
    try:
        return cache_folder("graphs")
    except OSError as problem:
        raise InputError(f"there can be no cache folder: {problem}") from problem


def _line(row: dict[str, Any]) -> list[str]:
    days = row["days_since_use"]
    age = f"{days:.0f} days ago" if days >= 1 else f"{24 * days:.1f} hours ago"
    return [quoted(row["graph"]), row["kind"], f"{row['bytes']:,}", age, row["file"]]
