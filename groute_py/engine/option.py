"""One option of a solve: its text, its values, its check, and where it applies.

The command line, the keywords of Python and the tables of the documents are made from this.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, TypeVar

from groute_py.engine.functions import EVERYWHERE
from groute_py.errors import InputError, check_choice, check_truth, quote

F = TypeVar("F", bound=Callable[..., Any])

GRAPH_KEYWORDS: dict[str, tuple[str, Any]] = {
    "tail": ("Any", None),
    "head": ("Any", None),
    "weight": ("Any", None),
    "ignore_columns": ("Sequence[Any]", ()),
    "comm": ("Intracomm | None", None),
}
"""Types and defaults of what all functions that open a graph take beside options."""

PLACE = "**options: "
"""Beginning of the line in a function's docstring that all its options replace."""

WIDTH = 92
"""Columns of the text of a docstring."""


@dataclass(frozen=True)
class Option:
    """An option: its text, its values and its check, without a name."""

    text: str  # what it does, in plain words; for ``--help``, docstrings and tables
    in_python: str = ""  # what docstrings of Python functions add, in Markdown
    off: str = ""  # the text of the flag ``--no-…``, if the default is True
    flag: str = ""  # its flag on the command line, if that is not made from the name
    of: tuple[str, ...] = EVERYWHERE  # the functions that take it
    terminal: bool = True  # whether commands take it, those with the names of the functions
    choices: tuple[str, ...] = ()  # the values it may have; empty for others
    unset: str = ""  # what None stands for
    metavar: str = ""  # stands for its value in ``--help``
    exact: bool = False  # an integer of the command line stays one, whatever its size
    per_rank: bool = False  # ranks may have different values
    check: Callable[[Any], None] | None = None  # raises `InputError`; not called with None
    default: Any = None  # the value if the user sets none

    def refuse(self, name: str, value: Any) -> None:
        """Raise `InputError` for a value that the option cannot have."""
        if self.choices:
            check_choice(name, value, self.choices)
        if isinstance(self.default, bool):
            check_truth(name, value)
        if self.check is not None and (value is not None or self.default is not None):
            self.check(value)


def option(default: Any, text: str, *, others: Sequence[Option] = (), **about: Any) -> Any:
    """Make a field of a dataclass of options; ``others`` are for functions that differ."""
    options = (Option(text, default=default, **about), *others)
    return field(default=default, metadata={"options": options})


def names_in(option: str, value: Any) -> tuple[str, ...]:
    """Return one name of a column, several, or None for none, as a tuple.

    Raises:
        InputError: one of them is no text.
    """
    is_one = isinstance(value, str | bytes) or not isinstance(value, Iterable)
    names = () if value is None else (value,) if is_one else tuple(value)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{option}: {quote(name)} is no name of a column")
    return names


def about(entry: Field[Any], function: str = "") -> Option:
    """Return the option that a field is to a function, or else to the first."""
    options: tuple[Option, ...] = entry.metadata["options"]
    return next((one for one in options if function in one.of), options[0])


@cache
def options_of(kind: Any, function: str) -> tuple[tuple[Field[Any], Option], ...]:
    """Return the options that a function takes, with their fields."""
    every = ((entry, about(entry, function)) for entry in fields(kind))
    return tuple((entry, traits) for entry, traits in every if function in traits.of)


@cache
def checks_of(kind: Any, function: str) -> tuple[tuple[str, Option], ...]:
    """Return the names of all fields, with the options that they are to a function."""
    return tuple((entry.name, about(entry, function)) for entry in fields(kind))


@cache
def _shared_names(kind: Any) -> tuple[str, ...]:
    return tuple(entry.name for entry in fields(kind) if not about(entry).per_rank)


def shared_options(options: Any) -> dict[str, Any]:
    """Return what has to be the same on every rank."""
    kind: Any = type(options)
    return {name: getattr(options, name) for name in _shared_names(kind)}


def chosen(kind: type, function: str, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a call; a keyword that the function lacks is a TypeError."""
    defaults = {entry.name: traits.default for entry, traits in options_of(kind, function)}
    for name in keywords:
        if name not in defaults:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return defaults | dict(keywords)


def takes(kind: type, function: str) -> Callable[[F], F]:
    """Show all options in the signature and the docstring of a function of ``**options``."""

    def shown(call: F) -> F:
        signature, entries = inspect.signature(call), list(options_of(kind, function))
        *named, _ = signature.parameters.values()  # the last one is **options
        keywords = GRAPH_KEYWORDS | {
            entry.name: (entry.type, traits.default) for entry, traits in entries
        }
        parameters = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
            for name, (kind, default) in keywords.items()
        ]
        vars(call)["__signature__"] = signature.replace(parameters=[*named, *parameters])
        if call.__doc__ is not None:
            call.__doc__ = _with_arguments(call.__doc__, [_argument(*entry) for entry in entries])
        return call

    return shown


def _argument(entry: Field[Any], traits: Option) -> str:
    text = f"{entry.name}: {traits.text}"
    if traits.choices:
        text += f" One of {', '.join(traits.choices)}."
    if traits.in_python:
        text += f" {traits.in_python}."
    return f"{text} None: {traits.unset}." if traits.unset else text


def _with_arguments(doc: str, arguments: list[str]) -> str:
    """Put the arguments in place of the paragraph that begins with `PLACE`."""
    lines = doc.splitlines()
    start = next(n for n, line in enumerate(lines) if line.lstrip().startswith(PLACE))
    indent = lines[start][: -len(lines[start].lstrip())]
    deeper = f"{indent} "
    stop = next(n for n in range(start + 1, len(lines)) if not lines[n].startswith(deeper))
    texts = [
        textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    ")
        for text in arguments
    ]
    return "\n".join([*lines[:start], *texts, *lines[stop:]])
