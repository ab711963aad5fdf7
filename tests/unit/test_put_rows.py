"""Rows put at their positions in an array, by several threads."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from groute_py.many import put_rows
from groute_py.results.distances import UNREACHED, put_public

POSITIONS = {
    "consecutive": np.arange(3, 9),
    "equally far apart": np.arange(1, 18, 3),
    "unequally far apart": np.array([0, 1, 5, 6, 11, 19]),
    "falling": np.arange(19, 13, -1),
    "one": np.array([7]),
    "none": np.arange(0),
}


@pytest.mark.parametrize("positions", POSITIONS.values(), ids=POSITIONS)
@pytest.mark.parametrize("width", [0, 1, 3, 10, 11])
def test_each_row_is_put_at_its_position(
    positions: NDArray[np.int64], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(put_rows, "TILE", 5)
    rows = np.random.default_rng(1).integers(0, 3, (len(positions), width), np.int32)
    rows[rows == 2] = np.iinfo(np.int32).max
    content = np.full((20, width), -5)
    expected = content.copy()
    expected[positions] = np.where(rows == np.iinfo(np.int32).max, UNREACHED, rows.astype(np.int64))
    put_rows.put_rows_by_threads(put_public, content, positions, rows)
    np.testing.assert_array_equal(content, expected)
