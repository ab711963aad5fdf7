"""That ranks on threads which never end are an error."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from support import local_ranks
from support.local_ranks import LocalChannel, on_ranks


@pytest.mark.parametrize(
    ("limit", "wait", "says"),
    [
        ("SPINNING_S", lambda end: None, "a rank hangs"),
        ("WAITING_S", lambda end: end.wait(0.01), "ranks wait for each other"),
    ],
)
def test_ranks_that_do_not_end(
    limit: str,
    wait: Callable[[threading.Event], object],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local_ranks, limit, 0.5)
    end = threading.Event()

    def work(channel: LocalChannel) -> None:
        while channel.rank == 1 and not end.is_set():
            wait(end)
        channel.gather(None)

    with pytest.raises(AssertionError, match=says):
        on_ranks(2, work)
    end.set()
