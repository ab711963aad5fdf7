"""A road graph in a file, and how ``sssp`` solves what was prepared of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import groute_py
from groute_py import Result, write_graph
from support.command import as_json, run_command

ROAD = groute_py.generate("road:20x20")


def write_town(folder: Path) -> Path:
    """Write `ROAD` into a text ``there/town.gr`` of a folder."""
    path = folder / "there" / "town.gr"
    path.parent.mkdir()
    write_graph(ROAD, path)
    return path


def method(*words: object) -> tuple[str, str, dict[str, Any]]:
    """The algorithm of ``sssp``, why it was chosen, and the whole answer."""
    result = as_json(run_command("sssp", *words, "--device", "cpu", "--json"))
    statistics = result["statistics"]
    return statistics["algorithm"], statistics["reason"], result


def choice(result: Result) -> tuple[str, str]:
    """The algorithm of a result, and why it was chosen."""
    return result.statistics["algorithm"], result.statistics["reason"]
