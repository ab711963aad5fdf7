"""What is made from the options is up to date, and their choices are those of the registries."""

from __future__ import annotations

import difflib
from dataclasses import fields

import pytest
from repository.option_tables import COMMAND, files
from support.places import ROOT

from groute_py.device.registry import DEVICES
from groute_py.engine.option import about
from groute_py.engine.options import Options
from groute_py.partition.order import ORDERS
from groute_py.partition.share import partitioners


@pytest.mark.parametrize("name", files())
def test_it_is_as_the_options_say(name: str) -> None:
    now, wanted = (ROOT / name).read_text(encoding="utf-8"), files()[name]
    changes = difflib.unified_diff(now.splitlines(), wanted.splitlines(), name, name, lineterm="")
    assert now == wanted, "\n".join([f"run {COMMAND}", *changes])


def test_the_choices_are_those_there_are() -> None:
    by_name = {entry.name: about(entry).choices for entry in fields(Options)}
    known = {"device": DEVICES, "partition": partitioners(), "order": ORDERS}
    assert {name: by_name[name] for name in known} == {k: tuple(v) for k, v in known.items()}
