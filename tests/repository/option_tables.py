"""Writes what is made from `groute_py.engine.options`; `COMMAND` runs it.

These are the keywords of Python (`groute_py/engine/keywords.py`), and the tables of the documents
between ``<!-- options of … -->`` and ``<!-- end of options -->``. With ``--check`` it writes
nothing, and says what differs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import Field
from pathlib import Path
from typing import Any

from groute_py.cli.options import flag_of
from groute_py.engine.option import EVERYWHERE, Option, options_of
from groute_py.engine.options import Options

ROOT = Path(__file__).resolve().parents[2]

COMMAND = "python tests/repository/option_tables.py"

KEYWORDS = '''"""The keywords of the public functions, for type checkers and editors.

Made from `groute_py.engine.options` by {command}.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict
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
    found = {"groute_py/engine/keywords.py": keywords()}
    for name in ("docs/command-line.md", "docs/python.md"):
        found[name] = REGION.sub(_made, (ROOT / name).read_text(encoding="utf-8"))
    return found


def keywords() -> str:
    """A TypedDict for each function, with what it takes beyond the one before."""
    text, parent, before = KEYWORDS.format(command=COMMAND), "TypedDict", set[str]()
    for function in EVERYWHERE:
        name = f"{function.capitalize()}Keywords"
        text += (
            f'\n\nclass {name}({parent}, total=False):\n    """Of `groute_py.{function}`."""\n\n'
        )
        for entry, _ in options_of(Options, function):
            if entry.name not in before:
                text += f"    {entry.name}: {entry.type}\n"
                before.add(entry.name)
        parent = name
    return text


def command_table(command: str) -> str:
    """The options of a command, with all that there is to say of them."""
    rows = ["| option | default | effect |", "|---|---|---|"]
    for entry, known in options_of(Options, command):
        if known.terminal:
            value = "" if isinstance(entry.default, bool) else f" {known.metavar or 'NAME'}"
            text = f"{known.off or known.text}{_values(known)}{_sentence(known.details)}"
            rows.append(f"| `{flag_of(entry)}{value}` | {_default(entry, known)} | {text} |")
    return "\n".join(rows) + "\n"


def names_line(command: str) -> str:
    """The options of a command that are those of sssp."""
    own = [e for e, known in options_of(Options, command) if known.terminal and e.name != "cutoff"]
    return ", ".join(f"`{flag_of(entry)}`" for entry in own) + "\n"


def python_table(function: str) -> str:
    """The keywords of ``function``, with those to which they belong if that is not all of them."""
    rows = ["| keyword | default | meaning |", "|---|---|---|"]
    for entry, known in options_of(Options, function):
        default = f"`{entry.default!r}`".replace("'", '"')
        only = "" if set(known.of) == set(EVERYWHERE) else f"{_listed(known.of, 'and')} only"
        unset = f"`None`: {known.unset}" if known.unset else ""
        more = "".join(map(_sentence, (unset, known.in_python, only)))
        rows.append(f"| `{entry.name}` | {default} | {known.text}{_values(known)}{more} |")
    return "\n".join(rows) + "\n"


MAKERS: dict[str, Callable[[str], str]] = {
    "sssp": command_table,
    "bfs": names_line,
    "open": python_table,
}


def _made(region: re.Match[str]) -> str:
    head, name, end = region.groups()
    return f"{head}\n{MAKERS[name](name)}\n{end}"


def _default(entry: Field[Any], known: Option) -> str:
    if isinstance(entry.default, bool):
        return ""
    return known.unset if entry.default is None else f"`{entry.default}`"


def _values(known: Option) -> str:
    return _sentence(f"One of {_listed(known.choices, 'or')}" if known.choices else "")


def _listed(names: tuple[str, ...], word: str) -> str:
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} {word} {last}" if first else last


def _sentence(text: str) -> str:
    return f" {text}." if text else ""


if __name__ == "__main__":
    main()
