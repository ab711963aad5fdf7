"""A result as a pandas DataFrame."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.io.coordinates import read_coordinates
from groute_py.results.answer import Answer

if TYPE_CHECKING:
    from pandas import DataFrame


def frame_of(result: Answer, coordinates: str | Path | None = None) -> DataFrame:
    """See `groute_py.Result.to_frame`."""
    try:
        import pandas as pd
    except ImportError as problem:
        raise InputError(f"a DataFrame needs pandas ({problem}); pip install pandas") from problem
    count = len(result.distances)
    columns: dict[str, Any] = {"distance": result.distances}
    if result.distances.dtype.kind != "f":
        columns["distance"] = pd.arrays.IntegerArray(result.distances, ~result.reached)
    if result.predecessors is not None:
        columns["predecessor"] = _ids_or_missing(result)
    places: NDArray[Any] | None = result.coordinates
    if coordinates is not None:
        places = read_coordinates(coordinates, count)
    if places is not None:
        columns |= {"x": places[:, 0], "y": places[:, 1]}
    ids = result.numbering.ids_of(np.arange(count))
    frame = pd.DataFrame(columns, index=pd.Index(ids, name="vertex"))
    if result.attribution:
        frame.attrs["attribution"] = result.attribution
    return frame


def _ids_or_missing(result: Answer) -> Any:
    """The predecessors' ids: Int64 or strings, missing where there is none."""
    import pandas as pd

    assert result.predecessors is not None
    nobody = result.predecessors < 0
    ids = result.numbering.ids_of(np.where(nobody, 0, result.predecessors))
    if ids.dtype.kind == "U":
        return pd.Series(ids, dtype="string").mask(nobody).array
    return pd.arrays.IntegerArray(ids, nobody)
