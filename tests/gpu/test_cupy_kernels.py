"""Kernels of CuPy's own, which a first run compiles for 140 ms each, in two prepared solves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support import as_large
from support.skips import EMULATED, needs_gpu

from groute_py.cli.main import commands

pytestmark = [*needs_gpu, pytest.mark.skipif(not EMULATED, reason="watches emulated arrays")]

ROAD = {
    "copy uint64",  # by argsort
    "copy uint32",  # by cumsum
    "copy uint32 int64",  # offsets, by cumsum
    "copy int64 uint32",  # the same on their way to kernels
    "copy uint32 strided",  # packed arcs
    "copy int32 strided",  # a panel of the core's matrix
    "arange uint32",
}
RMAT = {
    "copy uint32",  # by argsort and cumsum
    "copy int32",  # by argsort
    "take uint32",  # the rows of arcs by weight
}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Record what CuPy would compile: names with types."""
    import cupy as cp

    names, array = set[str](), cp.ndarray
    take, put, astype = array.__getitem__, array.__setitem__, array.astype
    argsort, arange = cp.argsort, cp.arange

    def copied(source: Any, dtype: Any, *, strided: bool = False) -> None:
        kinds = dict.fromkeys([source.dtype.name, np.dtype(dtype).name])
        names.add(" ".join(["copy", *kinds, *["strided"] * strided]))

    def ufunc(_: Any, function: Any, how: str, *inputs: Any, out: Any = (), **named: Any) -> Any:
        if how == "accumulate":
            copied(inputs[0], named["dtype"])
        elif how != "reduce" or function not in (np.add, np.minimum, np.maximum):
            names.add(function.__name__)
        plain, named["out"] = map(np.asarray, inputs), tuple(map(np.asarray, out)) or None
        result = getattr(function, how)(*plain, **named)
        return result.view(array) if isinstance(result, np.ndarray) else result

    def getitem(values: Any, key: Any) -> Any:
        if isinstance(key, np.ndarray):
            names.add(f"take {values.dtype}")
        return take(values, key)

    def setitem(values: Any, key: Any, value: Any) -> None:
        if isinstance(key, np.ndarray):
            names.add(f"scatter {values.dtype}")
        elif not isinstance(value, array):
            names.add(f"fill {values.dtype}")
        else:
            place = take(values, key)
            strided = not (place.flags.c_contiguous and value.flags.c_contiguous)
            if strided or value.dtype != values.dtype:
                copied(value, values.dtype, strided=strided)
        put(values, key, value)

    def converted(values: Any, dtype: Any, *, copy: bool = True) -> Any:
        if copy or values.dtype != dtype:
            copied(values, dtype)
        return astype(values, dtype, copy=copy)

    def ordered(keys: Any) -> Any:
        copied(keys, keys.dtype)
        return argsort(keys)

    def counted(*words: Any, dtype: Any) -> Any:
        names.add(f"arange {np.dtype(dtype)}")
        return arange(*words, dtype=dtype)

    def other(name: str) -> Any:
        return lambda *_, **__: pytest.fail(f"{name} is not watched")

    monkeypatch.setattr(array, "__array_ufunc__", ufunc)
    monkeypatch.setattr(array, "__getitem__", getitem)
    monkeypatch.setattr(array, "__setitem__", setitem)
    monkeypatch.setattr(array, "astype", converted)
    monkeypatch.setattr(array, "copy", lambda values: converted(values, values.dtype))
    monkeypatch.setattr(cp, "argsort", ordered)
    monkeypatch.setattr(cp, "arange", counted, raising=False)
    for name in ("full", "concatenate", "flatnonzero", "searchsorted", "where"):
        monkeypatch.setattr(cp, name, other(name), raising=False)
    return names


def test_few_are_left_on_a_road(compiled: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.cuda.hierarchy import rounds

    monkeypatch.setattr(rounds.contract, "__defaults__", (160,))  # of several tiles
    solve("road:24x20", "--algorithm", "contraction")
    assert compiled == ROAD


def test_few_are_left_with_hubs(compiled: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    as_large.pull_deferred_arcs(monkeypatch.setattr)
    solve("rmat:8,12")
    assert compiled == RMAT


def solve(*words: str) -> None:
    """Solve as on the command line."""
    done = CliRunner().invoke(commands, ["sssp", *words, "--prepare", "--device", "cuda"])
    assert done.exit_code == 0, done.output
