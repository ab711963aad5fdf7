"""Tables of answers that end in the middle."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from groute_py.results.tables import SUFFIXES, Column, TableColumns, write_table


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_error_between_two_parts(suffix: str, tmp_path: Path) -> None:
    """It is the only one, and leaves no file."""
    if suffix == ".parquet":
        pytest.importorskip("pyarrow.parquet")

    def parts() -> Iterator[TableColumns]:
        yield {"vertex": Column(np.arange(5))}
        raise RuntimeError("the second part")

    with pytest.raises(RuntimeError, match="the second part"):
        write_table(tmp_path / f"a{suffix}", parts())
    gc.collect()
    assert not list(tmp_path.iterdir())
