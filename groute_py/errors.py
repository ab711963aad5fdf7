"""Every error this package raises on purpose, with its exit code, and checks that raise them.

    GrouteError                       exit code
    ├── InputError (ValueError)       2   wrong usage or input
    │   ├── GraphError                2   arrays that are not a graph, or not one a method takes
    │   └── FormatError               2   a file that cannot be read as what it should be
    ├── SetupError                    2   the machine lacks what was asked for
    ├── RunError                      1   failed while running, a rank was lost, a full disk
    │   └── TimeLimitError            1   the time limit passed, or SIGUSR1 says it is near
    ├── VerificationError             3   a result that is not a shortest-path answer
    ├── NegativeCycleError            4   a reachable cycle of negative weight
    └── InterruptedRun                130 Ctrl-C or SIGTERM

Each message says what was wrong, where, and what to do next.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from numbers import Real
from pathlib import Path
from typing import Any

EXIT_CODES = {
    0: "done",
    1: "failed at run time",
    2: "wrong usage or input",
    3: "did not verify",
    4: "reachable negative cycle",
    130: "interrupted (Ctrl-C or SIGTERM)",
}
"""The documented exit codes; every rank ends with the same one."""


MOST_QUOTED = 200
"""Characters of foreign text that a message shows."""


def printable(text: object) -> str:
    r"""Text of any origin for a terminal: what controls it, or turns its direction, is escaped.

    >>> printable("red \x1b[31m")
    'red \\x1b[31m'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


def quoted(text: object) -> str:
    """Text of any origin for a message: printable, and not longer than `MOST_QUOTED`.

    >>> quoted("a" * 300) == "a" * 199 + "…"
    True
    """
    shown = printable(str(text)[: MOST_QUOTED + 1])
    return shown if len(shown) <= MOST_QUOTED else f"{shown[: MOST_QUOTED - 1]}…"


def quote(value: object) -> str:
    """A value as Python writes it, for a message; see `quoted`."""
    return quoted(repr(value))


class GrouteError(Exception):
    """The root of the tree; catch it to catch everything this package raises on purpose.

    Attributes:
        exit_code: what the command line ends with.
        on_all_ranks: every rank raises this same error, so all can end in good order.
        by_signal: a signal handler of this rank raised it; it is never shared with other ranks,
            which may have their own.
    """

    exit_code = 1
    on_all_ranks = False
    by_signal = False

    def __str__(self) -> str:
        # foreign text in it neither controls a terminal nor looks like another message
        return "\n".join(map(printable, super().__str__().split("\n")))

    def __reduce__(self) -> tuple[Any, ...]:
        # errors travel between ranks, also those whose constructors take other arguments
        return _revive, (type(self), self.args, self.__dict__)


class InputError(GrouteError, ValueError):
    """Wrong usage or input; also a ValueError."""

    exit_code = 2


class GraphError(InputError):
    """Arrays that are not a graph, or a graph that the method cannot take."""


class FormatError(InputError):
    """A file that cannot be read; the message names the file, the line and what was expected.

    Attributes:
        path: the file.
        line: the number of the line, from 1; None if no line is to blame.
    """

    def __init__(self, path: str | Path, problem: str, *, line: int | None = None) -> None:
        where = printable(path if line is None else f"{path}:{line}")
        super().__init__(f"{where}: {problem}")
        self.path = Path(path)
        self.line = line


class SetupError(GrouteError):
    """The machine or the launch lacks what was asked for."""

    exit_code = 2


class RunError(GrouteError):
    """A run that failed after its input was accepted."""


class TimeLimitError(RunError):
    """The time limit passed before the answer was complete."""


class VerificationError(GrouteError):
    """Distances or predecessors that do not satisfy the optimality certificate."""

    exit_code = 3


class NegativeCycleError(GrouteError):
    """A cycle of negative total weight can be reached from the source.

    Attributes:
        cycle: the vertex indices in order, the first repeated at the end.
        weight: the total weight of the cycle, below 0.
        ids: the file's ids of ``cycle``, which the message shows; None where it shows the indices.
    """

    exit_code = 4

    def __init__(
        self, cycle: list[int], weight: float, *, ids: list[int] | list[str] | None = None
    ) -> None:
        shown = [str(v) for v in (cycle if ids is None else ids)]
        if len(shown) > 40:
            shown = [*shown[:20], f"… {len(shown) - 40} more …", *shown[-20:]]
        super().__init__(
            f"negative cycle of weight {weight}: {' → '.join(shown)}; "
            "shortest paths are not defined for vertices reachable from it"
        )
        self.cycle = cycle
        self.weight = weight
        self.ids = ids

    def reversed(self) -> NegativeCycleError:
        """The same error of the graph with all arcs turned round."""
        ids: Any = None if self.ids is None else self.ids[::-1]
        error = NegativeCycleError(self.cycle[::-1], self.weight, ids=ids)
        error.on_all_ranks = self.on_all_ranks
        return error


class InterruptedRun(GrouteError):
    """Ctrl-C or SIGTERM ended the run."""

    exit_code = 130


