"""Parquet tables of other programs: which columns are read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groute_py import FormatError, read_graph
from groute_py.errors import InterruptedRun, signalled
from groute_py.io.formats import parquet
from groute_py.system import memory_limits

arrow = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(columns: dict[str, Any], metadata: Any = None) -> Path:
        table = arrow.table(columns)
        if metadata is not None:
            table = table.replace_schema_metadata({"groute-py": json.dumps(metadata)})
        pq.write_table(table, tmp_path / "t.parquet")
        return tmp_path / "t.parquet"

    return write


@pytest.mark.parametrize("name", ["km", "weight", "minutes driven"])
def test_the_one_column_of_numbers_that_is_left(file: Any, name: str) -> None:
    path = file({"street": ["x"], "target": [1], name: [7], "source": [0]})
    assert read_graph(path).weights.tolist() == [7]
    assert read_graph(path).heads.tolist() == [1]


UNSIGNED = np.array([2**63 + 5], np.uint64)
ENDS = {"tail": [0], "head": [1]}


@pytest.mark.parametrize(
    ("columns", "metadata", "says"),
    [
        ({"weight": [1], "a": [0], "b": [1]}, None, "hold tails and heads is not clear in weight"),
        ({"source": [0], "target": [1], "x": [1], "y": [2]}, None, "is not clear in source, targ"),
        ({"source": [0], "target": [1], "x": ["a"]}, None, "name one `weight`, or leave out"),
        ({"tail": UNSIGNED, "head": [1]}, None, "column tail is 9223372036854775813, which does"),
        ({"tail": [1], "head": UNSIGNED}, None, "column head is 9223372036854775813, which does"),
        ({**ENDS, "weight": UNSIGNED}, None, "column weight is 9223372036854775813, which does"),
        ({"tail": [0], "head": [2**32 + 1]}, {"span": [0, 2]}, "outside the range 0..1"),
        ({"tail": [-1], "head": [1]}, {"span": [0, 2]}, "outside the range 0..1"),
        (ENDS, {"span": 5}, "metadata groute-py do not fit its columns"),
        (ENDS, {"span": [0]}, "metadata groute-py do not fit"),
        (ENDS, {"span": [0, -1]}, "metadata groute-py do not fit"),
        (ENDS, {"span": [2**63 - 1, 5]}, "metadata groute-py do not fit"),
        (ENDS, {"span": [0, 10**14]}, "vertices, but has only"),
        (ENDS, {"lonely": ["x"]}, "metadata groute-py do not fit"),
        (ENDS, {"lonely": 7}, "metadata groute-py do not fit"),
        (ENDS, {"lonely": [2**63]}, "metadata groute-py do not fit"),
        (ENDS, [7], "metadata groute-py are no object"),
        ({"tail": ["a"], "head": ["b"]}, {"span": [0, 2]}, "metadata groute-py do not fit"),
    ],
)
def test_refused(file: Any, columns: Any, metadata: Any, says: str) -> None:
    path = file(columns, metadata)
    with pytest.raises(FormatError) as caught:
        read_graph(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_signal_is_no_damage(file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise signalled(InterruptedRun("nothing was written"))

    path = file({"tail": [0], "head": [1]})
    monkeypatch.setattr(parquet, "_chosen", interrupted)
    with pytest.raises(InterruptedRun, match="nothing was written"):
        read_graph(path)


def test_a_name_as_long_as_a_book(file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 1_000_000)
    names = ["x" * 20_000, *(f"n{i}" for i in range(99))]
    with pytest.raises(FormatError, match="100 names with room for 20,000 letters"):
        read_graph(file({"tail": names, "head": names}))
