"""METIS: separators of undirected graphs, and orders from them.

Nested dissection orders both sides of a small separator before the separator itself, and each side
likewise (George, "Nested dissection of a regular finite element mesh", 1973; METIS: Karypis and
Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs", 1998).

The library is that of the wheel `cmeel-metis`, whose numbers have 32 bits: it takes half the memory
of builds with 64.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import SetupError
from groute_py.system.memory_limits import trim_heap

INSTALL = "pip install 'groute-py[separators]'"

METIS, GKLIB = ("cmeel-metis", "libmetis"), ("cmeel-gklib", "libGKlib")
"""Packages and their libraries: METIS, and one that it needs."""

OPTIONS, SEPARATORS, TRIES = 40, 17, 2
"""The size of METIS' options, and the place and number of the separators of which it takes the best
each time. A second one takes half as long again, and saves 3 to 11 % of triangles and labels."""

OK = 1

PROBLEMS = {-2: "wrong input", -3: "not enough memory", -4: "a signal, or an error of its own"}


class MetisError(Exception):
    """METIS gave up; the message says why."""


Numbers = NDArray[np.int32]


def separator_size(offsets: Numbers, neighbours: Numbers) -> int:
    """Vertices of a separator of a graph in CSR form: ascending neighbours, no loops.

    Raises:
        MetisError: METIS ended otherwise.
        SetupError: it is not installed.
    """
    size, parts = ctypes.c_int32(), np.empty(len(offsets) - 1, np.int32)
    results = ctypes.byref(size), _place(parts)
    _call("ComputeVertexSeparator", offsets, neighbours, 1, *results)
    return size.value


def nested_dissection(offsets: Numbers, neighbours: Numbers) -> Numbers:
    """Vertices of such a graph in order of elimination; raises as `separator_size` does."""
    order, ranks = np.empty((2, len(offsets) - 1), np.int32)
    _call("NodeND", offsets, neighbours, TRIES, _place(order), _place(ranks))
    return order


def _call(name: str, offsets: Numbers, neighbours: Numbers, tries: int, *results: Any) -> None:
    library, options = _library(), np.empty(OPTIONS, np.int32)
    library.METIS_SetDefaultOptions(_place(options))
    options[SEPARATORS] = tries
    count = ctypes.byref(ctypes.c_int32(len(offsets) - 1))
    graph = count, _place(offsets), _place(neighbours), None
    code = getattr(library, f"METIS_{name}")(*graph, _place(options), *results)
    trim_heap()
    if code != OK:
        raise MetisError(PROBLEMS.get(code, f"code {code}"))


def _place(values: Numbers) -> Any:
    return values.ctypes.data_as(ctypes.c_void_p)


def _library() -> ctypes.CDLL:
    try:
        with suppress(ImportError):  # METIS may contain it
            ctypes.CDLL(_path(*GKLIB))  # now: METIS has no path to it
        return ctypes.CDLL(_path(*METIS))
    except (ImportError, ValueError, OSError) as problem:
        raise SetupError(f"an order from separators takes METIS ({problem}); {INSTALL}") from None


def _path(package: str, name: str) -> str:
    from importlib.metadata import files  # here, since every command would wait 6 ms for it

    (path,) = (path for path in files(package) or () if path.stem == name)
    return str(path.locate())
