"""One option of a solve: its text, its values, its check, and where it applies.

The command line, the keywords of Python and the tables of the documents are made from this.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, TypeVar

from groute_py.arguments import check_choice, check_truth

F = TypeVar("F", bound=Callable[..., Any])

EVERYWHERE = ("bfs", "sssp", "open")
"""The functions that take options of one source; each takes those of the one before."""

PLACE = "**options: "
"""How the docstring of a function begins the line that all its options replace."""

REFERENCE = re.compile(r"See \[[^]]+\]\([^)]*\)\.? ?")
"""A sentence in Markdown that only names another place of the documents."""

WIDTH = 92
"""Columns of the text of a docstring."""


@dataclass(frozen=True)
class Option:
    """What there is to know of an option beside its name and default.

    Attributes:
        text: what it does, in plain words; for ``--help``, docstrings and tables.
        details: what the page of the command line adds, in Markdown.
        in_python: what the page of the Python functions adds, in Markdown.
        off: the text of the flag ``--no-…``, if the default is True.
        flag: its flag on the command line, if that is not made from the name.
        of: the functions that take it.
        terminal: whether commands take it, those with the names of the functions.
        choices: the values it may have; empty for others.
        unset: what None stands for.
        metavar: stands for its value in ``--help``.
        exact: whether an integer of the command line is to stay one, whatever its size.
        per_rank: whether ranks may have different values.
        check: raises `InputError` for a wrong value; not called with None.
    """

    text: str
    details: str = ""
    in_python: str = ""
    off: str = ""
    flag: str = ""
    of: tuple[str, ...] = EVERYWHERE
    terminal: bool = True
    choices: tuple[str, ...] = ()
    unset: str = ""
    metavar: str = ""
    exact: bool = False
    per_rank: bool = False
    check: Callable[[Any], None] | None = None


def option(default: Any, text: str, **about: Any) -> Any:
    """A field of a dataclass of options; ``about`` as for `Option`."""
    return field(default=default, metadata={"option": Option(text, **about)})


def about(entry: Field[Any]) -> Option:
    """The option that a field is."""
    found: Option = entry.metadata["option"]
    return found


def options_of(kind: type, function: str) -> Iterator[tuple[Field[Any], Option]]:
    """The options that a function takes, with the fields that they are."""
    for entry in fields(kind):
        if function in about(entry).of:
            yield entry, about(entry)


def check_option(entry: Field[Any], value: Any) -> None:
    """Raise `InputError` for a value that the option cannot have."""
    known = about(entry)
    if known.choices:
        check_choice(entry.name, value, known.choices)
    if isinstance(entry.default, bool):
        check_truth(entry.name, value)
    if known.check is not None and (value is not None or entry.default is not None):
        known.check(value)


def alike(options: Any) -> dict[str, Any]:
    """What has to be the same on every rank, of a dataclass of options."""
    names = [entry.name for entry in fields(options) if not about(entry).per_rank]
    return {name: getattr(options, name) for name in names}


def is_default(entry: Field[Any], value: Any) -> bool:
    """Whether a value, of whatever type, is the default."""
    try:
        return bool(value == entry.default)
    except ValueError:  # of an array
        return False


def chosen(kind: type, function: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords that a function was called with.

    Raises:
        TypeError: the function has no such keyword, as Python would say it.
    """
    names = {entry.name for entry, _ in options_of(kind, function)}
    for name in given:
        if name not in names:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return dict(given)


def takes(kind: type, function: str) -> Callable[[F], F]:
    """Show all options in the signature and the docstring of a function of ``**options``."""

    def shown(call: F) -> F:
        signature, taken = inspect.signature(call), list(options_of(kind, function))
        *named, _ = signature.parameters.values()  # the last one is **options
        keywords = [
            inspect.Parameter(
                entry.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=entry.default,
                annotation=entry.type,
            )
            for entry, _ in taken
        ]
        vars(call)["__signature__"] = signature.replace(parameters=[*named, *keywords])
        if call.__doc__ is not None:
            call.__doc__ = _with_arguments(call.__doc__, [_argument(*entry) for entry in taken])
        return call

    return shown


def _argument(entry: Field[Any], known: Option) -> str:
    text = f"{entry.name}: {known.text}"
    if known.choices:
        text += f" One of {', '.join(known.choices)}."
    if known.in_python and (more := REFERENCE.sub("", known.in_python)):
        text += f" {more.rstrip('. ')}."
    return f"{text} None: {known.unset}." if known.unset else text


def _with_arguments(doc: str, arguments: list[str]) -> str:
    """The docstring, with the arguments in the place of the paragraph that begins with `PLACE`."""
    lines = doc.splitlines()
    start = next(n for n, line in enumerate(lines) if line.lstrip().startswith(PLACE))
    indent = lines[start][: -len(lines[start].lstrip())]
    deeper = f"{indent} "
    stop = next(n for n in range(start + 1, len(lines)) if not lines[n].startswith(deeper))
    shown = [
        textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    ")
        for text in arguments
    ]
    return "\n".join([*lines[:start], *shown, *lines[stop:]])
