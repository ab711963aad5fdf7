"""The scripts of the build, which lie in the root folder, as modules."""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

from support.places import ROOT


@cache
def build_script(name: str) -> Any:
    """Load a script by its name."""
    spec = spec_from_file_location(name, ROOT / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
