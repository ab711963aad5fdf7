"""The width of the next bucket, for every place where it may begin.

`next_width` is compiled as plain C++. The expected width comes from the table in the head of its
file.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from support.emulation.cpp import compiled
from support.skips import needs_compiler

import groute_py.kernels

pytestmark = needs_compiler

HEADER = Path(groute_py.kernels.__file__).parent / "sssp" / "next_bucket.cuh"

WIDTHS = (0.5, 1.0, 3.0, 8.0, 100.0, 1e300, float("inf"))

Width = Callable[[float, float, float, int, bool], float]


def places() -> list[str]:
    """The names of the enum, in its order."""
    (body,) = re.findall(r"enum class BucketBegin : unsigned \{(.*?)\};", HEADER.read_text())
    return [name.strip() for name in body.split(",")]


def rows() -> dict[str, str]:
    """The table: a width for each place."""
    lines = re.findall(r"^// \|(.*)\|(.*)\|$", HEADER.read_text(), re.MULTILINE)
    return {place.strip(): width.strip() for place, width in lines[2:]}


@pytest.fixture(scope="module")
def next_width() -> Width:
    text = f"""
#include <algorithm>
#define __device__
#define __forceinline__ inline
using std::max;
using std::min;
#include "{HEADER}"
extern "C" double next(double width, double widest, double reach, unsigned begin, bool much) {{
    return next_width(width, widest, reach, (BucketBegin)begin, much);
}}"""
    function = compiled(text, ["-std=c++17"]).next
    function.argtypes = [*[ctypes.c_double] * 3, ctypes.c_uint, ctypes.c_bool]
    function.restype = ctypes.c_double
    return function


def wider(width: float, widest: float, much: bool) -> float:
    return min(width * (8 if much else 2), widest)


def expected(row: str, width: float, widest: float, reach: float, much: bool) -> float:
    """The width that a row of the table says."""
    return {
        "wider": wider(width, widest, much),
        "as it was, but at least reach / 4": max(width, reach / 4),
        "as it was, but at least reach; then wider": wider(max(width, reach), widest, much),
    }[row]


def test_the_table_has_the_width(next_width: Width) -> None:
    table = rows()
    assert list(table) == places()
    for begin, row in enumerate(table.values()):
        for width, widest, reach, much in product(WIDTHS, WIDTHS, WIDTHS, (False, True)):
            assert next_width(width, widest, reach, begin, much) == expected(
                row, width, widest, reach, much
            )


def test_a_bucket_is_never_narrower_than_the_last_or_the_widest(next_width: Width) -> None:
    for begin in range(len(places())):
        for width, widest, much in product(WIDTHS, WIDTHS, (False, True)):
            assert next_width(width, widest, 1.0, begin, much) >= min(width, widest)


def test_the_width_before_the_bound_settles(next_width: Width) -> None:
    """Buckets before the pull bound keep their width, however many there are."""
    before = places().index("before_bound")
    width = next_width(1.0, 100.0, 16.0, before, True)
    assert width == 4.0
    assert next_width(width, 100.0, 16.0, before, True) == width
