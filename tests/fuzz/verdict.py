"""How reading an input ended."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import NamedTuple

from fuzz.invariants import BrokenRuleError
from groute_py import InputError, VerificationError
from groute_py.errors import GrouteError

LONGEST_MESSAGE = 1500
"""Letters of a message besides the path; messages do not quote kilobytes of a file."""


class Verdict(NamedTuple):
    """``end`` is ``read``, ``refused`` or ``fault``.

    Attributes:
        end: how it ended.
        what: of a fault what it is, the same for all inputs that show the same fault; else nothing.
        detail: a message or traceback, for people.
    """

    end: str
    what: str = ""
    detail: str = ""


def of_error(error: BaseException, path: Path) -> Verdict:
    """An error of groute-py with code 2 (3 by ``verify``) is a refusal; all others are faults."""
    memory = next((e for e in _chain(error) if isinstance(e, MemoryError)), None)
    if memory is not None:
        return Verdict(
            "fault", f"memory is taken before a check, in {_place(memory)}", _shown(error)
        )
    if not isinstance(error, InputError | VerificationError):
        rule = isinstance(error, BrokenRuleError)
        what = str(error) if rule else f"{type(error).__name__} from {_place(error)}"
        return Verdict("fault", what, _shown(error))
    return _of_message(error, path)


def _of_message(error: GrouteError, path: Path) -> Verdict:
    message = str(error).replace(str(path), "")
    if not message.isprintable():
        return Verdict(
            "fault", f"a message has control characters, from {_place(error)}", _shown(error)
        )
    if len(message) > LONGEST_MESSAGE:
        return Verdict("fault", f"a message quotes too much, from {_place(error)}", _shown(error))
    return Verdict("refused", detail=message)


def _shown(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _chain(error: BaseException | None) -> list[BaseException]:
    result: list[BaseException] = []
    while error is not None and error not in result:
        result.append(error)
        error = error.__cause__ or error.__context__
    return result


def _place(error: BaseException) -> str:
    """The innermost of our files and functions."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "groute_py" in f.filename] or list(frames)
    if not ours:
        return "nowhere"
    path = ours[-1].filename
    return f"{path[path.rfind('groute_py') :]} in {ours[-1].name}"
