"""Writes what is made from `Options`, the options of users; `COMMAND` runs it.

These are the keywords of Python (`groute_py/engine/keywords.py`), and lists of the documents
between ``<!-- options of … -->`` and ``<!-- end of options -->``. With ``--check`` it writes
nothing, and says what differs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Set
from functools import partial
from pathlib import Path

from groute_py.engine.functions import EVERYWHERE
from groute_py.engine.option import GRAPH_KEYWORDS, options_of
from groute_py.engine.options import Options

ROOT = Path(__file__).resolve().parents[2]

COMMAND = "python tests/repository/option_tables.py"

OTHERS = ("nearest", "isochrone", "apsp", "route", "matrix")
"""The functions of other jobs than one source."""

KEYWORDS = '''"""The keywords of the public functions, for type checkers and editors.

Made from `groute_py.engine.options` by {command}.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

from groute_py.comm.base import Intracomm


class GraphKeywords(TypedDict, total=False):
    """Keywords of all functions that open a graph."""

'''

REGION = re.compile(r"(<!-- options of (\S+), made by .*? -->\n).*?(<!-- end of options -->)", re.S)


def main() -> None:
    stale = [name for name, text in files().items() if (ROOT / name).read_text("utf-8") != text]
    if "--check" in sys.argv[1:]:
        sys.exit(f"{', '.join(stale)}: run {COMMAND}" if stale else 0)
    for name, text in files().items():
        (ROOT / name).write_text(text, encoding="utf-8")


def files() -> dict[str, str]:
    """The path of each file in the repository, and what it should hold."""
    result = {"groute_py/engine/keywords.py": keywords()}
    for name, makers in MAKERS.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        result[name] = REGION.sub(partial(_made, makers), text)
    return result


def keywords() -> str:
    """A TypedDict for each function, based on the largest one above whose names are among its."""
    text = KEYWORDS.format(command=COMMAND)
    text += "".join(f"    {name}: {kind}\n" for name, (kind, _) in GRAPH_KEYWORDS.items())
    names = {function: _names_of(function) for function in (*EVERYWHERE, *OTHERS)}
    above = {"GraphKeywords": set[str]()}
    shared = set.intersection(*(names[function] for function in OTHERS))
    for function in EVERYWHERE:
        text += keywords_of(function, _parent(names[function], above), names, above)
    text += _class("JobKeywords", "GraphKeywords", "all other jobs", OTHERS[0], shared)
    above |= {"JobKeywords": shared}
    for function in OTHERS:
        text += keywords_of(function, _parent(names[function], above), names, above)
    return text


def keywords_of(
    function: str, parent: str, names: dict[str, set[str]], above: dict[str, set[str]]
) -> str:
    """The TypedDict of a function, without the names that its parent has."""
    name, own = _typed_dict(function), names[function] - above[parent]
    above[name] = names[function]
    return _class(name, parent, f"`groute_py.{function}`", function, own)


def _class(name: str, parent: str, what: str, function: str, names: Set[str]) -> str:
    text = f'\n\nclass {name}({parent}, total=False):\n    """Keywords of {what}."""\n\n'
    entries = [entry for entry, _ in options_of(Options, function) if entry.name in names]
    return text + "".join(f"    {entry.name}: {entry.type}\n" for entry in entries)


def _names_of(function: str) -> set[str]:
    return {entry.name for entry, _ in options_of(Options, function)}


def _parent(names: Set[str], above: Mapping[str, Set[str]]) -> str:
    return max((name for name in above if above[name] <= names), key=lambda name: len(above[name]))


def keywords_line(function: str) -> str:
    """The keywords of a function that are those of another."""
    return ", ".join(f"`{e.name}`" for e, _ in options_of(Options, function)) + "\n"


MAKERS: dict[str, dict[str, Callable[[str], str]]] = {
    "docs/reach.md": {"isochrone": keywords_line},
}
"""What each document has between the comments of a command or function."""


def _made(makers: Mapping[str, Callable[[str], str]], region: re.Match[str]) -> str:
    head, name, end = region.groups()
    return f"{head}\n{makers[name](name)}\n{end}"


def _typed_dict(function: str) -> str:
    return f"{function.capitalize()}Keywords"


if __name__ == "__main__":
    main()
