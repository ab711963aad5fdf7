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

from groute_py.engine.option import EVERYWHERE, options_of
from groute_py.engine.options import Options

ROOT = Path(__file__).resolve().parents[2]

COMMAND = "python tests/repository/option_tables.py"

OTHERS = ("nearest", "isochrone", "apsp", "matrix", "route")
"""The functions whose keywords are not based on those of others."""

KEYWORDS = '''"""The keywords of the public functions, for type checkers and editors.

Made from `groute_py.engine.options` by {command}.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict
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
    """A TypedDict for each function; those of one source are based on the one before."""
    text, parent, before = KEYWORDS.format(command=COMMAND), "TypedDict", set[str]()
    for function in EVERYWHERE:
        text += keywords_of(function, parent, before)
        parent = _typed_dict(function)
        before |= {entry.name for entry, _ in options_of(Options, function)}
    return text + "".join(keywords_of(function, "TypedDict", set()) for function in OTHERS)


def keywords_of(function: str, parent: str, before: Set[str]) -> str:
    """The TypedDict of a function, without the names that its parent has."""
    text = f"\n\nclass {_typed_dict(function)}({parent}, total=False):\n"
    text += f'    """Keywords of `groute_py.{function}`."""\n\n'
    for entry, _ in options_of(Options, function):
        if entry.name not in before:
            text += f"    {entry.name}: {entry.type}\n"
    return text


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
