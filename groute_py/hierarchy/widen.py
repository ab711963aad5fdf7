"""A hierarchy for longer distances than those it was made for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from groute_py.hierarchy.hierarchy import Hierarchy


def widened(hierarchy: Hierarchy, to: np.dtype[Any]) -> Hierarchy:
    """The hierarchy with its weights in a type at least as wide; the same one if it has that.

    Args:
        hierarchy: its arrays may lie on a GPU.
        to: int32 or int64.
    """
    if hierarchy.type == to:
        return hierarchy
    down = _widened(hierarchy.down, to)
    up = down if hierarchy.is_symmetric else _widened(hierarchy.up, to)
    core_weights = hierarchy.core_weights.astype(to)
    return replace(hierarchy, down=down, up=up, core_weights=core_weights)


def _widened(weights: Any, to: np.dtype[Any]) -> Any:
    wide = weights.astype(to)
    wide[weights == np.iinfo(weights.dtype).max] = np.iinfo(to).max
    return wide
