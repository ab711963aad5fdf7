"""What a run that cannot go on has to say: one message, its documented code, within seconds."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

WITHIN_S = 60
"""Normally two seconds; a loaded machine may take longer, a hang takes for ever."""

OURS = re.compile(r"^groute-py(?: \(rank \d\))?: ", re.MULTILINE)


class Bad(NamedTuple):
    """``words``: the command line, where ``@`` stands for the inputs' folder."""

    words: str
    code: int
    says: str


def check(bad: Bad, code: int, out: str, err: str) -> None:
    assert code == bad.code, err
    assert out == ""
    assert bad.says in err
    assert err.count(bad.says) == 1
    assert len(OURS.findall(err)) == 1, f"not one message:\n{err}"
    assert "Traceback" not in err


@contextmanager
def quick() -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < WITHIN_S
