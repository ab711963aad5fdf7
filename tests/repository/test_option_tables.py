"""What is made from the options is up to date, and their choices are those of the registries."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import fields

import pytest
from repository.option_tables import COMMAND, files
from support.places import ROOT

from groute_py.device.registry import DEVICES
from groute_py.engine.option import about
from groute_py.engine.options import Options
from groute_py.many.estimates import DELIVERY_RATE
from groute_py.many.request import Request
from groute_py.partition.choose import partitioners
from groute_py.partition.order import ORDERS


@pytest.mark.parametrize("name", files())
def test_it_is_as_the_options_say(name: str) -> None:
    now, wanted = (ROOT / name).read_text(encoding="utf-8"), files()[name]
    changes = difflib.unified_diff(now.splitlines(), wanted.splitlines(), name, name, lineterm="")
    assert now == wanted, "\n".join([f"run {COMMAND}", *changes])


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        (Options, {"device": DEVICES, "partition": partitioners(), "order": ORDERS}),
        (Request, {"device": DEVICES, "destination": DELIVERY_RATE}),
    ],
)
def test_the_choices_are_those_there_are(kind: type, known: dict[str, Iterable[str]]) -> None:
    by_name = {entry.name: about(entry).choices for entry in fields(kind)}
    assert {name: by_name[name] for name in known} == {k: tuple(v) for k, v in known.items()}
