"""What all charts of the documents look like, and how they write numbers."""

from __future__ import annotations

import math
from typing import Any

BLUE, LIGHT_BLUE, GRAY, ORANGE = "#1f5fbf", "#8fb4e8", "#8a8a8a", "#d98c3f"

GRID = "#dddddd"

WIDTH_IN = 7.3  # 700 px at 96 px an inch

STYLE: Any = {
    "svg.hashsalt": "groute-py",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "figure.constrained_layout.w_pad": 0.08,
}


def positive(value: Any) -> float:
    """A time that can be drawn.

    Raises:
        ValueError: it is not a positive, finite number.
    """
    if not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError(f"{value!r} is not a time")
    return float(value)


def shown(value: float) -> str:
    """Milliseconds with three significant digits, or more in front of the point.

    >>> [shown(value) for value in (0.976, 2.6, 13.685, 49, 301.82, 7620.6)]
    ['0.976', '2.60', '13.7', '49.0', '302', '7,621']
    """
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:#.3g}".removesuffix(".")