class CacheWarning(UserWarning):
    """Something is not kept in a cache, or not used of it, and why."""


def too_late(state: str = "nothing was written") -> TimeLimitError:
    """The error of a job that the time limit ends.

    Args:
        state: how far it has come.

    >>> print(too_late("3 of 5 sources were done"))
    the time limit passed before the answer was complete; 3 of 5 sources were done; give more \
time (--time-limit, --limit-per-question, time_limit_s)
    """
    return TimeLimitError(
        f"the time limit passed before the answer was complete; {state}; give more time "
        "(--time-limit, --limit-per-question, time_limit_s)"
    )


def everywhere(error: GrouteError) -> GrouteError:
    """Mark an error that every rank raises by itself."""
    error.on_all_ranks = True
    return error


def signalled(error: GrouteError) -> GrouteError:
    """Mark an error that a signal handler raises."""
    error.by_signal = True
    return error


def _revive(kind: type[GrouteError], args: tuple[Any, ...], attributes: Any) -> GrouteError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


def check_kind(what: str, value: Any, kind: type, description: str) -> None:
    """Raise `InputError` for a value that is not of a type.

    >>> check_kind("spec", "road:9x9", str, "a text such as 'road:9x9'")
    """
    if not isinstance(value, kind):
        raise InputError(f"{what} must be {description}, not {type(value).__name__}")


def as_index(value: Any) -> int:
    """An integer as Python's; as `operator.index`, but `TypeError` for True and False, too.

    >>> as_index(4)
    4
    """
    if type(value).__name__ in ("bool", "bool_"):  # NumPy's, too
        raise TypeError("'bool' object cannot be interpreted as an integer")
    return operator.index(value)


def vertex_number(what: str, value: Any) -> int:
    """A vertex as a Python integer; `InputError` for what is none.

    >>> vertex_number("target", 4)
    4
    """
    try:
        return as_index(value)
    except TypeError:
        raise InputError(
            f"{what} must be an integer, the index of a vertex, not {quote(value)}"
        ) from None


def file_path(what: str, value: Any) -> Path:
    """A path; `InputError` for what is neither text nor a path, or what no file can be called.

    >>> file_path("graph", "usa.gr").name
    'usa.gr'
    """
    try:
        path = Path(value)
    except TypeError:
        raise InputError(f"{what} must be a path, not {quote(value)}") from None
    if "\0" in str(path):
        problem = "is no name of a file: there is a null character in it"
        raise InputError(f"{what} {quote(str(path))} {problem}")
    return path


def check_choice(what: str, name: Any, choices: Iterable[str]) -> None:
    """Raise `InputError` for a name that is not one of those known.

    >>> check_choice("order", "rcm", ("none", "rcm"))
    """
    names = tuple(choices)
    if not isinstance(name, str) or name not in names:
        raise InputError(f"{what} {quote(name)} is unknown; choose one of {', '.join(names)}")


def check_truth(what: str, value: Any) -> None:
    """Raise `InputError` for a value that is neither True nor False.

    >>> check_truth("hops", False)
    """
    if not isinstance(plain(value), bool):
        raise InputError(f"{what} must be True or False, not {quote(value)}")


def plain(value: Any) -> Any:
    """A scalar or an array without a dimension, NumPy's or CuPy's, as Python's; others as they are.

    >>> plain("4"), plain(None)
    ('4', None)
    """
    return value.item() if getattr(value, "shape", None) == () else value


def check_number(what: str, value: Any) -> None:
    """Raise `InputError` unless the value is a real number that float64 holds."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InputError(f"{what} must be a number, not {quote(value)}")
    try:
        float(value)
    except OverflowError:
        raise InputError(f"{what} is out of range; the greatest number is 1.8e308") from None


def check_positive(what: str, value: Any) -> None:
    """Raise `InputError` unless the value is a number above 0."""
    check_number(what, value)
    if not value > 0:
        raise InputError(f"{what} must be positive, not {value}")


def check_whole_number(what: str, value: Any) -> None:
    """Raise `InputError` unless the value is an integer or a float without a fraction."""
    check_number(what, value)
    if not float(value).is_integer():
        raise InputError(f"{what} must be an integer, not {quote(value)}")


MOST_K = 2**31 - 1
"""Nearest facilities or shortest paths; their numbers have 32 bits."""


def check_k(k: Any, name: str = "k") -> None:
    """Raise `InputError` unless there can be so many of a kind."""
    check_whole_number(name, k)
    if not 0 < k <= MOST_K:
        raise InputError(f"{name} must be at least 1 and at most {MOST_K:,}, not {k}")


def check_cutoff(value: Any, objective: str = "shortest") -> None:
    """Raise `InputError` for what no value can be compared with, or all are beyond.

    With ``minimax`` and ``widest`` values are weights, which may be negative.
    """
    check_number("cutoff", value)
    if math.isnan(value):
        raise InputError("cutoff must be a number, not NaN")
    if value < 0 and objective not in ("minimax", "widest"):
        raise InputError(f"cutoff must not be negative, as {value} is")
