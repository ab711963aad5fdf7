"""Jobs whose answer does not fit in the host's memory are refused before any work."""

from __future__ import annotations

from typing import Any

import pytest
from support.graphs import random_graph

import groute_py
from groute_py import InputError
from groute_py.many import host_room


@pytest.mark.parametrize(
    ("job", "arguments", "options", "says"),
    [
        ("nearest", ([1],), {}, "facilities of 30 vertices, and a copy of the arcs, take 1,920"),
        ("nearest", ([1],), {"k": 2}, "2 facilities of each of 30 vertices take 2,700 bytes"),
        ("isochrone", ([1, 2], 9), {}, "distances of 30 vertices, and a copy of .* take 1,200"),
        ("isochrone", ([1, 2], 9), {"each": True}, "the distances of 30 vertices take 240 bytes"),
        ("route", ([(1, 2)],), {}, "searches, 1 at once, take 1,440 bytes"),
        ("route", ([(1, 2), (1, 3)],), {}, "searches, 1 at once, take 750 bytes"),
    ],
)
def test_it_is_refused(
    job: str,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, solve = random_graph(30, 90, seed=1, greatest=9), getattr(groute_py, job)
    solve(graph, *arguments, **options, device="cpu")
    monkeypatch.setattr(host_room, "available_bytes", lambda: 100)
    with pytest.raises(InputError, match=f"{says}.* and 100 bytes of memory are free; "):
        solve(graph, *arguments, **options, device="cpu")
